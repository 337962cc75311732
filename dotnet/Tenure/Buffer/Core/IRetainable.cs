// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

/// <summary>What can be held, so that nobody frees it meanwhile.</summary>
public interface IRetainable
{
    /// <summary>Holds it once more.</summary>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    void Retain();

    /// <summary>No longer holds it.</summary>
    /// <returns>True.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="InvalidOperationException">It was released as often as it was acquired.</exception>
    bool Release();
}
