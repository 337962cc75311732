// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure;

/// <summary>How an <see cref="AffinityGroup"/> is to be.</summary>
public sealed record AffinityGroupOptions
{
    /// <summary>What it is called in reports; up to 63 bytes of UTF-8 are kept.</summary>
    public string Name { get; init; } = "";

    /// <summary>Alignment of every object that asks for no more, in bytes: a power of two from 8 to 1024.</summary>
    public int Alignment { get; init; } = 8;

    /// <summary>Bytes taken from the system at a time: a power of two from 64 KiB to 1 GiB.</summary>
    public int BlockBytes { get; init; } = 2 << 20;

    /// <summary>Bytes of empty blocks that are kept; what is past it goes back at once. Null: all, until
    /// <see cref="AffinityGroup.Trim"/>.</summary>
    public ulong? MaxRetainedBytes { get; init; }

    /// <summary>Whether any thread may use the group, with a lock for what a thread does not find in what it
    /// has.</summary>
    public bool AnyThread { get; init; }

    /// <summary>Whether every free names the size; the group remembers none then.</summary>
    public bool SizesRequired { get; init; }

    /// <summary>Whether each size up to 512 bytes has pages of its own, in which none crosses a cache line without
    /// need; otherwise objects lie one after the other, as they were allocated.</summary>
    public bool SplitBySize { get; init; }
}
