// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>Objects of one type, constructed and freed by any thread, in any order.</summary>
/// <remarks>
/// <para><b>Use it for</b> objects that threads hand to each other: messages, jobs.
/// <b>Not for</b> objects that stay with one thread: <see cref="Pool{T}"/>.</para>
/// <para><b>Memory from</b> pages of the system, as <see cref="SharedBlockPool"/>. <b>Cost</b> a call, and O(1) in it.
/// <b>Overhead</b> none per object: they lie <c>sizeof(T)</c> apart; one bit per object and 1/64 of that, apart from
/// them.</para>
/// <para><b>Threads</b> any, also the free of an object whose allocating thread has ended; not during
/// <see cref="Clear"/>, <see cref="Trim"/> and <see cref="Dispose"/>. <b>When full</b> <see cref="TryAllocate"/> returns
/// null, the others throw <see cref="OutOfMemoryException"/>; nothing has changed then.</para>
/// <para>Its objects go with it, also when the garbage collector takes a pool that nobody disposed: keep it reachable
/// as long as they are used.</para>
/// </remarks>
/// <typeparam name="T">What they are: no references in it, so nothing is to be done at their end.</typeparam>
public sealed unsafe class SharedPool<T> : IDisposable
    where T : unmanaged
{
    private readonly SharedBlockPool _blocks;

    /// <summary>A pool that takes nothing from the system until the first object.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The type is larger than 256 MiB.</exception>
    /// <exception cref="OutOfMemoryException">The system refuses.</exception>
    /// <exception cref="TenureLoadException">There is no native library, or another version's.</exception>
    public SharedPool()
    {
        _blocks = new SharedBlockPool((nuint)sizeof(T), AlignmentOf<T>.Bytes, $"A shared pool of {typeof(T).Name}");
    }

    /// <summary>Takes memory for an object, not initialised.</summary>
    /// <returns>Memory valid until it is freed, or the pool is cleared or disposed.</returns>
    /// <exception cref="OutOfMemoryException">The system refuses; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public T* Allocate() => (T*)_blocks.Allocate();

    /// <summary>As <see cref="Allocate"/>, without an exception when it is refused.</summary>
    /// <returns>Null when refused, and then nothing has changed.</returns>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public T* TryAllocate() => (T*)_blocks.TryAllocate();

    /// <summary>Makes an object.</summary>
    /// <param name="value">What it is to be.</param>
    /// <returns>The object, valid until it is freed, or the pool is cleared or disposed.</returns>
    /// <exception cref="OutOfMemoryException">The system refuses; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public ref T Construct(in T value)
    {
        T* made = (T*)_blocks.Allocate();
        *made = value;
        return ref *made;
    }

    /// <summary>Gives an object's memory back. Null is allowed and does nothing.</summary>
    /// <param name="instance">Of this pool, and not freed since.</param>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public void Free(T* instance) => _blocks.Free(instance);

    /// <summary>Gives an object's memory back. A null reference is allowed and does nothing.</summary>
    /// <param name="instance">What <see cref="Construct"/> returned, and not a copy of it; not freed since.</param>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public void Free(ref T instance) => _blocks.Free(Unsafe.AsPointer(ref instance));

    /// <summary>Everything is free; pages are kept. No other thread uses the pool meanwhile.</summary>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public void Clear() => _blocks.Clear();

    /// <summary>Gives back empty segments, and the empty pages of others. No other thread uses the pool meanwhile. Cost
    /// a bit per object.</summary>
    /// <returns>The bytes given back: whole segments, touched or not, and pages.</returns>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public nuint Trim() => _blocks.Trim();

    /// <summary>Objects allocated now. Cost O(threads), with a lock; while other threads go on, as of some moment
    /// during the call.</summary>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public long Count => _blocks.Count;

    /// <summary>Its figures of now. Cost O(segments), with a lock.</summary>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public AllocatorStats Stats => _blocks.Stats;

    /// <summary>Gives every segment back, whatever is still allocated. A second time does nothing. No other thread uses
    /// the pool any more.</summary>
    public void Dispose() => _blocks.Dispose();
}
