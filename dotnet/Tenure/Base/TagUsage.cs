// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure;

/// <summary>What the blocks of one owner tag amount to: <see cref="Tag.Usage"/>.</summary>
public readonly record struct TagUsage
{
    /// <summary>Blocks in use of the process heap; exact when no thread is at work.</summary>
    public ulong PersistentCount { get; init; }

    /// <summary>Their bytes, with what rounding adds.</summary>
    public ulong PersistentBytes { get; init; }

    /// <summary>Blocks alive in TempJob.</summary>
    public ulong TempJobCount { get; init; }

    /// <summary>Their bytes.</summary>
    public ulong TempJobBytes { get; init; }

    /// <summary>Bytes ever allocated from Temp under the tag and not taken back by a free that names its size, as of
    /// each thread's last change of tag, scope end, reset or overflow.</summary>
    public ulong TempBytes { get; init; }
}
