// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

/// <summary>What Tenure's heap knows of itself, under the names that jemalloc has for it.</summary>
internal static unsafe class TenureFigures
{
    internal static readonly string[] Names =
        ["stats.allocated", "stats.active", "stats.resident", "stats.mapped", "stats.retained"];

    internal static NativeStats Now()
    {
        NativeLibraryCheck.Ensure();
        var stats = new NativeStats();
        NativeMethods.tn_get_stats(&stats);
        return stats;
    }

    internal static ulong Of(string name, in NativeStats stats) => name switch
    {
        "stats.allocated" => stats.LiveBytes,
        // Pages that hold blocks: what is committed without what is kept for the next.
        "stats.active" => stats.CommittedBytes - Math.Min(stats.RetainedBytes, stats.CommittedBytes),
        "stats.resident" or "stats.mapped" => stats.CommittedBytes,
        // Addresses without memory behind them.
        "stats.retained" => stats.ReservedBytes - Math.Min(stats.CommittedBytes, stats.ReservedBytes),
        _ => throw new ArgumentOutOfRangeException(nameof(name), name, "No such figure."),
    };
}
