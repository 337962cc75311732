// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure;

/// <summary>Usage of an <see cref="OffsetAllocator"/>, in its own unit.</summary>
public readonly record struct OffsetUsage
{
    /// <summary>Gets the capacity.</summary>
    public ulong Capacity { get; init; }

    /// <summary>Gets the total size of all free ranges.</summary>
    public ulong Free { get; init; }

    /// <summary>Gets the largest size that can be allocated at alignment 1.</summary>
    public ulong LargestFree { get; init; }

    /// <summary>Gets the total size of delayed deallocations, including those whose frame has passed, until
    /// <see cref="OffsetAllocator.Collect"/>.</summary>
    public ulong Waiting { get; init; }

    /// <summary>Gets the number of allocated ranges, including delayed deallocations.</summary>
    public ulong RangeCount { get; init; }

    /// <summary>Gets the number of free ranges; no two of them are adjacent.</summary>
    public ulong FreeCount { get; init; }

    /// <summary>Gets the number of bytes of memory used for records.</summary>
    public ulong RecordBytes { get; init; }

    /// <summary>Gets the share of the free space that is outside the largest free range: from 0, when the free space is
    /// one range, to below 1.</summary>
    public double Fragmentation => Free == 0 ? 0 : 1 - ((double)LargestFree / Free);
}
