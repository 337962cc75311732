// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;

namespace Tenure.Bench;

/// <summary>The article's experiment: allocates blocks of four bytes one after the other, then frees them all in the
/// same order.</summary>
/// <remarks>
/// Question: what does a block of each lifetime cost, and how far apart are neighbors? Each row runs in its own
/// process, the rounds are shuffled, and medians are shown. The first batch uses memory that was never touched; the
/// warm batches use memory that the previous batch freed. A frame ends with its batch and is timed with the frees,
/// because ending the frame frees Temp. The article's clock stops before a block is written: the warm batches are
/// measured both ways, and --written writes the first batch within the time. Comparing frees with ordinary garbage
/// collections, which happen when the youngest generation is full, would be unfair: here a collection is forced after
/// each batch and timed. The experiment does not show contention between threads.
/// </remarks>
internal static class LifetimesRun
{
    private const int Rounds = 7;

    /// <summary>The article's seed would be its date; any seed works.</summary>
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
            $"{request.Counts[0]} blocks of {LifetimeRow.Bytes} bytes; {CountText.Of(rounds, "round")}; each row in its own process in each round");
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
            Console.Error.WriteLine($"jembench: interrupted: the result contains the {CountText.Of(whole, "round")} that {(whole == 1 ? "was" : "were")} finished");
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
