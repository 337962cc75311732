// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Linq;

namespace Tenure.Bench;

/// <summary>The rounds of all rows as one table: medians, and ratios to NativeMemory in the same round.</summary>
internal static class LifetimesTable
{
    private const string Baseline = "NativeMemory";

    private static readonly string[] s_head =
        ["Lifetime", "first batch: {0}", "deallocate", "warm: allocate", "allocate and write", "deallocate", "ratio", "usual distance", "buckets"];

    internal static void Print(
        IReadOnlyList<LifetimeRow> rows, Dictionary<string, List<LifetimeReply>> replies, Storing first, TextWriter to)
    {
        string way = first == Storing.Inside ? "allocate and write" : "allocate";
        var lines = new List<string[]>
        {
            s_head.Select(word => word.Replace("{0}", way, StringComparison.Ordinal)).ToArray(),
        };
        var failures = new List<string>();
        foreach (LifetimeRow row in rows)
        {
            List<LifetimeReply> rounds = replies[row.Name];
            if (rounds.FirstOrDefault(each => each.Error.Length != 0) is { } failed)
            {
                failures.Add($"{row.Name} failed: {failed.Error}");
                continue;
            }
            int count = rounds[0].Distances.Length + 1;
            var buckets = Buckets(rounds[0].Distances);
            (long usual, int often) = buckets.MaxBy(each => each.Count);
            lines.Add(
            [
                row.Name,
                Median(rounds, each => Ns(each.AllocateTicks, count)),
                Median(rounds, each => Ns(each.DeallocateTicks, count)),
                Median(rounds, each => each.Warm.Allocate),
                Median(rounds, each => each.WarmWritten.Allocate),
                Median(rounds, each => each.Warm.Deallocate),
                Ratio(rounds, replies[Baseline]),
                $"{usual.ToString(CultureInfo.InvariantCulture)} ({often.ToString(CultureInfo.InvariantCulture)} times)",
                buckets.Count.ToString(CultureInfo.InvariantCulture),
            ]);
        }
        int[] widths = [.. Enumerable.Range(0, lines[0].Length).Select(column => lines.Max(line => line[column].Length))];
        foreach (string[] line in lines)
        {
            IEnumerable<string> cells = line.Select(
                (text, column) => column == 0 ? text.PadRight(widths[0]) : text.PadLeft(widths[column]));
            to.WriteLine(string.Join("  ", cells).TrimEnd());
        }
        failures.ForEach(to.WriteLine);
        to.WriteLine();
        to.WriteLine("Times are ns per block, medians of the rounds. Ratio: warm allocation without writing, relative to NativeMemory in the same round.");
        foreach (LifetimeRow row in rows.Where(each => each.Note.Length != 0))
        {
            to.WriteLine($"{row.Name}: {row.Note}.");
        }
    }

    /// <summary>Gets the distances with their counts, in order of first occurrence.</summary>
    internal static List<(long Distance, int Count)> Buckets(long[] distances)
    {
        var counts = new Dictionary<long, int>();
        var order = new List<long>();
        foreach (long distance in distances)
        {
            if (!counts.TryGetValue(distance, out int count))
            {
                order.Add(distance);
            }
            counts[distance] = count + 1;
        }
        return [.. order.Select(distance => (distance, counts[distance]))];
    }

    internal static double Ns(long ticks, int count) => ticks * 1e9 / Stopwatch.Frequency / count;

    private static string Median(List<LifetimeReply> rounds, Func<LifetimeReply, double> figure) =>
        SampleStatistics.Median([.. rounds.Select(figure)]).ToString("0.00", CultureInfo.InvariantCulture);

    private static string Ratio(List<LifetimeReply> rounds, List<LifetimeReply> baseline)
    {
        double[] ratios = [.. rounds.Zip(baseline, (one, other) => one.Warm.Allocate / other.Warm.Allocate)];
        return SampleStatistics.Median(ratios).ToString("0.00", CultureInfo.InvariantCulture);
    }
}
