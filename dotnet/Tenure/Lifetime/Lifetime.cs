// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System.Diagnostics.CodeAnalysis;

namespace Tenure;

/// <summary>How long memory is held.</summary>
[SuppressMessage("Design", "CA1028:Enum Storage should be Int32", Justification = "It is what the C ABI takes.")]
public enum Lifetime : uint
{
    /// <summary>This frame, this thread: gone at the end of its <see cref="TempScope"/>, reset or frame.</summary>
    Temp = 0,

    /// <summary>A few frames, any thread: freed by whoever is done with it.</summary>
    TempJob = 1,

    /// <summary>Until it is freed, any thread: the process heap.</summary>
    Persistent = 2,
}
