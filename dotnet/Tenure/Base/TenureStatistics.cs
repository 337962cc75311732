// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure;

/// <summary>Figures of the whole process, native and managed users together. While threads go on, each figure is as of
/// some moment during the call.</summary>
public readonly record struct TenureStatistics
{
    /// <summary>Whether persistent memory is Tenure's; not so when it comes from the process's malloc (option
    /// passthrough).</summary>
    public bool HeapIsOurs { get; init; }

    /// <summary>Blocks in use of the process heap.</summary>
    public ulong LiveCount { get; init; }

    /// <summary>Their bytes, with what rounding adds.</summary>
    public ulong LiveBytes { get; init; }

    /// <summary>The most bytes of the process heap ever taken into use.</summary>
    public ulong PeakBytes { get; init; }

    /// <summary>Bytes of the process heap that may be touched without asking the system.</summary>
    public ulong CommittedBytes { get; init; }

    /// <summary>Bytes of addresses that the process heap has.</summary>
    public ulong ReservedBytes { get; init; }

    /// <summary>Bytes of freed blocks past 31 MiB that are kept for the next.</summary>
    public ulong RetainedBytes { get; init; }

    /// <summary>Threads that have a cache of the process heap.</summary>
    public ulong ThreadCount { get; init; }

    /// <summary>Blocks alive in TempJob.</summary>
    public ulong TempJobLiveCount { get; init; }

    /// <summary>Bytes that were asked for in them.</summary>
    public ulong TempJobLiveBytes { get; init; }

    /// <summary>Bytes of TempJob's chunks, kept ones included.</summary>
    public ulong TempJobChunkBytes { get; init; }

    /// <summary>TempJob blocks that were reported as leaks.</summary>
    public ulong TempJobLeakedCount { get; init; }

    /// <summary>The figures of now.</summary>
    /// <remarks>Cost O(threads, pages and live TempJob blocks), with locks: for reports, not for hot paths.</remarks>
    /// <returns>A copy.</returns>
    /// <exception cref="TenureLoadException">There is no native library, or another version's.</exception>
    public static unsafe TenureStatistics Capture()
    {
        NativeLibraryCheck.Ensure();
        var seen = new NativeStats();
        NativeMethods.tn_get_stats(&seen);
        return new TenureStatistics
        {
            HeapIsOurs = seen.HeapIsOurs != 0,
            LiveCount = seen.LiveCount,
            LiveBytes = seen.LiveBytes,
            PeakBytes = seen.PeakBytes,
            CommittedBytes = seen.CommittedBytes,
            ReservedBytes = seen.ReservedBytes,
            RetainedBytes = seen.RetainedBytes,
            ThreadCount = seen.ThreadCount,
            TempJobLiveCount = seen.TempJobLiveCount,
            TempJobLiveBytes = seen.TempJobLiveBytes,
            TempJobChunkBytes = seen.TempJobChunkBytes,
            TempJobLeakedCount = seen.TempJobLeakedCount,
        };
    }
}
