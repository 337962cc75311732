// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Runtime;
using System.Runtime.InteropServices;
using BenchmarkDotNet.Attributes;

namespace Tenure.Bench;

/// <summary>Question: what do big blocks cost when small blocks kept between them prevent the reuse of earlier
/// holes?</summary>
/// <remarks>
/// Each round allocates a big block (64 MiB, and 1 MiB more each round) and a small one of 90000 elements, and frees
/// the big one immediately. jemalloc.NET's article never writes its native blocks, while the collector zeroes every
/// array. The first table repeats that, plus a row of arrays that are not zeroed, and says little about allocators. In
/// the second table every element is written on both sides.
/// </remarks>
/// <typeparam name="T">The element type.</typeparam>
public unsafe class FragmentBenchmarks<T> : CountedBenchmarks
    where T : unmanaged
{
    private const string Article = "as the article: native unwritten";
    private const string Written = "every element written";
    private const long Mebibyte = 1 << 20;
    internal const int SmallCount = 90_000;

    private readonly T _value = Pattern.Of<T>();
    private readonly List<T[]> _kept = [];
    private readonly List<nint> _keptNative = [];

    /// <summary>The growth of the big block per round in bytes; the first one has 64 times this size.</summary>
    internal long StepBytes { get; init; } = Mebibyte;

    /// <summary>The number of elements of the small block.</summary>
    internal int SmallElements { get; init; } = SmallCount;

    /// <summary>Receives the kept blocks before they are freed; null during the measurement.</summary>
    internal Action<List<nint>>? BlocksHeld { get; set; }

    /// <summary>As <see cref="BlocksHeld"/>, for arrays.</summary>
    internal Action<List<T[]>>? ArraysHeld { get; set; }

    private enum Kept
    {
        No,
        Yes,
        Compacted,
    }

    private enum Content
    {
        AsItComes,
        NotZeroed,
        Written,
        WrittenNotZeroed,
    }

    /// <summary>The size of a round's big block in bytes.</summary>
    internal static long BigBytes(long round, long stepBytes = Mebibyte) => (64 + round) * stepBytes;

    /// <summary>The number of bytes needed at the same time.</summary>
    internal static long Need(long rounds) => (2 * BigBytes(rounds)) + (rounds * SmallCount * sizeof(T));

    /// <summary>A row.</summary>
    [Benchmark(Baseline = true), BenchmarkCategory(Article), Row(RowKind.Managed, "managed, zeroed, small ones dropped")]
    public void ManagedDropped() => RunManaged(Kept.No, Content.AsItComes);

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Article), Row(RowKind.Managed, "managed, zeroed, small ones kept")]
    public void ManagedKept() => RunManaged(Kept.Yes, Content.AsItComes);

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Article), Row(RowKind.Managed, "managed, kept, not zeroed")]
    public void ManagedKeptUnwritten() => RunManaged(Kept.Yes, Content.NotZeroed);

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Article), Row(RowKind.Managed, "managed, zeroed, kept, compacted every 10 rounds")]
    public void ManagedCompacted() => RunManaged(Kept.Compacted, Content.AsItComes);

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Article), Row(RowKind.Tenure, "Tenure, small ones dropped")]
    public void TenureDropped() => RunTenure(Kept.No, Content.AsItComes);

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Article), Row(RowKind.Tenure, "Tenure, small ones kept")]
    public void TenureKept() => RunTenure(Kept.Yes, Content.AsItComes);

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Article), Row(RowKind.System, "NativeMemory, small ones dropped")]
    public void SystemDropped() => RunSystem(Kept.No, Content.AsItComes);

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Article), Row(RowKind.System, "NativeMemory, small ones kept")]
    public void SystemKept() => RunSystem(Kept.Yes, Content.AsItComes);

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Article), Row(RowKind.Jemalloc, "jemalloc, small ones dropped")]
    public void JemallocDropped() => RunSystem(Kept.No, Content.AsItComes);

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Article), Row(RowKind.Jemalloc, "jemalloc, small ones kept")]
    public void JemallocKept() => RunSystem(Kept.Yes, Content.AsItComes);

    /// <summary>A row.</summary>
    [Benchmark(Baseline = true), BenchmarkCategory(Written), Row(RowKind.Managed, "managed, zeroed, small ones dropped")]
    public void ManagedDroppedWritten() => RunManaged(Kept.No, Content.Written);

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Written), Row(RowKind.Managed, "managed, zeroed, small ones kept")]
    public void ManagedKeptWritten() => RunManaged(Kept.Yes, Content.Written);

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Written), Row(RowKind.Managed, "managed, kept, not zeroed before")]
    public void ManagedKeptUnzeroed() => RunManaged(Kept.Yes, Content.WrittenNotZeroed);

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Written), Row(RowKind.Managed, "managed, zeroed, kept, compacted every 10 rounds")]
    public void ManagedCompactedWritten() => RunManaged(Kept.Compacted, Content.Written);

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Written), Row(RowKind.Tenure, "Tenure, small ones dropped")]
    public void TenureDroppedWritten() => RunTenure(Kept.No, Content.Written);

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Written), Row(RowKind.Tenure, "Tenure, small ones kept")]
    public void TenureKeptWritten() => RunTenure(Kept.Yes, Content.Written);

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Written), Row(RowKind.System, "NativeMemory, small ones dropped")]
    public void SystemDroppedWritten() => RunSystem(Kept.No, Content.Written);

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Written), Row(RowKind.System, "NativeMemory, small ones kept")]
    public void SystemKeptWritten() => RunSystem(Kept.Yes, Content.Written);

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Written), Row(RowKind.Jemalloc, "jemalloc, small ones dropped")]
    public void JemallocDroppedWritten() => RunSystem(Kept.No, Content.Written);

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Written), Row(RowKind.Jemalloc, "jemalloc, small ones kept")]
    public void JemallocKeptWritten() => RunSystem(Kept.Yes, Content.Written);

    private void RunManaged(Kept kept, Content content)
    {
        for (long round = 0; round < Count; round++)
        {
            GC.KeepAlive(Array((int)(BigBytes(round, StepBytes) / sizeof(T)), content));
            T[] small = Array(SmallElements, content);
            if (kept != Kept.No)
            {
                _kept.Add(small);
            }
            if (kept == Kept.Compacted && round % 10 == 9)
            {
                GCSettings.LargeObjectHeapCompactionMode = GCLargeObjectHeapCompactionMode.CompactOnce;
                GC.Collect();
            }
        }
        if (content is Content.Written or Content.WrittenNotZeroed)
        {
            _kept.ForEach(small => Pattern.CheckLast(small[^1]));
        }
        ArraysHeld?.Invoke(_kept);
        _kept.Clear();
    }

    private T[] Array(int count, Content content)
    {
        T[] made = content is Content.NotZeroed or Content.WrittenNotZeroed ? GC.AllocateUninitializedArray<T>(count) : new T[count];
        if (content is Content.Written or Content.WrittenNotZeroed)
        {
            made.AsSpan().Fill(_value);
        }
        return made;
    }

    private void RunTenure(Kept kept, Content content)
    {
        for (long round = 0; round < Count; round++)
        {
            void* big = Native.Allocate((nuint)BigBytes(round, StepBytes), Lifetime.Persistent);
            Write(big, BigBytes(round, StepBytes) / sizeof(T), content);
            Native.Deallocate(big, Lifetime.Persistent);
            void* small = Native.Allocate((nuint)(SmallElements * sizeof(T)), Lifetime.Persistent);
            Write(small, SmallElements, content);
            if (kept == Kept.No)
            {
                Native.Deallocate(small, Lifetime.Persistent);
            }
            else
            {
                _keptNative.Add((nint)small);
            }
        }
        CheckKept(content);
        _keptNative.ForEach(small => Native.Deallocate((void*)small, Lifetime.Persistent));
        _keptNative.Clear();
    }

    private void RunSystem(Kept kept, Content content)
    {
        for (long round = 0; round < Count; round++)
        {
            void* big = NativeMemory.Alloc((nuint)BigBytes(round, StepBytes));
            Write(big, BigBytes(round, StepBytes) / sizeof(T), content);
            NativeMemory.Free(big);
            void* small = NativeMemory.Alloc((nuint)(SmallElements * sizeof(T)));
            Write(small, SmallElements, content);
            if (kept == Kept.No)
            {
                NativeMemory.Free(small);
            }
            else
            {
                _keptNative.Add((nint)small);
            }
        }
        CheckKept(content);
        _keptNative.ForEach(small => NativeMemory.Free((void*)small));
        _keptNative.Clear();
    }

    private void Write(void* block, long count, Content content)
    {
        if (content != Content.AsItComes)
        {
            Pattern.Fill((T*)block, count, _value);
        }
    }

    private void CheckKept(Content content)
    {
        if (content != Content.AsItComes)
        {
            _keptNative.ForEach(small => Pattern.CheckLast(((T*)small)[SmallElements - 1]));
        }
        BlocksHeld?.Invoke(_keptNative);
    }
}
