// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Numerics;
using System.Numerics.Tensors;
using System.Runtime.InteropServices;
using BenchmarkDotNet.Attributes;

namespace Tenure.Bench;

/// <summary>Question: what does it cost to multiply every element of a warm array by a value, in place?</summary>
/// <remarks>
/// The managed array is multiplied by a plain loop and by the runtime's own vectors. The loop with an object per
/// element that jemalloc.NET compared itself with would be unfair. Arrays larger than the processor's caches are
/// limited by memory: all vectorized rows are then alike. The result is compared with one element that is multiplied
/// alone. NativeMemory.Alloc aligns to 16 and our arrays to 64: each has a row with the other alignment.
/// </remarks>
/// <typeparam name="T">The element type.</typeparam>
/// <typeparam name="TOwn">The type of our array.</typeparam>
/// <typeparam name="TMultiply">The multiplication.</typeparam>
public unsafe class MultiplyBenchmarks<T, TOwn, TMultiply> : CountedBenchmarks
    where T : unmanaged, INumber<T>
    where TOwn : struct, IOwnArray<TOwn, T>
    where TMultiply : struct, IMultiply<TOwn, T>
{
    private const string Warm = "multiply, warm memory";
    private const int MaxOfSpan = 1 << 30;

    private readonly T _by = T.CreateTruncating(3);
    private readonly T _first = T.CreateTruncating(5);
    private long _times;
    private T[] _managed = [];
    private T* _native;
    private TOwn _own;

    /// <summary>Writes the array once before the measurement.</summary>
    [GlobalSetup(Targets = [nameof(Loop), nameof(Tensor)])]
    public void SetUpManaged()
    {
        _managed = new T[OfManaged];
        _managed.AsSpan().Fill(_first);
    }

    /// <summary>Writes the array once before the measurement.</summary>
    [GlobalSetup(Targets = [nameof(SystemLoop), nameof(SystemTensor), nameof(JemallocTensor)])]
    public void SetUpNative()
    {
        _native = Pattern.Allocate<T>(Count);
        Pattern.Fill(_native, Count, _first);
    }

    /// <summary>Writes the array once before the measurement.</summary>
    [GlobalSetup(Target = nameof(SystemAligned))]
    public void SetUpAligned()
    {
        _native = Pattern.AllocateAligned<T>(Count);
        Pattern.Fill(_native, Count, _first);
    }

    /// <summary>Writes the array once before the measurement.</summary>
    [GlobalSetup(Target = nameof(Tenure))]
    public void SetUpTenure()
    {
        _own = TOwn.Create(Count, AllocationFill.Unwritten);
        _own.Fill(_first);
    }

    /// <summary>Writes the array once before the measurement.</summary>
    [GlobalSetup(Target = nameof(TenureOtherAlignment))]
    public void SetUpOtherAlignment()
    {
        _own = TOwn.Create(Count, AllocationFill.Unwritten, TOwn.OtherAlignment);
        _own.Fill(_first);
    }

    /// <summary>Checks that every element equals one that was multiplied alone.</summary>
    [GlobalCleanup(Targets = [nameof(Loop), nameof(Tensor)])]
    public void CheckManaged()
    {
        Pattern.Check(_managed, Expected());
        _managed = [];
    }

    /// <summary>Checks that every element equals one that was multiplied alone.</summary>
    [GlobalCleanup(Targets = [nameof(SystemLoop), nameof(SystemTensor), nameof(JemallocTensor)])]
    public void CheckNative()
    {
        Pattern.Check(_native, Count, Expected());
        NativeMemory.Free(_native);
    }

    /// <summary>Checks that every element equals one that was multiplied alone.</summary>
    [GlobalCleanup(Target = nameof(SystemAligned))]
    public void CheckAligned()
    {
        Pattern.Check(_native, Count, Expected());
        NativeMemory.AlignedFree(_native);
    }

    /// <summary>Checks that every element equals one that was multiplied alone.</summary>
    [GlobalCleanup(Targets = [nameof(Tenure), nameof(TenureOtherAlignment)])]
    public void CheckTenure()
    {
        Pattern.Check(_own.Begin, Count, Expected());
        _own.Free();
    }

    /// <summary>A row.</summary>
    [Benchmark(Baseline = true), BenchmarkCategory(Warm), Row(RowKind.Managed, "managed array, loop")]
    public void Loop()
    {
        _times++;
        T by = _by;
        T[] values = _managed;
        for (int i = 0; i < values.Length; i++)
        {
            values[i] *= by;
        }
    }

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Warm), Row(RowKind.Managed, "managed array, TensorPrimitives")]
    public void Tensor()
    {
        _times++;
        TensorPrimitives.Multiply(_managed, _by, _managed);
    }

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Warm), Row(RowKind.System, "NativeMemory, loop")]
    public void SystemLoop()
    {
        _times++;
        T by = _by;
        T* end = _native + Count;
        for (T* each = _native; each < end; each++)
        {
            *each *= by;
        }
    }

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Warm), Row(RowKind.System, "NativeMemory, TensorPrimitives")]
    public void SystemTensor()
    {
        _times++;
        for (long done = 0; done < Count; done += MaxOfSpan)
        {
            var some = new Span<T>(_native + done, (int)long.Min(Count - done, MaxOfSpan));
            TensorPrimitives.Multiply(some, _by, some);
        }
    }

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Warm), Row(RowKind.System, "NativeMemory, aligned to 64, TensorPrimitives")]
    public void SystemAligned() => SystemTensor();

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Warm), Row(RowKind.Jemalloc, "jemalloc, TensorPrimitives")]
    public void JemallocTensor() => SystemTensor();

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Warm), Row(RowKind.Tenure, "Tenure {ours}.VectorMultiply")]
    public void Tenure()
    {
        _times++;
        TMultiply.Multiply(_own, _by);
    }

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Warm), Row(RowKind.Tenure, "Tenure {ours}.VectorMultiply, aligned to {other}")]
    public void TenureOtherAlignment() => Tenure();

    private T Expected()
    {
        T value = _first;
        for (long i = 0; i < _times; i++)
        {
            value *= _by;
        }
        return value;
    }
}
