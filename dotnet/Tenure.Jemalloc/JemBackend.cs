// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure;

/// <summary>The allocator that serves the calls of <see cref="Jem"/>.</summary>
public enum JemBackend
{
    /// <summary>jemalloc, which is the malloc of this process.</summary>
    Jemalloc,

    /// <summary>Tenure's own process heap: the process was not started on jemalloc.</summary>
    Tenure,
}
