// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure;

/// <summary>The allocator that serves the calls of <see cref="Jem"/>.</summary>
public enum JemBackend
{
    /// <summary>jemalloc: the malloc of this process, or the jemalloc in this package.</summary>
    Jemalloc,

    /// <summary>Tenure's own process heap: there is no jemalloc.</summary>
    Tenure,
}
