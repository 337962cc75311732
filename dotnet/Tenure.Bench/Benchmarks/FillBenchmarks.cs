// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.InteropServices;
using BenchmarkDotNet.Attributes;

namespace Tenure.Bench;

/// <summary>Question: what does it cost to write one value into every element of a new or existing array?</summary>
/// <remarks>
/// All rows fill with the same vectorized loop of the runtime. "Create and fill" releases the array within the time:
/// native memory is freed, a managed array is left to the garbage collector. The collector zeroes an array before it is
/// filled; the row "not zeroed" omits that. An allocator that retains freed memory for the next array does not touch
/// fresh pages again; that is part of the answer, and the memory columns show what it costs. NativeMemory.Alloc aligns
/// to 16 and our arrays to 64: each has a row with the other alignment.
/// </remarks>
/// <typeparam name="T">The element type.</typeparam>
/// <typeparam name="TOwn">The type of our array.</typeparam>
public unsafe class FillBenchmarks<T, TOwn> : CountedBenchmarks
    where T : unmanaged
    where TOwn : struct, IOwnArray<TOwn, T>
{
    private const string Warm = "fill, warm memory";
    private const string Create = "create, fill and give up";

    private readonly T _value = Pattern.Of<T>();
    private T[] _managed = [];
    private T* _native;
    private TOwn _own;

    /// <summary>The array that is filled, between set-up and check.</summary>
    internal T[] ManagedHeld => _managed;

    internal T* NativeHeld => _native;

    internal TOwn OwnHeld => _own;

    /// <summary>Writes the array once before the measurement.</summary>
    [GlobalSetup(Target = nameof(Managed))]
    public void SetUpManaged()
    {
        _managed = new T[OfManaged];
        Managed();
    }

    /// <summary>Writes the array once before the measurement.</summary>
    [GlobalSetup(Targets = [nameof(System), nameof(Jemalloc)])]
    public void SetUpNative()
    {
        _native = Pattern.Allocate<T>(Count);
        System();
    }

    /// <summary>Writes the array once before the measurement.</summary>
    [GlobalSetup(Target = nameof(SystemAligned))]
    public void SetUpAligned()
    {
        _native = Pattern.AllocateAligned<T>(Count);
        System();
    }

    /// <summary>Writes the array once before the measurement.</summary>
    [GlobalSetup(Target = nameof(Tenure))]
    public void SetUpTenure()
    {
        _own = TOwn.Create(Count, AllocationFill.Unwritten);
        Tenure();
    }

    /// <summary>Writes the array once before the measurement.</summary>
    [GlobalSetup(Target = nameof(TenureOtherAlignment))]
    public void SetUpOtherAlignment()
    {
        _own = TOwn.Create(Count, AllocationFill.Unwritten, TOwn.OtherAlignment);
        Tenure();
    }

    /// <summary>Checks the written values.</summary>
    [GlobalCleanup(Target = nameof(Managed))]
    public void CheckManaged()
    {
        Pattern.Check(_managed, _value);
        _managed = [];
    }

    /// <summary>Checks the written values.</summary>
    [GlobalCleanup(Targets = [nameof(System), nameof(Jemalloc)])]
    public void CheckNative()
    {
        Pattern.Check(_native, Count, _value);
        NativeMemory.Free(_native);
    }

    /// <summary>Checks the written values.</summary>
    [GlobalCleanup(Target = nameof(SystemAligned))]
    public void CheckAligned()
    {
        Pattern.Check(_native, Count, _value);
        NativeMemory.AlignedFree(_native);
    }

    /// <summary>Checks the written values.</summary>
    [GlobalCleanup(Targets = [nameof(Tenure), nameof(TenureOtherAlignment)])]
    public void CheckTenure()
    {
        Pattern.Check(_own.Begin, Count, _value);
        _own.Free();
    }

    /// <summary>A row.</summary>
    [Benchmark(Baseline = true), BenchmarkCategory(Warm), Row(RowKind.Managed, "managed array")]
    public void Managed() => _managed.AsSpan().Fill(_value);

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Warm), Row(RowKind.System, "NativeMemory")]
    public void System() => Pattern.Fill(_native, Count, _value);

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Warm), Row(RowKind.System, "NativeMemory, aligned to 64")]
    public void SystemAligned() => System();

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Warm), Row(RowKind.Jemalloc, "jemalloc")]
    public void Jemalloc() => System();

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Warm), Row(RowKind.Tenure, "Tenure {ours}")]
    public void Tenure() => _own.Fill(_value);

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Warm), Row(RowKind.Tenure, "Tenure {ours}, aligned to {other}")]
    public void TenureOtherAlignment() => Tenure();

    /// <summary>A row.</summary>
    [Benchmark(Baseline = true), BenchmarkCategory(Create), Row(RowKind.Managed, "managed array, zeroed first")]
    public void CreateManaged() => FillNew(new T[OfManaged]);

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Create), Row(RowKind.Managed, "managed array, not zeroed")]
    public void CreateManagedUnwritten() => FillNew(GC.AllocateUninitializedArray<T>(OfManaged));

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Create), Row(RowKind.System, "NativeMemory")]
    public void CreateSystem()
    {
        T* begin = Pattern.Allocate<T>(Count);
        Pattern.Fill(begin, Count, _value);
        Pattern.CheckLast(begin[Count - 1]);
        NativeMemory.Free(begin);
    }

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Create), Row(RowKind.System, "NativeMemory, aligned to 64")]
    public void CreateSystemAligned()
    {
        T* begin = Pattern.AllocateAligned<T>(Count);
        Pattern.Fill(begin, Count, _value);
        Pattern.CheckLast(begin[Count - 1]);
        NativeMemory.AlignedFree(begin);
    }

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Create), Row(RowKind.Jemalloc, "jemalloc")]
    public void CreateJemalloc() => CreateSystem();

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Create), Row(RowKind.Tenure, "Tenure {ours}")]
    public void CreateTenure() => FillNew(TOwn.Create(Count, AllocationFill.Unwritten));

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Create), Row(RowKind.Tenure, "Tenure {ours}, aligned to {other}")]
    public void CreateOtherAlignment() => FillNew(TOwn.Create(Count, AllocationFill.Unwritten, TOwn.OtherAlignment));

    private void FillNew(TOwn made)
    {
        made.Fill(_value);
        Pattern.CheckLast(made.At(Count - 1));
        made.Free();
    }

    private void FillNew(T[] made)
    {
        made.AsSpan().Fill(_value);
        Pattern.CheckLast(made[^1]);
    }
}
