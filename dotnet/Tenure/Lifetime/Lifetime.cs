// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System.Diagnostics.CodeAnalysis;

namespace Tenure;

/// <summary>How long memory is held.</summary>
[SuppressMessage("Design", "CA1028:Enum Storage should be Int32", Justification = "It is what the C ABI takes.")]
public enum Lifetime : uint
{
    /// <summary>Valid for this frame on this thread: freed at the end of its <see cref="TempScope"/>, reset or
    /// frame.</summary>
    Temp = 0,

    /// <summary>Valid for a few frames on any thread: freed by the last user.</summary>
    TempJob = 1,

    /// <summary>Valid until it is freed, on any thread: the process heap.</summary>
    Persistent = 2,
}
