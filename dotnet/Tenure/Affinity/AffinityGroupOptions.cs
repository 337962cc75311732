// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure;

/// <summary>Options of an <see cref="AffinityGroup"/>.</summary>
public sealed record AffinityGroupOptions
{
    /// <summary>Gets the name in reports; up to 63 bytes of UTF-8 are kept.</summary>
    public string Name { get; init; } = "";

    /// <summary>Gets the minimum alignment of every object in bytes: a power of two from 4 to 1024. Null is the default:
    /// 16 for <see cref="AffinityGroup.Data"/> and <see cref="AffinityGroup.Physics"/>, 8 for other groups.</summary>
    public int? Alignment { get; init; }

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

    /// <summary>Gets a value indicating whether each size up to 512 bytes (256 at an alignment of 4) has its own pages,
    /// where no object crosses a cache line unnecessarily. Otherwise objects are placed one after the other, in allocation order.</summary>
    public bool SplitBySize { get; init; }

    /// <summary>Gets a value indicating whether the group requests pages of 2 MiB, which the system may refuse. They need
    /// fewer page faults and TLB entries; memory is taken in steps of 2 MiB.</summary>
    public bool HugePages { get; init; }
}
