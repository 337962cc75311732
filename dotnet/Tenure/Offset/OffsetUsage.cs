// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure;

/// <summary>Figures of an <see cref="OffsetAllocator"/>, in its own unit.</summary>
public readonly record struct OffsetUsage
{
    /// <summary>Where the room ends.</summary>
    public ulong Capacity { get; init; }

    /// <summary>In all free ranges.</summary>
    public ulong Free { get; init; }

    /// <summary>The largest allocation at alignment 1 that would not be refused.</summary>
    public ulong LargestFree { get; init; }

    /// <summary>Deallocated for a later frame; also one that has come, until
    /// <see cref="OffsetAllocator.Collect"/>.</summary>
    public ulong Waiting { get; init; }

    /// <summary>Ranges allocated, those that wait among them.</summary>
    public ulong RangeCount { get; init; }

    /// <summary>Free ranges; no two of them touch.</summary>
    public ulong FreeCount { get; init; }

    /// <summary>Bytes of memory taken for records.</summary>
    public ulong RecordBytes { get; init; }

    /// <summary>The part of the free room that is not in the largest free range: 0 when it is in one piece, below
    /// 1.</summary>
    public double Fragmentation => Free == 0 ? 0 : 1 - ((double)LargestFree / Free);
}
