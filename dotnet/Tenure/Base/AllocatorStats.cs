// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure;

/// <summary>Figures of an allocator.</summary>
public readonly record struct AllocatorStats
{
    /// <summary>Blocks in use. Zero where it is not known: an <see cref="Arena"/> does not count.</summary>
    public ulong LiveCount { get; init; }

    /// <summary>Bytes in use, with what rounding adds.</summary>
    public ulong LiveBytes { get; init; }

    /// <summary>The most bytes ever in use, or taken into use, as the allocator can tell.</summary>
    public ulong PeakBytes { get; init; }

    /// <summary>Bytes taken from the system now: addresses, touched or not.</summary>
    public ulong ReservedBytes { get; init; }

    /// <summary>Big blocks taken from the system now.</summary>
    public ulong SourceBlocks { get; init; }

    internal static AllocatorStats From(in NativeAllocatorStats seen) => new()
    {
        LiveCount = seen.LiveCount,
        LiveBytes = seen.LiveBytes,
        PeakBytes = seen.PeakBytes,
        ReservedBytes = seen.ReservedBytes,
        SourceBlocks = seen.SourceBlocks,
    };
}
