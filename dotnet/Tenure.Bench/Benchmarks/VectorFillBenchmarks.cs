// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Numerics;
using System.Runtime.InteropServices;
using BenchmarkDotNet.Attributes;

namespace Tenure.Bench;

/// <summary>Question: which way to fill warm memory is the fastest, and does the allocator matter?</summary>
/// <typeparam name="T">The element type.</typeparam>
public unsafe class VectorFillBenchmarks<T> : CountedBenchmarks
    where T : unmanaged, INumber<T>
{
    private const string Warm = "fill, warm memory";

    private readonly T _value = Pattern.Of<T>();
    private T[] _managed = [];
    private SafeArray<T>? _native;

    /// <summary>Writes the array once before the measurement.</summary>
    [GlobalSetup(Targets = [nameof(ManagedLoop), nameof(ManagedVectors), nameof(ManagedSpan)])]
    public void SetUpManaged()
    {
        _managed = new T[OfManaged];
        _managed.AsSpan().Fill(_value);
    }

    /// <summary>Writes the array once before the measurement.</summary>
    [GlobalSetup(Targets = [nameof(NativeVectors), nameof(NativeTenure)])]
    public void SetUpNative()
    {
        _native = new SafeArray<T>((int)Count);
        _native.Fill(_value);
    }

    /// <summary>Checks the written values.</summary>
    [GlobalCleanup]
    public void Check()
    {
        if (_native is null)
        {
            Pattern.Check(_managed, _value);
            return;
        }
        Pattern.Check(_native.PointerTo(0), Count, _value);
        _native.Free();
    }

    /// <summary>A row.</summary>
    [Benchmark(Baseline = true), BenchmarkCategory(Warm), Row(RowKind.Managed, "managed array, loop")]
    public void ManagedLoop()
    {
        T[] values = _managed;
        T value = _value;
        for (int i = 0; i < values.Length; i++)
        {
            values[i] = value;
        }
    }

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Warm), Row(RowKind.Managed, "managed array, Vector<T>")]
    public void ManagedVectors() => ByVectors(_managed);

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Warm), Row(RowKind.Managed, "managed array, Span.Fill")]
    public void ManagedSpan() => _managed.AsSpan().Fill(_value);

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Warm), Row(RowKind.Tenure, "Tenure SafeArray, Vector<T>")]
    public void NativeVectors() => ByVectors(_native!.Span);

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Warm), Row(RowKind.Tenure, "Tenure SafeArray.VectorFill")]
    public void NativeTenure() => _native!.VectorFill(_value);

    private void ByVectors(Span<T> values)
    {
        var vector = new Vector<T>(_value);
        Span<Vector<T>> whole = MemoryMarshal.Cast<T, Vector<T>>(values);
        for (int i = 0; i < whole.Length; i++)
        {
            whole[i] = vector;
        }
        for (int i = whole.Length * Vector<T>.Count; i < values.Length; i++)
        {
            values[i] = _value;
        }
    }
}
