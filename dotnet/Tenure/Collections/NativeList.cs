// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>A growable list of contiguous elements in native memory.</summary>
/// <remarks>
/// <para><b>Use it for</b> elements that are added one by one and read as one span. <b>Not for</b> elements whose
/// addresses must stay valid: see <see cref="NativeChunkedList{T}"/>; lists inside one method: see
/// <see cref="TempScope.CreateList{T}"/>.</para>
/// <para><b>Memory from</b> the lifetime given to the constructor: <see cref="Lifetime.Persistent"/>, or
/// <see cref="Lifetime.TempJob"/> for a list of a few frames. <b>Cost</b> Add: a compare and two stores, without a
/// managed allocation; a full list doubles, with a copy unless it is persistent and larger than 31 MiB. <b>Overhead</b>
/// the unused capacity.</para>
/// <para><b>Threads</b> any thread, one at a time. <b>When full</b> throws <see cref="OutOfMemoryException"/> and
/// leaves the list unchanged.</para>
/// <para>Spans and references are valid until the list grows, shrinks or is disposed; use of one after that is not
/// detected. Keep the list reachable while they are used. To search or sort, use the span methods on
/// <see cref="AsSpan"/>.</para>
/// <para>Dispose the list. A list of TempJob that was not disposed is reported as every block of TempJob: at the first
/// frame after its frames. The garbage collector frees a persistent list that was not disposed, and checked builds of
/// the native library report it.</para>
/// </remarks>
/// <typeparam name="T">The type of the elements: any unmanaged type.</typeparam>
public sealed unsafe class NativeList<T> : IDisposable
    where T : unmanaged
{
    private ListCore<T> _core;

    /// <summary>Initializes an empty list.</summary>
    /// <param name="capacity">The number of elements that fit without growing. Zero acquires no memory.</param>
    /// <param name="lifetime">How long the elements are held: Persistent or TempJob.</param>
    /// <exception cref="ArgumentOutOfRangeException">The capacity is negative, or the lifetime is not
    /// valid.</exception>
    /// <exception cref="ArgumentException">The lifetime is Temp; use <see cref="TempScope.CreateList{T}"/>.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public NativeList(int capacity = 0, Lifetime lifetime = Lifetime.Persistent)
    {
        CollectionMemory.UnlessHeld(lifetime, "Create the list with TempScope.CreateList.");
        NativeLibraryCheck.Ensure();
        if (lifetime != Lifetime.Persistent)
        {
            GC.SuppressFinalize(this); // TempJob reports its block
        }
        _core.Start(capacity, lifetime);
    }

    /// <summary>Frees the elements of a persistent list that was not disposed.</summary>
    ~NativeList()
    {
        if (_core.Items != null)
        {
            Reports.TellLeakedOwner($"A NativeList<{typeof(T).Name}>");
            _core.Dispose();
        }
    }

    /// <summary>Gets the number of elements.</summary>
    /// <exception cref="ObjectDisposedException">The list is disposed.</exception>
    public int Count
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            _core.ThrowIfDisposed();
            return _core.Count;
        }
    }

    /// <summary>Gets the number of elements that fit without growing.</summary>
    /// <exception cref="ObjectDisposedException">The list is disposed.</exception>
    public int Capacity
    {
        get
        {
            _core.ThrowIfDisposed();
            return _core.Capacity;
        }
    }

    /// <summary>Gets the lifetime of the elements.</summary>
    public Lifetime Lifetime => _core.Lifetime;

    /// <summary>Gets a reference to an element.</summary>
    /// <param name="index">The zero-based index of the element.</param>
    /// <returns>A reference to read and write, valid until the list grows, shrinks or is disposed.</returns>
    /// <exception cref="ObjectDisposedException">The list is disposed.</exception>
    /// <exception cref="IndexOutOfRangeException">The index is negative or not less than the count.</exception>
    public ref T this[int index]
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => ref _core.At(index);
    }

    /// <summary>Adds an element to the end.</summary>
    /// <param name="item">The element.</param>
    /// <exception cref="ObjectDisposedException">The list is disposed.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory, or the list has 2^31 - 1 elements; nothing
    /// has changed.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Add(T item)
    {
        if (_core.Count >= _core.Capacity)
        {
            _core.Grow((long)_core.Count + 1);
        }
        _core.Append(item);
        GC.KeepAlive(this);
    }

    /// <summary>Adds elements to the end.</summary>
    /// <param name="items">The elements; they may be elements of this list.</param>
    /// <exception cref="ObjectDisposedException">The list is disposed.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory, or the list would have more than 2^31 - 1
    /// elements; nothing has changed.</exception>
    public void AddRange(params ReadOnlySpan<T> items)
    {
        nint moved = items.Length > _core.Capacity - _core.Count ? _core.GrowFor(items) : 0;
        _core.AppendRange(items, moved);
        GC.KeepAlive(this);
    }

    /// <summary>Adds uninitialized elements to the end, for code that writes them directly.</summary>
    /// <param name="count">The number of elements.</param>
    /// <returns>The added elements, valid until the list grows, shrinks or is disposed. Write all of them.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The count is negative.</exception>
    /// <exception cref="ObjectDisposedException">The list is disposed.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory, or the list would have more than 2^31 - 1
    /// elements; nothing has changed.</exception>
    public Span<T> AddUninitialized(int count)
    {
        Throw.IfNegative(count);
        if (count > _core.Capacity - _core.Count)
        {
            _core.Grow((long)_core.Count + count);
        }
        Span<T> added = _core.AppendUninitialized(count);
        GC.KeepAlive(this);
        return added;
    }

    /// <summary>Inserts an element. Cost: O(elements after it).</summary>
    /// <param name="index">The index of the new element, 0 to <see cref="Count"/>.</param>
    /// <param name="item">The element.</param>
    /// <exception cref="ArgumentOutOfRangeException">The index is negative or greater than the count.</exception>
    /// <exception cref="ObjectDisposedException">The list is disposed.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory, or the list has 2^31 - 1 elements; nothing
    /// has changed.</exception>
    public void Insert(int index, T item)
    {
        _core.ThrowUnlessPosition(index);
        if (_core.Count >= _core.Capacity)
        {
            _core.Grow((long)_core.Count + 1);
        }
        _core.Insert(index, item);
        GC.KeepAlive(this);
    }

    /// <summary>Removes an element and keeps the order of the others. Cost: O(elements after it).</summary>
    /// <param name="index">The index of the element.</param>
    /// <exception cref="ArgumentOutOfRangeException">The index is negative or not less than the count.</exception>
    /// <exception cref="ObjectDisposedException">The list is disposed.</exception>
    public void RemoveAt(int index)
    {
        _core.RemoveAt(index);
        GC.KeepAlive(this);
    }

    /// <summary>Removes an element and moves the last one into its place. Cost: O(1).</summary>
    /// <param name="index">The index of the element.</param>
    /// <exception cref="ArgumentOutOfRangeException">The index is negative or not less than the count.</exception>
    /// <exception cref="ObjectDisposedException">The list is disposed.</exception>
    public void RemoveAtSwapBack(int index)
    {
        _core.RemoveAtSwapBack(index);
        GC.KeepAlive(this);
    }

    /// <summary>Removes all elements and keeps the capacity.</summary>
    /// <exception cref="ObjectDisposedException">The list is disposed.</exception>
    public void Clear() => _core.Clear();

    /// <summary>Raises the capacity to at least a number of elements.</summary>
    /// <param name="capacity">The number of elements.</param>
    /// <exception cref="ArgumentOutOfRangeException">The capacity is negative.</exception>
    /// <exception cref="ObjectDisposedException">The list is disposed.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    public void EnsureCapacity(int capacity)
    {
        _core.EnsureCapacity(capacity);
        GC.KeepAlive(this);
    }

    /// <summary>Reduces the capacity to the count. An empty list frees its memory.</summary>
    /// <exception cref="ObjectDisposedException">The list is disposed.</exception>
    /// <exception cref="OutOfMemoryException">There is no memory for the smaller block; nothing has
    /// changed.</exception>
    public void TrimExcess()
    {
        _core.TrimExcess();
        GC.KeepAlive(this);
    }

    /// <summary>Gets the elements as a span.</summary>
    /// <returns>The elements, valid until the list grows, shrinks or is disposed.</returns>
    /// <exception cref="ObjectDisposedException">The list is disposed.</exception>
    public Span<T> AsSpan()
    {
        _core.ThrowIfDisposed();
        return _core.Span;
    }

    /// <summary>Enumerates the elements by reference. The loop may add and remove elements: it visits each index below
    /// the current count.</summary>
    /// <returns>The enumerator for <c>foreach</c>. It allocates nothing.</returns>
    /// <exception cref="ObjectDisposedException">The list is disposed.</exception>
    public Enumerator GetEnumerator()
    {
        _core.ThrowIfDisposed();
        return new Enumerator(this);
    }

    /// <summary>Frees the elements. A second call does nothing.</summary>
    public void Dispose()
    {
        _core.Dispose();
        GC.SuppressFinalize(this);
    }

    /// <summary>Enumerates a list by reference.</summary>
    public ref struct Enumerator
    {
        private readonly NativeList<T> _list;
        private int _index;

        internal Enumerator(NativeList<T> list)
        {
            _list = list;
            _index = -1;
        }

        /// <summary>Gets a reference to the current element. Requires that the last <see cref="MoveNext"/> returned
        /// true.</summary>
        public readonly ref T Current
        {
            [MethodImpl(MethodImplOptions.AggressiveInlining)]
            get => ref _list[_index];
        }

        /// <summary>Advances to the next element.</summary>
        /// <returns>False when there are no more.</returns>
        /// <exception cref="ObjectDisposedException">The list is disposed.</exception>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public bool MoveNext() => ++_index < _list.Count;
    }
}
