// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Diagnostics.CodeAnalysis;
using System.Reflection;
using System.Threading.Tasks;
using Xunit;

namespace Tenure.Tests;

/// <summary>What must throw, from every kind of buffer, every copy and every thread, in release builds too.</summary>
public sealed class BufferMisuseTests
{
    private delegate void Use(FixedBuffer<int> buffer);

    private static readonly Dictionary<string, Use> s_uses = new()
    {
        ["read"] = buffer => _ = buffer[0],
        ["write"] = buffer => buffer[0] = 1,
        ["index past the end"] = buffer => _ = buffer[1000],
        ["span"] = buffer => _ = buffer.Span,
        ["slice"] = buffer => _ = buffer.Slice(0, 0),
        ["slice to the end"] = buffer => _ = buffer.Slice(0),
        ["fill"] = buffer => buffer.Fill(1),
        ["clear"] = buffer => buffer.Clear(),
        ["copy to a span"] = buffer => buffer.CopyTo(new int[100]),
        ["copy to a buffer"] = buffer => buffer.CopyTo(buffer),
        ["copy from"] = buffer => buffer.CopyFrom([1]),
        ["copy to an array"] = buffer => buffer.CopyToArray(),
        ["copy to an array and free"] = buffer => buffer.CopyToArrayAndFree(),
        ["compare"] = buffer => buffer.EqualTo([1]),
        ["read another type"] = buffer => _ = buffer.Read<byte>(0),
        ["write another type"] = buffer => buffer.Write(0, (byte)1),
        ["reinterpret"] = buffer => buffer.Reinterpret<byte>(),
        ["vector"] = buffer => buffer.GetVector(),
        ["acquire"] = buffer => buffer.Acquire(),
        ["retain"] = buffer => buffer.Retain(),
        ["release"] = buffer => buffer.Release(),
        ["acquire a span"] = buffer => _ = buffer.AcquireSpan(),
        ["acquire a span to write"] = buffer => _ = buffer.AcquireWriteSpan(),
        ["acquire vectors"] = buffer => _ = buffer.AcquireVectorSpan(),
        ["lease"] = buffer => buffer.Lease().Dispose(),
        ["loop"] = buffer =>
        {
            foreach (int each in buffer)
            {
            }
        },
        ["enumerate"] = buffer => _ = new List<int>(buffer),
        ["memory"] = buffer => buffer.AsMemory(),
        ["stream"] = buffer => buffer.AsStream(),
        ["pin"] = buffer => _ = buffer.GetPinnableReference(),
        ["add"] = buffer => buffer.VectorAdd(1),
        ["add a buffer"] = buffer => buffer.VectorAdd(buffer),
        ["root"] = buffer => buffer.VectorSqrt(),
        ["sum"] = buffer => buffer.VectorSum(),
        ["dot"] = buffer => buffer.VectorDot(buffer),
        ["least"] = buffer => buffer.VectorMin(),
        ["less than"] = buffer => buffer.VectorLessThanAll(1, out _),
        ["count"] = buffer => _ = buffer.RefCount,
        ["free"] = buffer => buffer.Free(),
    };

    public static TheoryData<string> Uses() => [.. s_uses.Keys];

    [Theory]
    [MemberData(nameof(Uses))]
    public async Task each_use_of_a_stale_copy_throws_on_every_thread_and_after_reuse(string name)
    {
        var buffer = new FixedBuffer<int>(64);
        FixedBuffer<int> copy = buffer;
        copy.Free();
        Throws();
        await Task.Run(Throws, TestContext.Current.CancellationToken);

        // Others get its place in the table and its memory.
        var others = new FixedBuffer<int>[200];
        for (int i = 0; i < others.Length; i++)
        {
            others[i] = new FixedBuffer<int>(64);
            others[i].Fill(i);
        }
        Throws();
        for (int i = 0; i < others.Length; i++)
        {
            Assert.Equal(0, others[i].RefCount);
            Assert.Equal(64L * i, others[i].VectorSum());
            others[i].Free();
        }

        void Throws() => Assert.Throws<ObjectDisposedException>(() => s_uses[name](buffer));
    }

    [Theory]
    [MemberData(nameof(Uses))]
    public void each_use_of_a_default_buffer_throws(string name) =>
        Assert.Throws<ObjectDisposedException>(() => s_uses[name](default));

    [Fact]
    public void a_stale_or_default_buffer_is_disposed_of_in_silence()
    {
        default(FixedBuffer<int>).Dispose();
        var buffer = new FixedBuffer<int>(1);
        buffer.Dispose();
        buffer.Dispose();
        Assert.False(buffer.IsValid);
        Assert.True(buffer.IsInvalid);
        Assert.False(default(FixedBuffer<int>).IsValid);
    }

    [Theory]
    [InlineData(-1)]
    [InlineData(10)]
    [InlineData(int.MaxValue)]
    [InlineData(int.MinValue)]
    public void an_index_that_is_not_inside_throws(int index)
    {
        using var buffer = new FixedBuffer<int>(10);
        using var array = new SafeArray<int>(10);
        using var huge = new HugeArray<int>(10);
        Assert.Throws<IndexOutOfRangeException>(() => buffer[index]);
        Assert.Throws<IndexOutOfRangeException>(() => array[index]);
        Assert.Throws<IndexOutOfRangeException>(() => huge[index]);
        Assert.Throws<IndexOutOfRangeException>(() => buffer.AsReadOnly()[index]);
        Assert.Throws<IndexOutOfRangeException>(() => buffer[index] = 1);
    }

    [Theory]
    [InlineData(long.MinValue)]
    [InlineData(long.MaxValue)]
    [InlineData(1L << 32)]
    [InlineData((1L << 62) + 1)]
    public void a_long_index_that_is_not_inside_throws(long index)
    {
        using var huge = new HugeArray<int>(10);
        Assert.Throws<IndexOutOfRangeException>(() => huge[index]);
    }

    [Theory]
    [InlineData(-1, 0, "start")]
    [InlineData(11, 0, "start")]
    [InlineData(int.MaxValue, 1, "start")]
    [InlineData(0, -1, "length")]
    [InlineData(0, 11, "length")]
    [InlineData(10, 1, "length")]
    [InlineData(5, int.MaxValue, "length")]
    [InlineData(1, int.MinValue, "length")]
    public void a_slice_that_is_not_inside_throws_and_names_what_is_wrong(int start, int length, string wrong)
    {
        using var buffer = new FixedBuffer<int>(10);
        using var array = new SafeArray<int>(10);
        using var huge = new HugeArray<int>(10);
        Assert.Equal(wrong, Assert.Throws<ArgumentOutOfRangeException>(() => buffer.Slice(start, length).Length).ParamName);
        Assert.Equal(wrong, Assert.Throws<ArgumentOutOfRangeException>(() => array.Slice(start, length).Length).ParamName);
        Assert.Equal(wrong, Assert.Throws<ArgumentOutOfRangeException>(() => huge.Slice(start, length).Length).ParamName);
        Assert.Equal(wrong, Assert.Throws<ArgumentOutOfRangeException>(() => huge.Lease(start, length).Dispose()).ParamName);
        Assert.Equal(wrong, Assert.Throws<ArgumentOutOfRangeException>(() => huge.AsMemory(start, length)).ParamName);
    }

    [Fact]
    public void a_length_that_is_negative_or_more_than_there_are_addresses_is_refused()
    {
        Assert.Throws<ArgumentOutOfRangeException>(() => new FixedBuffer<int>(-1));
        Assert.Throws<ArgumentOutOfRangeException>(() => new SafeArray<int>(int.MinValue));
        Assert.Throws<ArgumentOutOfRangeException>(() => new HugeArray<int>(-1));
        Assert.Throws<ArgumentOutOfRangeException>(() => new HugeArray<int>(-1, 1, 2));
        Assert.Throws<OutOfMemoryException>(() => new HugeArray<int>(long.MaxValue));
        Assert.Throws<OutOfMemoryException>(() => new HugeArray<decimal>(long.MaxValue / 16));
        Assert.Throws<OutOfMemoryException>(() => new HugeArray<byte>(long.MaxValue));
        Assert.Throws<ArgumentException>(() => new SafeArray<int>(1, 1, 2));
        Assert.Throws<ArgumentException>(() => new HugeArray<int>(1, 1, 2));
    }

    [Fact]
    public void a_second_free_throws_from_every_copy()
    {
        var buffer = new FixedBuffer<int>(1);
        FixedBuffer<int> copy = buffer;
        FixedBuffer<byte> other = buffer.Reinterpret<byte>();
        buffer.Free();
        Assert.Throws<ObjectDisposedException>(() => buffer.Free());
        Assert.Throws<ObjectDisposedException>(() => copy.Free());
        Assert.Throws<ObjectDisposedException>(() => other.Free());
        var array = new SafeArray<int>(1);
        array.Free();
        Assert.Throws<ObjectDisposedException>(() => array.Free());
    }

    [Fact]
    public void a_release_too_many_throws_and_changes_nothing()
    {
        using var buffer = new FixedBuffer<int>(1);
        Assert.Throws<InvalidOperationException>(() => buffer.Release());
        buffer.Acquire();
        buffer.Release();
        Assert.Throws<InvalidOperationException>(() => buffer.Release());
        Assert.Equal(0, buffer.RefCount);
        using var array = new SafeArray<int>(1);
        array.Acquire();
        array.Acquire();
        array.Release(2);
        Assert.Throws<InvalidOperationException>(() => array.Release());
        Assert.Throws<ArgumentOutOfRangeException>(() => array.Release(-1));
    }

    [Fact]
    public void unlike_lengths_and_overlapping_sides_are_refused()
    {
        using var buffer = new FixedBuffer<int>(10);
        using var shorter = new FixedBuffer<int>(9);
        Assert.Throws<ArgumentException>(() => buffer.VectorAdd(shorter));
        Assert.Throws<ArgumentException>(() => buffer.VectorDot(shorter));
        using var huge = new HugeArray<int>(10);
        using var array = new SafeArray<int>(9);
        Assert.Throws<ArgumentException>(() => huge.VectorMultiply(array));
        Assert.Throws<ArgumentNullException>(() => huge.VectorMultiply((OwnedBuffer<int>)null!));
        Assert.Throws<DivideByZeroException>(() => buffer.VectorDivide(0));
    }

    [Fact]
    public void checks_are_on_unless_the_program_says_otherwise_and_a_trimmer_can_leave_them_out()
    {
        Assert.True(BufferChecks.AreOn);
        var feature = typeof(BufferChecks).GetProperty(nameof(BufferChecks.AreOn))!
            .GetCustomAttribute<FeatureSwitchDefinitionAttribute>();
        Assert.Equal("Tenure.Checks", feature?.SwitchName);
    }

    [Fact]
    public void a_type_that_is_no_number_of_the_ten_is_refused()
    {
        using FixedBuffer<decimal> buffer = [1m, 2m];
        Assert.Throws<NotSupportedException>(() => buffer.VectorAdd(1m));
        Assert.Equal(0, buffer.RefCount);
        Assert.True(buffer.EqualTo([1m, 2m]));
    }

    [Fact]
    public void a_value_past_the_end_is_told_with_its_bytes()
    {
        using var bytes = new FixedBuffer<byte>(10);
        using var array = new SafeArray<int>(10);
        Assert.Equal("8 bytes were requested at index 3, but only 7 bytes follow in a buffer of 10 elements.",
            Assert.Throws<IndexOutOfRangeException>(() => bytes.Read<long>(3)).Message);
        Assert.Equal("8 bytes were requested at index 9, but only 4 bytes follow in a buffer of 10 elements.",
            Assert.Throws<IndexOutOfRangeException>(() => array.Write(9, 1L)).Message);
        int vector = System.Numerics.Vector<byte>.Count;
        Assert.Equal($"{vector} bytes were requested at index 5, but only 5 bytes follow in a buffer of 10 elements.",
            Assert.Throws<IndexOutOfRangeException>(() => bytes.GetVector(5)).Message);
        Assert.Equal("Index 10 is out of range: the buffer has 10 elements.",
            Assert.Throws<IndexOutOfRangeException>(() => bytes.Read<long>(10)).Message);
        Assert.Equal("Index -1 is out of range: the buffer has 10 elements.",
            Assert.Throws<IndexOutOfRangeException>(() => bytes.Read<long>(-1)).Message);
    }

    [Fact]
    public void what_vectors_cannot_calculate_with_is_told_with_what_they_can()
    {
        using var buffer = new FixedBuffer<decimal>(10);
        Assert.Contains("float and double", Assert.Throws<NotSupportedException>(() => buffer.GetVector()).Message, StringComparison.Ordinal);
        Assert.Contains("float and double", Assert.Throws<NotSupportedException>(() => VectorMaths.Multiply(new decimal[3], 2m, new decimal[3])).Message, StringComparison.Ordinal);
        using var array = new SafeArray<nint>(10);
        Assert.Contains(
            "float and double", Assert.Throws<NotSupportedException>(() => array.VectorLessThanAll(1, out _)).Message, StringComparison.Ordinal);
    }
}
