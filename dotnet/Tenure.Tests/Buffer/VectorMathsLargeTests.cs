// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Numerics;
using System.Threading.Tasks;
using Xunit;

namespace Tenure.Tests;

/// <summary>Memory so large that other loops and stores are used.</summary>
public sealed unsafe class VectorMathsLargeTests
{
    private const int Streamed = (int)VectorLoops.StreamedBytes;

    private struct Triple
    {
        public int A, B, C;
    }

    [Theory]
    [InlineData(0)]
    [InlineData(3)] // elements before the destination: at no vector's alignment
    public void a_large_destination_has_the_results_of_a_small_one(int before)
    {
        Compare<float>(before);
        Compare<byte>(before);
        Compare<long>(before);

        static void Compare<T>(int before)
            where T : unmanaged, INumber<T>
        {
            const int Margin = 64;
            int count = Streamed / sizeof(T) + 1000 + before;
            using var left = new SafeArray<T>(count);
            using var right = new SafeArray<T>(count);
            using var whole = new SafeArray<T>(count + 2 * Margin);
            for (int at = 0; at < count; at++)
            {
                left[at] = T.CreateTruncating(at % 1001);
                right[at] = T.CreateTruncating(at % 97 + 1);
            }
            whole.Fill(T.CreateTruncating(77));
            T* to = whole.PointerTo(0) + Margin + before;
            VectorMaths.Subtract(left.PointerTo(0), right.PointerTo(0), to, (nuint)count);
            for (int at = 0; at < count; at++)
            {
                if (to[at] != unchecked(left[at] - right[at]))
                {
                    Assert.Fail($"element {at} of {count} is {to[at]}");
                }
            }
            for (int at = 1; at <= Margin; at++)
            {
                Assert.Equal(T.CreateTruncating(77), to[-at]);
                Assert.True(at > Margin - before || to[count + at - 1] == T.CreateTruncating(77));
            }
            VectorMaths.Multiply(left.PointerTo(0), T.CreateTruncating(3), to, (nuint)count);
            VectorMaths.Multiply(left.PointerTo(0), T.CreateTruncating(3), left.PointerTo(0), (nuint)count); // in place
            Assert.True(new ReadOnlySpan<T>(to, count).SequenceEqual(left.Span));
        }
    }

    [Fact]
    public void another_thread_sees_a_large_result_when_the_call_has_returned()
    {
        using var source = new SafeArray<int>(Streamed / sizeof(int) + 100);
        using var result = new SafeArray<int>(source.Length);
        source.Fill(1);
        for (int round = 0; round < 5; round++)
        {
            VectorMaths.Add<int>(source.Span, round, result.Span);
            Parallel.For(0, 8, part =>
            {
                int length = (int)(result.Length / 8);
                Assert.Equal(-1, result.Slice(part * length, length).IndexOfAnyExcept(round + 1));
            });
        }
    }

    [Fact]
    public void fills_write_every_element_and_no_other()
    {
        Fill<byte>(0, 0x5A);
        Fill<short>(0x0101, 0x0102);
        Fill<int>(0, -1, 1, 0x01010101, 0x01010100);
        Fill<double>(0, 1.5);
        Fill(new Triple { A = 1, B = 2, C = 3 }, new Triple { A = -1, B = -1, C = -1 }, default);

        static void Fill<T>(params T[] values)
            where T : unmanaged
        {
            var random = new Random(2);
            using var memory = new SafeArray<T>((17 << 20) / sizeof(T));
            foreach (T value in values)
            {
                foreach (int bytes in (int[])[0, sizeof(T), 64, 4000, 4096, 4200, 70_000, 1 << 20, (16 << 20) - sizeof(T), 16 << 20, (16 << 20) + 48])
                {
                    int count = bytes / sizeof(T), begin = random.Next(1, 100);
                    memory.Slice(begin - 1, count + 2).Clear();
                    T edge = memory[begin - 1];
                    VectorFills.Fill(memory.PointerTo(begin), value, (nuint)count);
                    Assert.Equal(edge, memory[begin - 1]);
                    Assert.Equal(edge, memory[begin + count]);
                    ReadOnlySpan<T> filled = memory.Slice(begin, count);
                    Assert.True(filled.IsEmpty || Same(filled[0], value));
                    // Each element equals the one before it.
                    Assert.True(filled.IsEmpty || System.Runtime.InteropServices.MemoryMarshal.AsBytes(filled[1..])
                        .SequenceEqual(System.Runtime.InteropServices.MemoryMarshal.AsBytes(filled[..^1])));
                }
            }
        }

        static bool Same<T>(T left, T right)
            where T : unmanaged => new ReadOnlySpan<byte>(&left, sizeof(T)).SequenceEqual(new ReadOnlySpan<byte>(&right, sizeof(T)));
    }
}
