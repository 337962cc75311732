// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>A key as numbers. No jemalloc key has more parts.</summary>
[InlineArray(MaxParts)]
internal struct MallCtlMib
{
    internal const int MaxParts = 7;

#pragma warning disable IDE0044, IDE0051, CA1823 // the single field of an inline array
    private nuint _first;
#pragma warning restore IDE0044, IDE0051, CA1823
}
