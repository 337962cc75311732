// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure;

/// <summary>Statistics of an allocator.</summary>
public readonly record struct AllocatorStats
{
    /// <summary>Gets the number of blocks in use. Zero where the allocator does not count them, as
    /// <see cref="Arena"/>.</summary>
    public ulong LiveCount { get; init; }

    /// <summary>Gets the number of bytes in use, including rounding.</summary>
    public ulong LiveBytes { get; init; }

    /// <summary>Gets the largest number of bytes that were ever in use or ready for allocation at one time.</summary>
    public ulong PeakBytes { get; init; }

    /// <summary>Gets the number of bytes currently acquired from the system: address space, whether touched or
    /// not.</summary>
    public ulong ReservedBytes { get; init; }

    /// <summary>Gets the number of large blocks currently acquired from the system.</summary>
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
