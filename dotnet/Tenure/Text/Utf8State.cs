// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure;

/// <summary>Where a <see cref="Utf8Builder"/> stands. The memory is <see cref="Block"/>, or the span of the caller if
/// that is null.</summary>
internal unsafe struct Utf8State
{
    internal byte* Block;
    internal int Capacity;
    internal int Length; // of the text
    internal int Limit; // the capacity, or the length once something did not fit
    internal long MissedBytes; // that did not fit
    internal Utf8Growth Growth;
    internal Lifetime Lifetime; // of the block, if it grows
    internal uint ScopeDepth; // of the TempScope, if the lifetime is Temp
}

/// <summary>What happens when the memory of a <see cref="Utf8Builder"/> is full.</summary>
internal enum Utf8Growth : byte
{
    /// <summary>The text ends; what does not fit is counted.</summary>
    None,

    /// <summary>The block grows.</summary>
    Doubles,

    /// <summary>The builder was disposed of.</summary>
    Disposed,
}
