// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure;

/// <summary>Memory usage of one owner tag; see <see cref="Tag.Usage"/>.</summary>
public readonly record struct TagUsage
{
    /// <summary>Gets the number of process heap blocks in use. Exact while no thread allocates or frees.</summary>
    public ulong PersistentCount { get; init; }

    /// <summary>Gets the size of these blocks in bytes, including rounding.</summary>
    public ulong PersistentBytes { get; init; }

    /// <summary>Gets the number of live TempJob blocks.</summary>
    public ulong TempJobCount { get; init; }

    /// <summary>Gets the size of these blocks in bytes.</summary>
    public ulong TempJobBytes { get; init; }

    /// <summary>Gets the number of bytes ever allocated from Temp under this tag, less those that a free with a size
    /// took back. Updated at each thread's tag change, scope end, reset or overflow.</summary>
    public ulong TempBytes { get; init; }
}
