// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>Allocates objects of one type, freed in any order.</summary>
/// <remarks>
/// <para><b>Use it for</b> many short-lived objects of one type: monsters, effects, nodes. <b>Not for</b> mixed types,
/// or objects that are all freed together: see <see cref="Arena"/>.</para>
/// <para><b>Memory from</b> pages of the system, as in <see cref="BlockPool"/>. <b>Cost</b> one native call, O(1).
/// <b>Overhead</b> none per object: objects are <c>sizeof(T)</c> apart; one bit per object plus 1/64 of that, stored
/// separately.</para>
/// <para><b>Threads</b> not thread-safe: see <see cref="SharedPool{T}"/>. <b>When full</b> <see cref="TryAllocate"/>
/// returns null and the others throw <see cref="OutOfMemoryException"/>; both leave everything unchanged.</para>
/// <para>The pool frees its objects, even when the garbage collector finalizes a pool that was not disposed. Keep the
/// pool reachable while its objects are used.</para>
/// </remarks>
/// <typeparam name="T">The object type. It contains no references, so no cleanup is needed when an object is
/// freed.</typeparam>
public sealed unsafe class Pool<T> : IDisposable
    where T : unmanaged
{
    private readonly BlockPool _blocks;

    /// <summary>Initializes a pool. It acquires no memory until the first object.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The type is larger than 256 MiB.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public Pool()
    {
        _blocks = new BlockPool((nuint)sizeof(T), AlignmentOf<T>.Bytes, $"A pool of {typeof(T).Name}");
    }

    /// <summary>Allocates uninitialized memory for one object.</summary>
    /// <returns>Memory valid until it is freed, or the pool is cleared or disposed.</returns>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public T* Allocate() => (T*)_blocks.Allocate();

    /// <summary>Allocates as <see cref="Allocate"/> does, but returns null instead of throwing when out of
    /// memory.</summary>
    /// <returns>The memory; null when out of memory, which changes nothing.</returns>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public T* TryAllocate() => (T*)_blocks.TryAllocate();

    /// <summary>Creates an object.</summary>
    /// <param name="value">The object's initial value.</param>
    /// <returns>The object, valid until it is freed, or the pool is cleared or disposed.</returns>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public ref T Construct(in T value)
    {
        T* made = (T*)_blocks.Allocate();
        *made = value;
        return ref *made;
    }

    /// <summary>Frees an object's memory. Null is allowed and does nothing.</summary>
    /// <param name="instance">An object of this pool, not freed since.</param>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public void Free(T* instance) => _blocks.Free(instance);

    /// <summary>Frees an object's memory. A null reference is allowed and does nothing.</summary>
    /// <param name="instance">The reference that <see cref="Construct"/> returned, not a copy of the object, and not
    /// freed since.</param>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public void Free(ref T instance) => _blocks.Free(Unsafe.AsPointer(ref instance));

    /// <summary>Frees everything and keeps the pages.</summary>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public void Clear() => _blocks.Clear();

    /// <summary>Returns empty segments, and the empty pages of other segments, to the system. Cost: one bit per
    /// object.</summary>
    /// <returns>The number of bytes returned: whole segments, touched or not, and pages.</returns>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public nuint Trim() => _blocks.Trim();

    /// <summary>Gets the number of objects allocated. Cost: O(1).</summary>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public long Count => _blocks.Count;

    /// <summary>Gets the current statistics. Cost: O(segments).</summary>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public AllocatorStats Stats => _blocks.Stats;

    /// <summary>Returns all segments to the system, including memory still allocated. A second call does
    /// nothing.</summary>
    public void Dispose() => _blocks.Dispose();
}
