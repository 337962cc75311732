// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Linq;
using System.Numerics;
using System.Threading.Tasks;
using BenchmarkDotNet.Attributes;

namespace Tenure.Bench;

/// <summary>Question: does it matter to a calculation whether its result is written to managed or native
/// memory?</summary>
/// <remarks>
/// It should not: the calculation takes far longer than the writes. Element and vector versions do the same operations
/// in the same order, so their pictures are identical to the bit; each row's picture is compared with that of the plain
/// loop.
/// </remarks>
/// <typeparam name="T">float or double.</typeparam>
public unsafe class MandelbrotBenchmarks<T> : CountedBenchmarks
    where T : unmanaged, IFloatingPointIeee754<T>
{
    private const string One = "Mandelbrot, 1 thread";
    private const string All = "Mandelbrot, all threads";
    private const int Most = 255;

    private int _width;
    private int _height;
    private byte[] _managed = [];
    private SafeArray<byte>? _native;

    /// <summary>The number of points in a picture.</summary>
    internal static long Points(long scale) => 768 * scale * 512 * scale;

    /// <summary>Allocates the managed picture.</summary>
    [GlobalSetup(Targets = [nameof(ManagedLoop), nameof(ManagedVectors), nameof(ManagedLoopAll), nameof(ManagedVectorsAll)])]
    public void SetUpManaged()
    {
        (_width, _height) = ((int)(768 * Count), (int)(512 * Count));
        _managed = new byte[_width * _height];
    }

    /// <summary>Allocates the native picture.</summary>
    [GlobalSetup(Targets = [nameof(NativeLoop), nameof(NativeVectors), nameof(NativeLoopAll), nameof(NativeVectorsAll)])]
    public void SetUpNative()
    {
        (_width, _height) = ((int)(768 * Count), (int)(512 * Count));
        _native = new SafeArray<byte>(_width * _height);
    }

    /// <summary>Checks the picture against that of the plain loop.</summary>
    [GlobalCleanup]
    public void Check()
    {
        byte[] wanted = new byte[_width * _height];
        fixed (byte* to = wanted)
        {
            RowsByLoop(to, 0, _height);
        }
        ReadOnlySpan<byte> found = _native is null ? _managed : _native.Span;
        if (!found.SequenceEqual(wanted) || wanted.Distinct().Count() < 20)
        {
            throw new InvalidOperationException("The picture differs from that of the plain loop.");
        }
        _native?.Free();
    }

    /// <summary>A row.</summary>
    [Benchmark(Baseline = true), BenchmarkCategory(One), Row(RowKind.Managed, "managed array, loop")]
    public void ManagedLoop()
    {
        fixed (byte* to = _managed)
        {
            RowsByLoop(to, 0, _height);
        }
    }

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(One), Row(RowKind.Managed, "managed array, Vector<T>")]
    public void ManagedVectors()
    {
        fixed (byte* to = _managed)
        {
            RowsByVectors(to, 0, _height);
        }
    }

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(One), Row(RowKind.Tenure, "Tenure SafeArray, loop")]
    public void NativeLoop() => RowsByLoop(_native!.PointerTo(0), 0, _height);

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(One), Row(RowKind.Tenure, "Tenure SafeArray, Vector<T>")]
    public void NativeVectors() => RowsByVectors(_native!.PointerTo(0), 0, _height);

    /// <summary>A row.</summary>
    [Benchmark(Baseline = true), BenchmarkCategory(All), Row(RowKind.Managed, "managed array, loop")]
    public void ManagedLoopAll()
    {
        fixed (byte* to = _managed)
        {
            byte* begin = to;
            Parallel.For(0, _height, row => RowsByLoop(begin, row, row + 1));
        }
    }

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(All), Row(RowKind.Managed, "managed array, Vector<T>")]
    public void ManagedVectorsAll()
    {
        fixed (byte* to = _managed)
        {
            byte* begin = to;
            Parallel.For(0, _height, row => RowsByVectors(begin, row, row + 1));
        }
    }

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(All), Row(RowKind.Tenure, "Tenure SafeArray, loop")]
    public void NativeLoopAll() => Parallel.For(0, _height, row => RowsByLoop(_native!.PointerTo(0), row, row + 1));

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(All), Row(RowKind.Tenure, "Tenure SafeArray, Vector<T>")]
    public void NativeVectorsAll() => Parallel.For(0, _height, row => RowsByVectors(_native!.PointerTo(0), row, row + 1));

    private void RowsByLoop(byte* to, int first, int end)
    {
        T four = T.CreateTruncating(4);
        T two = T.CreateTruncating(2);
        for (int row = first; row < end; row++)
        {
            T cy = Imaginary(row);
            for (int column = 0; column < _width; column++)
            {
                T cx = Real(T.CreateTruncating(column));
                T x = T.Zero;
                T y = T.Zero;
                int steps = 0;
                while (steps < Most && (x * x) + (y * y) <= four)
                {
                    T next = (x * x) - (y * y) + cx;
                    y = (two * x * y) + cy;
                    x = next;
                    steps++;
                }
                to[((long)row * _width) + column] = (byte)steps;
            }
        }
    }

    private void RowsByVectors(byte* to, int first, int end)
    {
        var four = new Vector<T>(T.CreateTruncating(4));
        var two = new Vector<T>(T.CreateTruncating(2));
        T* columns = stackalloc T[Vector<T>.Count];
        T* counted = stackalloc T[Vector<T>.Count];
        for (int row = first; row < end; row++)
        {
            var cy = new Vector<T>(Imaginary(row));
            for (int column = 0; column < _width; column += Vector<T>.Count) // widths are multiples of 768
            {
                for (int lane = 0; lane < Vector<T>.Count; lane++)
                {
                    columns[lane] = Real(T.CreateTruncating(column + lane));
                }
                var cx = *(Vector<T>*)columns;
                Vector<T> x = Vector<T>.Zero;
                Vector<T> y = Vector<T>.Zero;
                Vector<T> steps = Vector<T>.Zero;
                for (int step = 0; step < Most; step++)
                {
                    Vector<T> inside = Vector.LessThanOrEqual((x * x) + (y * y), four);
                    if (inside == Vector<T>.Zero)
                    {
                        break;
                    }
                    steps += Vector.BitwiseAnd(inside, Vector<T>.One);
                    Vector<T> next = (x * x) - (y * y) + cx;
                    // Lanes that have escaped keep their values; otherwise they could become NaN and compare as inside
                    // again.
                    y = Vector.ConditionalSelect(inside, (two * x * y) + cy, y);
                    x = Vector.ConditionalSelect(inside, next, x);
                }
                *(Vector<T>*)counted = steps;
                for (int lane = 0; lane < Vector<T>.Count; lane++)
                {
                    to[((long)row * _width) + column + lane] = byte.CreateTruncating(counted[lane]);
                }
            }
        }
    }

    private T Real(T column) => (T.CreateTruncating(3) * column / T.CreateTruncating(_width)) - T.CreateTruncating(2);

    private T Imaginary(int row) => (T.CreateTruncating(2) * T.CreateTruncating(row) / T.CreateTruncating(_height)) - T.One;
}
