// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;

namespace Tenure.Bench;

/// <summary>The article's experiment: blocks of four bytes, one after the other, then all given back in the same order.</summary>
/// <remarks>
/// Question: what does a block cost from each lifetime, and how far do neighbours lie apart? Each row runs in a process of
/// its own, rounds are shuffled, and medians are shown. The first batch meets memory that nobody touched; the warm ones
/// meet what the batch before gave back. A frame ends with its batch, and is timed with the frees: it is what frees Temp.
/// The article's clock stops before a block is written: the warm ones are measured both ways, and --written does the first
/// batch so.
/// Unfair would be to compare frees with the collector's, which come when the youngest generation is full: here one is
/// forced after each batch, and timed. It does not show what many threads do to each other.
/// </remarks>
internal static class LifetimesRun
{
    private const int Rounds = 7;

    /// <summary>The article's seed would be its date; any will do.</summary>
    private const int Seed = 20191104;

    internal static int Run(BenchRequest request)
    {
        OutputFiles.LeaveStandardOutput(request);
        if (OutputFiles.Refuse(request) is { } refused)
        {
            Console.Error.WriteLine($"jembench: {refused}");
            return ExitCode.Failed;
        }
        bool hasJemalloc = Heaps.FindJemalloc() is not null;
        if (!hasJemalloc)
        {
            Console.Error.WriteLine(Heaps.JemallocMissing);
        }
        LifetimeRow[] rows = [.. LifetimeRow.All.Where(row => hasJemalloc || row.Kind != RowKind.Jemalloc)];
        int rounds = request.Iterations ?? Rounds;
        using var interrupt = new Interrupt();
        Console.Error.WriteLine(Versions.Line);
        Console.Error.WriteLine(
            $"{request.Counts[0]} blocks of {LifetimeRow.Bytes} bytes; {CountText.Of(rounds, "round")}; each row in a process of its own in each round");
        var replies = rows.ToDictionary(row => row.Name, _ => new List<LifetimeReply>());
        var random = new Random(Seed);
        for (int round = 0; round < rounds && !Interrupt.Came; round++)
        {
            random.Shuffle(rows);
            Console.Error.Write($"round {round + 1} of {rounds}:");
            LifetimeReply[] found = new LifetimeReply[rows.Length];
            for (int i = 0; i < rows.Length && !Interrupt.Came; i++)
            {
                found[i] = LifetimeWorker.Ask(rows[i], request.Counts[0], request.FirstBatch);
                Console.Error.Write($" {rows[i].Name}");
            }
            Console.Error.WriteLine();
            for (int i = 0; i < rows.Length && !Interrupt.Came; i++)
            {
                replies[rows[i].Name].Add(found[i]);
            }
        }
        if (Interrupt.Came)
        {
            int whole = replies.Values.Min(each => each.Count);
            Console.Error.WriteLine($"jembench: interrupted: the result has the {CountText.Of(whole, "round")} that {(whole == 1 ? "was" : "were")} finished");
            if (whole == 0)
            {
                return ExitCode.Interrupted;
            }
        }
        rows = [.. LifetimeRow.All.Where(row => replies.ContainsKey(row.Name))];
        LifetimesTable.Print(rows, replies, request.FirstBatch, Console.Out);
        try
        {
            LifetimesFiles.Write(request, rows, replies);
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            Console.Error.WriteLine($"jembench: {failure.Message}");
            return ExitCode.Failed;
        }
        return Interrupt.Came ? ExitCode.Interrupted : replies.Values.All(each => each.All(one => one.Error.Length == 0)) ? ExitCode.Ok : ExitCode.Failed;
    }
}
