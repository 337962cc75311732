// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

/// <summary>Statistics of Tenure's heap under jemalloc's names.</summary>
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
        // Pages that hold blocks: committed memory without memory retained for reuse.
        "stats.active" => stats.CommittedBytes - Math.Min(stats.RetainedBytes, stats.CommittedBytes),
        "stats.resident" or "stats.mapped" => stats.CommittedBytes,
        // Address space without memory behind it.
        "stats.retained" => stats.ReservedBytes - Math.Min(stats.CommittedBytes, stats.ReservedBytes),
        _ => throw new ArgumentOutOfRangeException(nameof(name), name, "There is no such statistic."),
    };
}
