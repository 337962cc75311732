// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.InteropServices;
using BenchmarkDotNet.Attributes;

namespace Tenure.Bench;

/// <summary>Question: what does it cost to create and release an array, zeroed or uninitialized?</summary>
/// <remarks>
/// Comparing zeroed with uninitialized arrays would be unfair, so they are in separate rows. Zeroed memory fresh from
/// the system is never touched here, so its pages cost nothing yet; "create and fill" shows that cost. A managed array
/// is left to the garbage collector, whose later work is in the time only if a collection happens. NativeMemory.Alloc
/// aligns to 16 and our arrays to 64: each has a row with the other alignment.
/// </remarks>
/// <typeparam name="T">The element type.</typeparam>
/// <typeparam name="TOwn">The type of our array.</typeparam>
public unsafe class CreateBenchmarks<T, TOwn> : CountedBenchmarks
    where T : unmanaged
    where TOwn : struct, IOwnArray<TOwn, T>
{
    private const string Zeroed = "create, zeroed, and give up";
    private const string Unwritten = "create, unwritten, and give up";

    /// <summary>A row.</summary>
    [Benchmark(Baseline = true), BenchmarkCategory(Zeroed), Row(RowKind.Managed, "managed array, zeroed by the collector")]
    public T[] ManagedZeroed() => new T[OfManaged];

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Zeroed), Row(RowKind.System, "NativeMemory")]
    public void SystemZeroed() => NativeMemory.Free(NativeMemory.AllocZeroed((nuint)Count, (nuint)sizeof(T)));

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Zeroed), Row(RowKind.Jemalloc, "jemalloc")]
    public void JemallocZeroed() => SystemZeroed();

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Zeroed), Row(RowKind.Tenure, "Tenure {ours}")]
    public void TenureZeroed() => TOwn.Create(Count, AllocationFill.Zero).Free();

    /// <summary>A row.</summary>
    [Benchmark(Baseline = true), BenchmarkCategory(Unwritten), Row(RowKind.Managed, "managed array, not zeroed")]
    public T[] ManagedUnwritten() => GC.AllocateUninitializedArray<T>(OfManaged);

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Unwritten), Row(RowKind.System, "NativeMemory")]
    public void SystemUnwritten() => NativeMemory.Free(Pattern.Allocate<T>(Count));

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Unwritten), Row(RowKind.System, "NativeMemory, aligned to 64")]
    public void SystemAligned() => NativeMemory.AlignedFree(Pattern.AllocateAligned<T>(Count));

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Unwritten), Row(RowKind.Jemalloc, "jemalloc")]
    public void JemallocUnwritten() => SystemUnwritten();

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Unwritten), Row(RowKind.Tenure, "Tenure {ours}")]
    public void TenureUnwritten() => TOwn.Create(Count, AllocationFill.Unwritten).Free();

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Unwritten), Row(RowKind.Tenure, "Tenure {ours}, aligned to {other}")]
    public void TenureOtherAlignment() => TOwn.Create(Count, AllocationFill.Unwritten, TOwn.OtherAlignment).Free();
}
