// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure;

/// <summary>Statistics of the whole process, native and managed code together. While other threads run, each figure is
/// taken at some moment during the call.</summary>
public readonly record struct TenureStatistics
{
    /// <summary>Gets a value indicating whether persistent memory comes from Tenure's heap; <c>false</c> if it comes
    /// from the process's malloc (option passthrough).</summary>
    public bool HeapIsOurs { get; init; }

    /// <summary>Gets the number of process heap blocks in use.</summary>
    public ulong LiveCount { get; init; }

    /// <summary>Gets the size of these blocks in bytes, including rounding.</summary>
    public ulong LiveBytes { get; init; }

    /// <summary>Gets the largest number of process heap bytes ever taken into use.</summary>
    public ulong PeakBytes { get; init; }

    /// <summary>Gets the number of committed process heap bytes, which can be touched without a system call.</summary>
    public ulong CommittedBytes { get; init; }

    /// <summary>Gets the number of address space bytes that the process heap has reserved.</summary>
    public ulong ReservedBytes { get; init; }

    /// <summary>Gets the number of bytes in freed blocks larger than 31 MiB that are retained for reuse.</summary>
    public ulong RetainedBytes { get; init; }

    /// <summary>Gets the number of threads that have a process heap cache.</summary>
    public ulong ThreadCount { get; init; }

    /// <summary>Gets the number of live TempJob blocks.</summary>
    public ulong TempJobLiveCount { get; init; }

    /// <summary>Gets the number of bytes requested in live TempJob blocks.</summary>
    public ulong TempJobLiveBytes { get; init; }

    /// <summary>Gets the number of bytes in TempJob's chunks, including retained ones.</summary>
    public ulong TempJobChunkBytes { get; init; }

    /// <summary>Gets the number of TempJob blocks reported as leaks.</summary>
    public ulong TempJobLeakedCount { get; init; }

    /// <summary>Gets the number of process heap bytes that are in memory.</summary>
    public ulong ResidentBytes { get; init; }

    /// <summary>Gets the number of bytes in free blocks that threads keep in their caches.</summary>
    public ulong CachedBytes { get; init; }

    /// <summary>Gets the number of blocks in use that the <see cref="HeapProfile"/> has recorded; zero before its
    /// start.</summary>
    public ulong SampleCount { get; init; }

    /// <summary>Captures the current statistics.</summary>
    /// <remarks>Cost: O(threads, pages and live TempJob blocks), with locks. Use it for reports, not in hot
    /// paths.</remarks>
    /// <returns>A snapshot of the statistics.</returns>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
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
            ResidentBytes = seen.ResidentBytes,
            CachedBytes = seen.CachedBytes,
            SampleCount = seen.SampleCount,
        };
    }
}
