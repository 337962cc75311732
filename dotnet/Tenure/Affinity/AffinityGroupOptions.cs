// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure;

/// <summary>Options of an <see cref="AffinityGroup"/>.</summary>
public sealed record AffinityGroupOptions
{
    /// <summary>Gets the name in reports; up to 63 bytes of UTF-8 are kept.</summary>
    public string Name { get; init; } = "";

    /// <summary>Gets the minimum alignment of every object in bytes: a power of two from 8 to 1024.</summary>
    public int Alignment { get; init; } = 8;

    /// <summary>Gets the number of bytes acquired from the system at a time: a power of two from 64 KiB to 1
    /// GiB.</summary>
    public int BlockBytes { get; init; } = 2 << 20;

    /// <summary>Gets the maximum number of bytes retained in empty blocks; blocks beyond it are returned to the system
    /// immediately. Null retains all until <see cref="AffinityGroup.Trim"/>.</summary>
    public ulong? MaxRetainedBytes { get; init; }

    /// <summary>Gets a value indicating whether any thread may use the group. A thread takes a lock only when its own
    /// memory cannot serve a call.</summary>
    public bool AnyThread { get; init; }

    /// <summary>Gets a value indicating whether every free names the size. The group then stores no sizes.</summary>
    public bool SizesRequired { get; init; }

    /// <summary>Gets a value indicating whether each size up to 512 bytes has its own pages, where no object crosses a
    /// cache line unnecessarily. Otherwise objects are placed one after the other, in allocation order.</summary>
    public bool SplitBySize { get; init; }
}
