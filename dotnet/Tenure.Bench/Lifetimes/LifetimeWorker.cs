// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Tenure.Bench;

/// <summary>The child's side: one row, its first batch and warm ones.</summary>
internal static unsafe class LifetimeWorker
{
    internal const string Word = "measure-lifetime";
    private const int WarmBatches = 101;

    /// <summary>Starts a child and reads what it found.</summary>
    internal static LifetimeReply Ask(LifetimeRow row, long count)
    {
        string file = Path.GetTempFileName();
        try
        {
            string? preload = row.Kind == RowKind.Jemalloc ? Heaps.FindJemalloc() : null;
            ChildProcess ended = ChildProcess.Run([Word, file, row.Name, count.ToString(CultureInfo.InvariantCulture)], preload);
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
        if (args is not [_, var file, var name, var countText]
            || LifetimeRow.All.FirstOrDefault(each => each.Name == name) is not { } row
            || !int.TryParse(countText, NumberStyles.None, CultureInfo.InvariantCulture, out int count))
        {
            return ExitCode.BadUsage;
        }
        var proof = new CaseReply();
        Heaps.Prove(row.Kind, proof);
        LifetimeReply found = proof.Error.Length != 0
            ? new LifetimeReply { Error = proof.Error }
            : Measure(row.Name, count) with { Proof = proof.Proof };
        found.WriteTo(file);
        return found.Error.Length == 0 ? ExitCode.Ok : ExitCode.Failed;
    }

    /// <summary>The row of a name, in this process.</summary>
    internal static LifetimeReply Measure(string name, int count) => name switch
    {
        "Temp" => Measure(count, LifetimeBlocks.AllocateTemp, LifetimeBlocks.DeallocateTemp),
        "TempJob" => Measure(count, LifetimeBlocks.AllocateTempJob, LifetimeBlocks.DeallocateTempJob),
        "Persistent" => Measure(count, LifetimeBlocks.AllocatePersistent, LifetimeBlocks.DeallocatePersistent),
        "Managed" => MeasureManaged(count),
        _ => Measure(count, LifetimeBlocks.AllocateSystem, LifetimeBlocks.DeallocateSystem),
    };

    private static LifetimeReply Measure(int count, Action<nint[]> allocate, Action<nint[]> deallocate)
    {
        Compile(allocate, deallocate);
        nint[] blocks = new nint[count];
        (long coldAllocate, long coldDeallocate) = Batch(blocks, allocate, deallocate);
        long[] distances = Distances(blocks);
        Settle(() => Batch(blocks, allocate, deallocate));
        var warmAllocate = new List<double>();
        var warmDeallocate = new List<double>();
        for (int batch = 0; batch < WarmBatches; batch++)
        {
            (long up, long down) = Batch(blocks, allocate, deallocate);
            warmAllocate.Add(up);
            warmDeallocate.Add(down);
        }
        return new LifetimeReply
        {
            AllocateTicks = coldAllocate,
            DeallocateTicks = coldDeallocate,
            WarmAllocateNs = PerBlock(warmAllocate, count),
            WarmDeallocateNs = PerBlock(warmDeallocate, count),
            Distances = distances,
        };
    }

    private static (long Allocate, long Deallocate) Batch(nint[] blocks, Action<nint[]> allocate, Action<nint[]> deallocate)
    {
        long begin = Stopwatch.GetTimestamp();
        allocate(blocks);
        long full = Stopwatch.GetTimestamp();
        // Written and read back outside the times.
        for (int i = 0; i < blocks.Length; i++)
        {
            *(int*)blocks[i] = i;
        }
        for (int i = 0; i < blocks.Length; i++)
        {
            if (*(int*)blocks[i] != i)
            {
                throw new InvalidOperationException("A block does not hold what was written into it.");
            }
        }
        long before = Stopwatch.GetTimestamp();
        deallocate(blocks);
        long after = Stopwatch.GetTimestamp();
        return (full - begin, after - before);
    }

    private static LifetimeReply MeasureManaged(int count)
    {
        byte[][] few = new byte[2][];
        LifetimeBlocks.AllocateManaged(few);
        byte[][] blocks = new byte[count][];
        GC.Collect();
        long begin = Stopwatch.GetTimestamp();
        LifetimeBlocks.AllocateManaged(blocks);
        long full = Stopwatch.GetTimestamp();
        long[] distances = ManagedDistances(blocks);
        long collected = Collect(blocks);
        Settle(() => LifetimeBlocks.AllocateManaged(blocks));
        var warmAllocate = new List<double>();
        var warmDeallocate = new List<double>();
        for (int batch = 0; batch < WarmBatches; batch++)
        {
            long from = Stopwatch.GetTimestamp();
            LifetimeBlocks.AllocateManaged(blocks);
            warmAllocate.Add(Stopwatch.GetTimestamp() - from);
            warmDeallocate.Add(Collect(blocks));
        }
        return new LifetimeReply
        {
            AllocateTicks = full - begin,
            DeallocateTicks = collected,
            WarmAllocateNs = PerBlock(warmAllocate, count),
            WarmDeallocateNs = PerBlock(warmDeallocate, count),
            Distances = distances,
        };
    }

    /// <summary>The runtime compiles again what was called often, and the batches after that count.</summary>
    private static void Settle(Action batch)
    {
        const int Times = 2;
        const int HotCalls = 32;
        const int WaitMilliseconds = 150;
        for (int time = 0; time < Times; time++)
        {
            for (int call = 0; call < HotCalls; call++)
            {
                batch();
            }
            Thread.Sleep(WaitMilliseconds);
        }
    }

    private static long Collect(byte[][] blocks)
    {
        Array.Clear(blocks);
        long from = Stopwatch.GetTimestamp();
        GC.Collect(0);
        return Stopwatch.GetTimestamp() - from;
    }

    /// <summary>The code is compiled by two blocks of its own before the clock starts; the article's was compiled ahead of time.</summary>
    private static void Compile(Action<nint[]> allocate, Action<nint[]> deallocate)
    {
        nint[] few = new nint[2];
        RuntimeHelpers.PrepareDelegate(allocate);
        RuntimeHelpers.PrepareDelegate(deallocate);
        allocate(few);
        deallocate(few);
    }

    /// <summary>From the end of a block to the begin of the next, as the article counts.</summary>
    private static long[] Distances(nint[] blocks)
    {
        long[] distances = new long[blocks.Length - 1];
        for (int i = 1; i < blocks.Length; i++)
        {
            distances[i - 1] = blocks[i] - (blocks[i - 1] + LifetimeRow.Bytes);
        }
        return distances;
    }

    /// <summary>Of arrays that no collection moves meanwhile: nothing is allocated here but the result.</summary>
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

    private static double PerBlock(List<double> ticks, int count) =>
        SampleStatistics.Median([.. ticks]) * 1e9 / Stopwatch.Frequency / count;
}
