// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure;

/// <summary>Why a report is made.</summary>
public enum ReportKind
{
    /// <summary>The caller's mistake: double free, foreign pointer, wrong thread. By default the process is
    /// aborted.</summary>
    Misuse = 0,

    /// <summary>The library's mistake: a structure is torn. By default the process is aborted.</summary>
    Invariant = 1,

    /// <summary>Something outlived its lifetime; the program goes on.</summary>
    Leak = 2,

    /// <summary>Worth knowing once: a budget that overflows while no frame ever ends.</summary>
    Notice = 3,
}
