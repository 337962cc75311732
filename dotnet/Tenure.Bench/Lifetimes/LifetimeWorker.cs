// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Linq;

namespace Tenure.Bench;

/// <summary>The child process: measures one row, its first batch and warm batches.</summary>
internal static unsafe class LifetimeWorker
{
    internal const string Word = "measure-lifetime";
    private const int WarmBatches = 101;

    /// <summary>The number of blocks shown to the proof.</summary>
    private const int ShownBlocks = 1000;

    /// <summary>Starts a child process and reads its result.</summary>
    internal static LifetimeReply Ask(LifetimeRow row, long count, Storing first)
    {
        string file = Path.GetTempFileName();
        try
        {
            string? preload = row.Kind == RowKind.Jemalloc ? Heaps.FindJemalloc() : null;
            ChildProcess ended = ChildProcess.Run(
                [Word, file, row.Name, count.ToString(CultureInfo.InvariantCulture), first.ToString()], preload, countsCallsAtOnce: true);
            LifetimeReply reply = LifetimeReply.ReadFrom(file);
            return ended.ExitCode == 0 || reply.Error.Length != 0 ? reply : reply with { Error = ended.Explain() };
        }
        finally
        {
            File.Delete(file);
        }
    }

    internal static int Run(string[] args)
    {
        if (args is not [_, var file, var name, var countText, var firstText]
            || LifetimeRow.All.FirstOrDefault(each => each.Name == name) is not { } row
            || !int.TryParse(countText, NumberStyles.None, CultureInfo.InvariantCulture, out int count)
            || !Enum.TryParse(firstText, out Storing first))
        {
            return ExitCode.BadUsage;
        }
        var malloc = new CaseReply();
        Heaps.ProveMalloc(row.Kind, malloc);
        LifetimeReply found = new() { Error = malloc.Error };
        if (malloc.Error.Length == 0)
        {
            var proof = new BlockProof();
            found = Measure(row, count, first, LifetimePasses.FirstAndWarm, proof, static () => { });
            if (row.Kind == RowKind.Tenure)
            {
                Heaps.Prove(row.Kind, malloc); // it allocates, so it must come after the first batch
            }
            found = found with { Proof = $"{malloc.Proof}; {proof.Sentence}", Error = proof.IsProven ? "" : $"not proven: {proof.Sentence}" };
        }
        found.WriteTo(file);
        return found.Error.Length == 0 ? ExitCode.Ok : ExitCode.Failed;
    }

    /// <summary>Measures a row in this process. Requires that this process has not used the row's allocator.</summary>
    internal static LifetimeReply Measure(
        LifetimeRow row, int count, Storing first, LifetimePasses passes, BlockProof proof, Action beforeProof) =>
        row.Name switch
        {
            "Temp" => Measure<TempBlocks>(row, count, first, passes, proof, beforeProof),
            "TempJob" => Measure<TempJobBlocks>(row, count, first, passes, proof, beforeProof),
            "Persistent" => Measure<PersistentBlocks>(row, count, first, passes, proof, beforeProof),
            "NativeMemory-aligned" => Measure<AlignedBlocks>(row, count, first, passes, proof, beforeProof),
            "Managed" => MeasureManaged(count, first, passes, proof, beforeProof),
            _ => Measure<SystemBlocks>(row, count, first, passes, proof, beforeProof),
        };

    private static LifetimeReply Measure<T>(
        LifetimeRow row, int count, Storing first, LifetimePasses passes, BlockProof proof, Action beforeProof)
        where T : struct, ILifetimeBlocks
    {
        ColdCode.Prepare<T>(row.Kind);
        HotCode.Drain();
        nint[] blocks = new nint[count];
        Times cold = first == Storing.Inside
            ? Batch(blocks, LifetimeLoops<T>.AllocateAndWriteFirst, Storing.Inside, LifetimeLoops<T>.DeallocateFirst)
            : Batch(blocks, LifetimeLoops<T>.AllocateFirst, Storing.Outside, LifetimeLoops<T>.DeallocateFirst);
        ColdCode.RefuseCompiled(cold.Compiled);
        LifetimeReply found = new()
        {
            AllocateTicks = cold.Allocate,
            DeallocateTicks = cold.Deallocate,
            Distances = Distances(blocks),
        };
        if (passes == LifetimePasses.FirstAndWarm)
        {
            Times Plain() => Batch(blocks, LifetimeLoops<T>.Allocate, Storing.Outside, LifetimeLoops<T>.Deallocate);
            Times Written() => Batch(blocks, LifetimeLoops<T>.AllocateAndWrite, Storing.Inside, LifetimeLoops<T>.Deallocate);
            (WarmNs plain, WarmNs written) = Warm(count, Plain, Written);
            found = found with { Warm = plain, WarmWritten = written };
        }
        beforeProof();
        // Comes after the measurement. Uses many blocks regardless of the count, because an allocator that only counts
        // may keep a few freed blocks in its count.
        nint[] shown = new nint[int.Max(count, ShownBlocks)];
        proof.Begin(row.Owner);
        LifetimeLoops<T>.AllocateAndWrite(shown);
        proof.Show(shown, LifetimeRow.Bytes);
        LifetimeLoops<T>.Deallocate(shown);
        return found;
    }

    private static Times Batch(nint[] blocks, Action<nint[]> allocate, Storing storing, Action<nint[]> deallocate)
    {
        long compiled = ColdCode.CompiledMethods;
        long begin = Stopwatch.GetTimestamp();
        allocate(blocks);
        long full = Stopwatch.GetTimestamp();
        compiled -= ColdCode.CompiledMethods;
        for (int i = 0; storing == Storing.Outside && i < blocks.Length; i++)
        {
            *(int*)blocks[i] = i;
        }
        for (int i = 0; i < blocks.Length; i++)
        {
            if (*(int*)blocks[i] != i)
            {
                throw new InvalidOperationException("A block does not contain the written values.");
            }
        }
        compiled += ColdCode.CompiledMethods;
        long before = Stopwatch.GetTimestamp();
        deallocate(blocks);
        long after = Stopwatch.GetTimestamp();
        compiled -= ColdCode.CompiledMethods;
        return new(full - begin, after - before, -compiled);
    }

    private static LifetimeReply MeasureManaged(
        int count, Storing first, LifetimePasses passes, BlockProof proof, Action beforeProof)
    {
        ManagedLoops.AllocateFirst([]);
        ManagedLoops.AllocateAndWriteFirst([]);
        byte[][] blocks = new byte[count][];
        GC.Collect();
        HotCode.Drain();
        long compiled = ColdCode.CompiledMethods;
        long begin = Stopwatch.GetTimestamp();
        if (first == Storing.Inside)
        {
            ManagedLoops.AllocateAndWriteFirst(blocks);
        }
        else
        {
            ManagedLoops.AllocateFirst(blocks);
        }
        long full = Stopwatch.GetTimestamp();
        ColdCode.RefuseCompiled(ColdCode.CompiledMethods - compiled);
        LifetimeReply found = new() { AllocateTicks = full - begin, Distances = ManagedDistances(blocks) };
        found = found with { DeallocateTicks = Collect(blocks) };
        if (passes == LifetimePasses.FirstAndWarm)
        {
            (WarmNs plain, WarmNs written) = Warm(
                count, () => ManagedBatch(blocks, ManagedLoops.Allocate), () => ManagedBatch(blocks, ManagedLoops.AllocateAndWrite));
            found = found with { Warm = plain, WarmWritten = written };
        }
        beforeProof();
        proof.Begin(BlockOwner.Collector);
        byte[][] shown = new byte[ShownBlocks][];
        ManagedLoops.AllocateAndWrite(shown);
        proof.Show<byte>(shown);
        return found;
    }

    private static Times ManagedBatch(byte[][] blocks, Action<byte[][]> allocate)
    {
        long begin = Stopwatch.GetTimestamp();
        allocate(blocks);
        return new(Stopwatch.GetTimestamp() - begin, Collect(blocks), 0);
    }

    /// <summary>Measures both variants alternately, so that neither benefits from quieter moments.</summary>
    private static (WarmNs Plain, WarmNs Written) Warm(int count, Func<Times> plain, Func<Times> written)
    {
        HotCode.Settle(() =>
        {
            plain();
            written();
        });
        var plainTimes = new Times[WarmBatches];
        var writtenTimes = new Times[WarmBatches];
        for (int batch = 0; batch < WarmBatches; batch++)
        {
            plainTimes[batch] = plain();
            writtenTimes[batch] = written();
        }
        return (PerBlock(plainTimes, count), PerBlock(writtenTimes, count));
    }

    private static long Collect(byte[][] blocks)
    {
        Array.Clear(blocks);
        long from = Stopwatch.GetTimestamp();
        GC.Collect(0);
        return Stopwatch.GetTimestamp() - from;
    }

    /// <summary>The distances from the end of a block to the start of the next, as the article counts them.</summary>
    private static long[] Distances(nint[] blocks)
    {
        long[] distances = new long[blocks.Length - 1];
        for (int i = 1; i < blocks.Length; i++)
        {
            distances[i - 1] = blocks[i] - (blocks[i - 1] + LifetimeRow.Bytes);
        }
        return distances;
    }

    /// <summary>The distances of arrays. No collection moves them meanwhile: only the result is allocated
    /// here.</summary>
    private static long[] ManagedDistances(byte[][] blocks)
    {
        long[] distances = new long[blocks.Length - 1];
        for (int i = 1; i < blocks.Length; i++)
        {
            fixed (byte* one = blocks[i - 1], next = blocks[i])
            {
                distances[i - 1] = next - (one + LifetimeRow.Bytes);
            }
        }
        return distances;
    }

    private static WarmNs PerBlock(Times[] batches, int count)
    {
        return new(Of(each => each.Allocate), Of(each => each.Deallocate));

        double Of(Func<Times, long> which) =>
            SampleStatistics.Median([.. batches.Select(each => (double)which(each))]) * 1e9 / Stopwatch.Frequency / count;
    }

    /// <summary>The times of a batch in ticks, and the number of methods compiled meanwhile.</summary>
    private readonly record struct Times(long Allocate, long Deallocate, long Compiled);
}

/// <summary>The passes that a process measures.</summary>
internal enum LifetimePasses
{
    /// <summary>The first batch.</summary>
    FirstOnly,

    /// <summary>The first batch and batches of warm memory.</summary>
    FirstAndWarm,
}
