// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Numerics;
using System.Runtime.InteropServices;
using BenchmarkDotNet.Attributes;

namespace Tenure.Bench;

/// <summary>Question: how long does it take to determine that all elements are less than a value?</summary>
/// <remarks>All elements are less, so every element is read. A check before the measurement ensures that a larger
/// element is found.</remarks>
/// <typeparam name="T">The element type.</typeparam>
public unsafe class LessThanBenchmarks<T> : CountedBenchmarks
    where T : unmanaged, INumber<T>
{
    private const string Warm = "all less than a value, warm memory";

    private readonly T _bound = T.CreateTruncating(100);
    private readonly T _value = T.CreateTruncating(5);
    private T[] _managed = [];
    private SafeArray<T>? _native;

    /// <summary>Writes the array once before the measurement.</summary>
    [GlobalSetup(Targets = [nameof(ManagedLoop), nameof(ManagedVectors)])]
    public void SetUpManaged()
    {
        _managed = new T[OfManaged];
        _managed.AsSpan().Fill(_value);
        _managed[^1] = _bound;
        Expect(!ManagedLoop() && !ManagedVectors());
        _managed[^1] = _value;
    }

    /// <summary>Writes the array once before the measurement.</summary>
    [GlobalSetup(Targets = [nameof(NativeVectors), nameof(NativeTenure)])]
    public void SetUpNative()
    {
        _native = new SafeArray<T>((int)Count);
        _native.Fill(_value);
        _native[(int)Count - 1] = _bound;
        Expect(!NativeVectors() && !NativeTenure());
        _native[(int)Count - 1] = _value;
    }

    /// <summary>Frees the native memory.</summary>
    [GlobalCleanup]
    public void Free() => _native?.Free();

    /// <summary>A row.</summary>
    [Benchmark(Baseline = true), BenchmarkCategory(Warm), Row(RowKind.Managed, "managed array, loop")]
    public bool ManagedLoop()
    {
        T bound = _bound;
        foreach (T value in _managed)
        {
            if (!(value < bound))
            {
                return false;
            }
        }
        return true;
    }

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Warm), Row(RowKind.Managed, "managed array, Vector<T>")]
    public bool ManagedVectors() => ByVectors(_managed);

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Warm), Row(RowKind.Tenure, "Tenure SafeArray, Vector<T>")]
    public bool NativeVectors() => ByVectors(_native!.Span);

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Warm), Row(RowKind.Tenure, "Tenure SafeArray.VectorLessThanAll")]
    public bool NativeTenure() => _native!.VectorLessThanAll(_bound, out _);

    private bool ByVectors(ReadOnlySpan<T> values)
    {
        var bound = new Vector<T>(_bound);
        ReadOnlySpan<Vector<T>> whole = MemoryMarshal.Cast<T, Vector<T>>(values);
        foreach (ref readonly Vector<T> each in whole)
        {
            if (!Vector.LessThanAll(each, bound))
            {
                return false;
            }
        }
        for (int i = whole.Length * Vector<T>.Count; i < values.Length; i++)
        {
            if (!(values[i] < _bound))
            {
                return false;
            }
        }
        return true;
    }

    private static void Expect(bool found)
    {
        if (!found)
        {
            throw new InvalidOperationException("The check missed an element that is not less than the value.");
        }
    }
}
