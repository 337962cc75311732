// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

/// <summary>What a <see cref="PagedWriter"/> writes: the records of many objects.</summary>
public interface IPageRecords
{
    /// <summary>Writes one record. Calls for different pages run concurrently.</summary>
    /// <param name="text">The text to append to. Append to it, not to a copy: text in a copy is lost, and the record is
    /// empty.</param>
    /// <param name="page">The index of the page.</param>
    /// <param name="index">The index of the object within the page.</param>
    void Write(ref Utf8Builder text, int page, int index);

    /// <summary>Gets the number of objects of a page. Only <see cref="PagedWriter.WritePages"/> calls it; implement it
    /// for that.</summary>
    /// <param name="page">The index of the page.</param>
    /// <returns>The number of objects.</returns>
    /// <exception cref="NotSupportedException">The type does not implement it.</exception>
    int CountOf(int page) => throw new NotSupportedException(
        $"{GetType()} does not implement IPageRecords.CountOf, which WritePages calls. Implement it, or call Write with the number of objects.");
}
