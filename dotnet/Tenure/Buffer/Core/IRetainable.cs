// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

/// <summary>An object that can be held: while held, it cannot be freed.</summary>
public interface IRetainable
{
    /// <summary>Acquires one more hold.</summary>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    void Retain();

    /// <summary>Releases one hold.</summary>
    /// <returns>Always true.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="InvalidOperationException">All holds were already released.</exception>
    bool Release();
}
