// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Globalization;
using System.IO;
using System.Linq;

namespace Tenure.Bench;

/// <summary>The result of a child process for one row.</summary>
internal sealed record LifetimeReply
{
    /// <summary>The time of the whole first batch, as the article reports it.</summary>
    internal long AllocateTicks { get; init; }

    internal long DeallocateTicks { get; init; }

    /// <summary>The time per block after a previous batch was freed.</summary>
    internal WarmNs Warm { get; init; }

    /// <summary>As <see cref="Warm"/>, with every byte of each block written within the time.</summary>
    internal WarmNs WarmWritten { get; init; }

    /// <summary>The distances of the first batch.</summary>
    internal long[] Distances { get; init; } = [];

    internal string Proof { get; init; } = "";

    internal string Error { get; init; } = "";

    internal void WriteTo(string path) => File.WriteAllLines(path,
    [
        Error.ReplaceLineEndings(" "),
        Proof,
        AllocateTicks.ToString(CultureInfo.InvariantCulture),
        DeallocateTicks.ToString(CultureInfo.InvariantCulture),
        string.Join(' ', new[] { Warm.Allocate, Warm.Deallocate, WarmWritten.Allocate, WarmWritten.Deallocate }
            .Select(each => each.ToString("R", CultureInfo.InvariantCulture))),
        string.Join(' ', Distances.Select(each => each.ToString(CultureInfo.InvariantCulture))),
    ]);

    internal static LifetimeReply ReadFrom(string path)
    {
        if (!File.Exists(path) || File.ReadAllLines(path) is not [var error, var proof, var up, var down, var warm, var distances])
        {
            return new LifetimeReply();
        }
        double[] ns = [.. warm.Split(' ').Select(each => double.Parse(each, CultureInfo.InvariantCulture))];
        return new LifetimeReply
        {
            Error = error,
            Proof = proof,
            AllocateTicks = long.Parse(up, CultureInfo.InvariantCulture),
            DeallocateTicks = long.Parse(down, CultureInfo.InvariantCulture),
            Warm = new(ns[0], ns[1]),
            WarmWritten = new(ns[2], ns[3]),
            Distances =
            [
                .. distances.Split(' ', StringSplitOptions.RemoveEmptyEntries)
                    .Select(each => long.Parse(each, CultureInfo.InvariantCulture)),
            ],
        };
    }
}

/// <summary>The times per block, in ns.</summary>
internal readonly record struct WarmNs(double Allocate, double Deallocate);
