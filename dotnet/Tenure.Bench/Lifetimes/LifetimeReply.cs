// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Globalization;
using System.IO;
using System.Linq;

namespace Tenure.Bench;

/// <summary>What a child found about one row.</summary>
internal sealed record LifetimeReply
{
    /// <summary>Of the first batch, whole, as the article writes them.</summary>
    internal long AllocateTicks { get; init; }

    internal long DeallocateTicks { get; init; }

    /// <summary>Of a block, when the batch before was given back.</summary>
    internal double WarmAllocateNs { get; init; }

    internal double WarmDeallocateNs { get; init; }

    /// <summary>Of the first batch.</summary>
    internal long[] Distances { get; init; } = [];

    internal string Proof { get; init; } = "";

    internal string Error { get; init; } = "";

    internal void WriteTo(string path) => File.WriteAllLines(path,
    [
        Error.ReplaceLineEndings(" "),
        Proof,
        AllocateTicks.ToString(CultureInfo.InvariantCulture),
        DeallocateTicks.ToString(CultureInfo.InvariantCulture),
        WarmAllocateNs.ToString("R", CultureInfo.InvariantCulture),
        WarmDeallocateNs.ToString("R", CultureInfo.InvariantCulture),
        string.Join(' ', Distances.Select(each => each.ToString(CultureInfo.InvariantCulture))),
    ]);

    internal static LifetimeReply ReadFrom(string path) =>
        File.Exists(path) && File.ReadAllLines(path) is [var error, var proof, var up, var down, var warmUp, var warmDown, var distances]
            ? new LifetimeReply
            {
                Error = error,
                Proof = proof,
                AllocateTicks = long.Parse(up, CultureInfo.InvariantCulture),
                DeallocateTicks = long.Parse(down, CultureInfo.InvariantCulture),
                WarmAllocateNs = double.Parse(warmUp, CultureInfo.InvariantCulture),
                WarmDeallocateNs = double.Parse(warmDown, CultureInfo.InvariantCulture),
                Distances =
                [
                    .. distances.Split(' ', StringSplitOptions.RemoveEmptyEntries)
                        .Select(each => long.Parse(each, CultureInfo.InvariantCulture)),
                ],
            }
            : new LifetimeReply();
}
