// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure;

/// <summary>Names an object of a <see cref="HandlePool{T}"/>. It is stale once the object is freed, also after another
/// object has taken its place, and other pools refuse it. The default value names no object.</summary>
/// <typeparam name="T">The object type.</typeparam>
/// <param name="Bits">The handle as one number, for physics engines, scripts and files; zero names no object. Any number
/// is safe to look up.</param>
public readonly record struct PoolHandle<T>(ulong Bits)
    where T : unmanaged
{
    /// <summary>Gets whether this is the default value, which names no object.</summary>
    public bool IsNull => Bits == 0;
}
