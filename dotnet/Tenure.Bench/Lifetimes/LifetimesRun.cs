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
/// meet what the batch before gave back. Unfair would be to compare frees: Temp's do nothing until the frame ends, and the
/// collector's come later, so a collection of the whole batch is timed in their place. It does not show what many threads
/// do to each other.
/// </remarks>
internal static class LifetimesRun
{
    private const int Rounds = 7;

    /// <summary>The article's seed would be its date; any will do.</summary>
    private const int Seed = 20191104;

    internal static int Run(BenchRequest request)
    {
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
        Console.Error.WriteLine(Versions.Line);
        Console.Error.WriteLine(
            $"{request.Counts[0]} blocks of {LifetimeRow.Bytes} bytes; {rounds} rounds; each row in a process of its own in each round");
        var replies = rows.ToDictionary(row => row.Name, _ => new List<LifetimeReply>());
        var random = new Random(Seed);
        for (int round = 0; round < rounds; round++)
        {
            random.Shuffle(rows);
            Console.Error.Write($"round {round + 1} of {rounds}:");
            foreach (LifetimeRow row in rows)
            {
                replies[row.Name].Add(LifetimeWorker.Ask(row, request.Counts[0]));
                Console.Error.Write($" {row.Name}");
            }
            Console.Error.WriteLine();
        }
        rows = [.. LifetimeRow.All.Where(row => replies.ContainsKey(row.Name))];
        LifetimesTable.Print(rows, replies, Console.Out);
        try
        {
            LifetimesFiles.Write(request, rows, replies);
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            Console.Error.WriteLine($"jembench: {failure.Message}");
            return ExitCode.Failed;
        }
        return replies.Values.All(each => each.All(one => one.Error.Length == 0)) ? ExitCode.Ok : ExitCode.Failed;
    }
}
