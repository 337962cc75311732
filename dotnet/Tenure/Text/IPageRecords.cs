// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure;

/// <summary>What a <see cref="PagedWriter"/> writes: the records of many objects.</summary>
public interface IPageRecords
{
    /// <summary>Writes one record. Calls for different pages run concurrently.</summary>
    /// <param name="text">The text to append to.</param>
    /// <param name="page">The index of the page.</param>
    /// <param name="index">The index of the object within the page.</param>
    void Write(ref Utf8Builder text, int page, int index);

    /// <summary>Gets the number of objects of a page, for <see cref="PagedWriter.WritePages"/> alone.</summary>
    /// <param name="page">The index of the page.</param>
    /// <returns>The number of objects.</returns>
    int CountOf(int page) => 0;
}
