// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

/// <summary>The first record, by page and object, that was longer than its bound.</summary>
/// <param name="Page">The index of the page.</param>
/// <param name="Index">The index of the object within the page.</param>
/// <param name="NeededBytes">The size of the record.</param>
/// <param name="BoundBytes">The number of bytes reserved for a record.</param>
public readonly record struct PageError(int Page, int Index, long NeededBytes, int BoundBytes)
{
    /// <summary>Describes the error in a sentence.</summary>
    /// <returns>The sentence.</returns>
    public override string ToString() => FormattableString.Invariant(
        $"Object {Index} of page {Page} needs {NeededBytes} bytes, more than the bound of {BoundBytes} bytes. Reserve more bytes per object.");
}
