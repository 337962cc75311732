// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>A growable list of contiguous elements that lives as long as its <see cref="TempScope"/>. The compiler
/// ensures that neither the list nor a span of it outlives the scope.</summary>
/// <remarks>
/// <para><b>Use it for</b> a list inside one method: results that are collected, sorted and read. <b>Not for</b> lists
/// that outlive the scope: see <see cref="NativeList{T}"/>.</para>
/// <para><b>Memory from</b> Temp. <b>Cost</b> Add: two compares and two stores, without a managed allocation. A full
/// list doubles; it grows in place while it is the newest block of Temp, and otherwise moves and leaves its old block
/// to the end of the scope. <b>Overhead</b> 32 bytes, the unused capacity, and the blocks left behind.</para>
/// <para><b>Threads</b> the thread of the scope: a ref struct cannot leave its stack. <b>When full</b> overflows as
/// Temp does; throws <see cref="OutOfMemoryException"/> if the system is out of memory, and leaves the list
/// unchanged.</para>
/// <para>A copy is the same list: pass it by value. It has no Dispose; the end of the scope frees it. Use of a list
/// after an early <see cref="TempScope.Dispose"/>, or of a span after the list grew, is not detected.</para>
/// <example><code>
/// using var scope = TempScope.Begin();
/// TempList&lt;int&gt; hits = scope.CreateList&lt;int&gt;();
/// hits.Add(3);
/// </code></example>
/// </remarks>
/// <typeparam name="T">The type of the elements: any unmanaged type.</typeparam>
public readonly unsafe ref struct TempList<T>
    where T : unmanaged
{
    private readonly ListCore<T>* _core; // in Temp itself, so that copies are the same list
    private readonly TempScope _scope;

    internal TempList(TempScope scope, int capacity)
    {
        Throw.IfNegative(capacity);
        var core = (ListCore<T>*)scope.AllocateBytes((nuint)sizeof(ListCore<T>));
        *core = default;
        core->Start(capacity, Lifetime.Temp);
        _core = core;
        _scope = scope;
    }

    /// <summary>Gets the number of elements.</summary>
    /// <exception cref="ObjectDisposedException">The list is a default value.</exception>
    public int Count
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => Core->Count;
    }

    /// <summary>Gets the number of elements that fit without growing.</summary>
    /// <exception cref="ObjectDisposedException">The list is a default value.</exception>
    public int Capacity => Core->Capacity;

    /// <summary>Gets a reference to an element.</summary>
    /// <param name="index">The zero-based index of the element.</param>
    /// <returns>A reference to read and write, valid until the list grows or the scope ends.</returns>
    /// <exception cref="ObjectDisposedException">The list is a default value.</exception>
    /// <exception cref="IndexOutOfRangeException">The index is negative or not less than the count.</exception>
    public ref T this[int index]
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => ref Core->At(index);
    }

    /// <summary>Adds an element to the end.</summary>
    /// <param name="item">The element.</param>
    /// <exception cref="ObjectDisposedException">The list is a default value.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory, or the list has 2^31 - 1 elements; nothing
    /// has changed.</exception>
    /// <exception cref="InvalidOperationException">The list needs memory, and a scope begun inside its own is still
    /// open; nothing has changed.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Add(T item)
    {
        ListCore<T>* core = Core;
        if (core->Count >= core->Capacity)
        {
            Growing->Grow((long)core->Count + 1);
        }
        core->Append(item);
    }

    /// <summary>Adds elements to the end.</summary>
    /// <param name="items">The elements; they may be elements of this list.</param>
    /// <exception cref="ObjectDisposedException">The list is a default value.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory, or the list would have more than 2^31 - 1
    /// elements; nothing has changed.</exception>
    /// <exception cref="InvalidOperationException">The list needs memory, and a scope begun inside its own is still
    /// open; nothing has changed.</exception>
    public void AddRange(params ReadOnlySpan<T> items)
    {
        nint moved = items.Length > Core->Capacity - Core->Count ? Growing->GrowFor(items) : 0;
        Core->AppendRange(items, moved);
    }

    /// <summary>Adds uninitialized elements to the end, for code that writes them directly.</summary>
    /// <param name="count">The number of elements.</param>
    /// <returns>The added elements, valid until the list grows or the scope ends. Write all of them.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The count is negative.</exception>
    /// <exception cref="ObjectDisposedException">The list is a default value.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory, or the list would have more than 2^31 - 1
    /// elements; nothing has changed.</exception>
    /// <exception cref="InvalidOperationException">The list needs memory, and a scope begun inside its own is still
    /// open; nothing has changed.</exception>
    public Span<T> AddUninitialized(int count)
    {
        Throw.IfNegative(count);
        if (count > Core->Capacity - Core->Count)
        {
            Growing->Grow((long)Core->Count + count);
        }
        return Core->AppendUninitialized(count);
    }

    /// <summary>Inserts an element. Cost: O(elements after it).</summary>
    /// <param name="index">The index of the new element, 0 to <see cref="Count"/>.</param>
    /// <param name="item">The element.</param>
    /// <exception cref="ArgumentOutOfRangeException">The index is negative or greater than the count.</exception>
    /// <exception cref="ObjectDisposedException">The list is a default value.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory, or the list has 2^31 - 1 elements; nothing
    /// has changed.</exception>
    /// <exception cref="InvalidOperationException">The list needs memory, and a scope begun inside its own is still
    /// open; nothing has changed.</exception>
    public void Insert(int index, T item)
    {
        Core->ThrowUnlessPosition(index);
        if (Core->Count >= Core->Capacity)
        {
            Growing->Grow((long)Core->Count + 1);
        }
        Core->Insert(index, item);
    }

    /// <summary>Removes an element and keeps the order of the others. Cost: O(elements after it).</summary>
    /// <param name="index">The index of the element.</param>
    /// <exception cref="ArgumentOutOfRangeException">The index is negative or not less than the count.</exception>
    /// <exception cref="ObjectDisposedException">The list is a default value.</exception>
    public void RemoveAt(int index) => Core->RemoveAt(index);

    /// <summary>Removes an element and moves the last one into its place. Cost: O(1).</summary>
    /// <param name="index">The index of the element.</param>
    /// <exception cref="ArgumentOutOfRangeException">The index is negative or not less than the count.</exception>
    /// <exception cref="ObjectDisposedException">The list is a default value.</exception>
    public void RemoveAtSwapBack(int index) => Core->RemoveAtSwapBack(index);

    /// <summary>Removes all elements and keeps the capacity.</summary>
    /// <exception cref="ObjectDisposedException">The list is a default value.</exception>
    public void Clear() => Core->Clear();

    /// <summary>Raises the capacity to at least a number of elements.</summary>
    /// <param name="capacity">The number of elements.</param>
    /// <exception cref="ArgumentOutOfRangeException">The capacity is negative.</exception>
    /// <exception cref="ObjectDisposedException">The list is a default value.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    /// <exception cref="InvalidOperationException">The list needs memory, and a scope begun inside its own is still
    /// open; nothing has changed.</exception>
    public void EnsureCapacity(int capacity)
    {
        ListCore<T>* core = Core;
        if (capacity > core->Capacity)
        {
            core = Growing;
        }
        core->EnsureCapacity(capacity);
    }

    /// <summary>Gets the elements as a span.</summary>
    /// <returns>The elements, valid until the list grows or the scope ends.</returns>
    /// <exception cref="ObjectDisposedException">The list is a default value.</exception>
    public Span<T> AsSpan() => Core->Span;

    /// <summary>Enumerates the elements by reference. The loop may add and remove elements: it visits each index below
    /// the current count.</summary>
    /// <returns>The enumerator for <c>foreach</c>. It allocates nothing.</returns>
    /// <exception cref="ObjectDisposedException">The list is a default value.</exception>
    public Enumerator GetEnumerator()
    {
        _ = Core;
        return new Enumerator(this);
    }

    /// <summary>Enumerates a list by reference.</summary>
    public ref struct Enumerator
    {
        private readonly TempList<T> _list;
        private int _index;

        internal Enumerator(TempList<T> list)
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
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public bool MoveNext() => ++_index < _list.Count;
    }

    private ListCore<T>* Core
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            if (_core == null)
            {
                CollectionMemory.ThrowNotCreated("TempList", "CreateList");
            }
            return _core;
        }
    }

    /// <summary>Gets the same for operations that allocate: only the innermost scope may.</summary>
    private ListCore<T>* Growing
    {
        get
        {
            ListCore<T>* core = Core;
            _scope.ThrowUnlessInnermost();
            return core;
        }
    }
}
