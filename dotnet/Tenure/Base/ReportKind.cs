// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure;

/// <summary>The kind of a report.</summary>
public enum ReportKind
{
    /// <summary>Misuse by the caller: double free, foreign pointer, wrong thread. The process is aborted by
    /// default.</summary>
    Misuse = 0,

    /// <summary>A broken invariant, which is a bug in the library. The process is aborted by default.</summary>
    Invariant = 1,

    /// <summary>A block or object outlived its lifetime. The program continues.</summary>
    Leak = 2,

    /// <summary>A one-time notice, for example a budget that overflows while no frame ever ends.</summary>
    Notice = 3,
}
