// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>A growable list whose elements do not move, and that lives as long as its <see cref="TempScope"/>. The
/// compiler ensures that neither the list nor a reference into it outlives the scope.</summary>
/// <remarks>
/// <para><b>Use it for</b> elements of one method that refer to each other: nodes, edges, jobs. <b>Not for</b> lists
/// that outlive the scope: see <see cref="NativeChunkedList{T}"/>.</para>
/// <para><b>Memory from</b> Temp, in chunks of equal size, 8 KiB by default. <b>Cost</b> Add: two compares and three
/// stores, without a managed allocation. <b>Overhead</b> 64 bytes, the unused rest of the last chunk, and 8 to 24 bytes
/// per chunk.</para>
/// <para><b>Threads</b> the thread of the scope: a ref struct cannot leave its stack. <b>When full</b> overflows as
/// Temp does; throws <see cref="OutOfMemoryException"/> if the system is out of memory, and leaves the elements
/// unchanged.</para>
/// <para>A copy is the same list: pass it by value. It has no Dispose; the end of the scope frees it. Use of a list
/// after an early <see cref="TempScope.Dispose"/>, or of a reference to a removed element, is not detected.</para>
/// <example><code>
/// using var scope = TempScope.Begin();
/// TempChunkedList&lt;Node&gt; nodes = scope.CreateChunkedList&lt;Node&gt;();
/// ref Node root = ref nodes.Add(new Node()); // valid however many nodes follow
/// </code></example>
/// </remarks>
/// <typeparam name="T">The type of the elements: any unmanaged type.</typeparam>
public readonly unsafe ref struct TempChunkedList<T>
    where T : unmanaged
{
    private readonly ChunkCore<T>* _core; // in Temp itself, so that copies are the same list
    private readonly TempScope _scope;

    internal TempChunkedList(TempScope scope, int chunkCapacity)
    {
        var core = (ChunkCore<T>*)scope.AllocateBytes((nuint)sizeof(ChunkCore<T>));
        *core = default;
        core->Start(chunkCapacity, Lifetime.Temp);
        _core = core;
        _scope = scope;
    }

    /// <summary>Gets the number of elements.</summary>
    /// <exception cref="ObjectDisposedException">The list is a default value.</exception>
    public long Count => Core->Count;

    /// <summary>Gets the number of elements that fit into the allocated chunks.</summary>
    /// <exception cref="ObjectDisposedException">The list is a default value.</exception>
    public long Capacity => Core->Capacity;

    /// <summary>Gets the number of elements per chunk, a power of two.</summary>
    /// <exception cref="ObjectDisposedException">The list is a default value.</exception>
    public int ChunkCapacity => Core->ChunkCapacity;

    /// <summary>Gets the number of chunks that have elements.</summary>
    /// <exception cref="ObjectDisposedException">The list is a default value.</exception>
    public long ChunkCount => Core->ChunkCount;

    /// <summary>Gets a reference to an element.</summary>
    /// <param name="index">The zero-based index of the element.</param>
    /// <returns>A reference to read and write, valid until the element is removed or the list is
    /// cleared.</returns>
    /// <exception cref="ObjectDisposedException">The list is a default value.</exception>
    /// <exception cref="IndexOutOfRangeException">The index is negative or not less than the count.</exception>
    public ref T this[long index]
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => ref Core->At(index);
    }

    /// <summary>Adds an element to the end.</summary>
    /// <param name="item">The element.</param>
    /// <returns>A reference to the added element, valid until it is removed or the list is
    /// cleared.</returns>
    /// <exception cref="ObjectDisposedException">The list is a default value.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    /// <exception cref="InvalidOperationException">The list needs memory, and a scope begun inside its own is still
    /// open; nothing has changed.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ref T Add(T item)
    {
        ChunkCore<T>* core = Core;
        if (!core->HasRoom)
        {
            MakeRoom(core);
        }
        return ref core->Append(item);
    }

    /// <summary>Adds elements to the end.</summary>
    /// <param name="items">The elements; they may be elements of this list.</param>
    /// <exception cref="ObjectDisposedException">The list is a default value.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory; no element was added.</exception>
    /// <exception cref="InvalidOperationException">The list needs memory, and a scope begun inside its own is still
    /// open; nothing has changed.</exception>
    public void AddRange(params ReadOnlySpan<T> items)
    {
        EnsureCapacity(Core->Count + items.Length);
        Core->AppendRange(items);
    }

    /// <summary>Gets the elements of a chunk, for loops at the speed of a span.</summary>
    /// <param name="index">The index of the chunk, less than <see cref="ChunkCount"/>.</param>
    /// <returns>The elements: all chunks but the last are full.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The index is negative or not less than the number of
    /// chunks.</exception>
    /// <exception cref="ObjectDisposedException">The list is a default value.</exception>
    public Span<T> Chunk(long index) => Core->Chunk(index);

    /// <summary>Removes the last element.</summary>
    /// <exception cref="InvalidOperationException">The list is empty.</exception>
    /// <exception cref="ObjectDisposedException">The list is a default value.</exception>
    public void RemoveLast() => Core->RemoveLast();

    /// <summary>Removes an element and copies the last one into its place. Cost: O(1).</summary>
    /// <param name="index">The index of the element.</param>
    /// <exception cref="ArgumentOutOfRangeException">The index is negative or not less than the count.</exception>
    /// <exception cref="ObjectDisposedException">The list is a default value.</exception>
    public void RemoveAtSwapBack(long index) => Core->RemoveAtSwapBack(index);

    /// <summary>Removes all elements and keeps the chunks.</summary>
    /// <exception cref="ObjectDisposedException">The list is a default value.</exception>
    public void Clear() => Core->Clear();

    /// <summary>Allocates chunks for at least a number of elements.</summary>
    /// <param name="capacity">The number of elements.</param>
    /// <exception cref="ArgumentOutOfRangeException">The capacity is negative.</exception>
    /// <exception cref="ObjectDisposedException">The list is a default value.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory; the elements are unchanged.</exception>
    /// <exception cref="InvalidOperationException">The list needs memory, and a scope begun inside its own is still
    /// open; nothing has changed.</exception>
    public void EnsureCapacity(long capacity)
    {
        ChunkCore<T>* core = Core;
        if (capacity > core->Capacity)
        {
            core = Growing;
        }
        core->EnsureCapacity(capacity);
    }

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
        private readonly TempChunkedList<T> _list;
        private long _index;

        internal Enumerator(TempChunkedList<T> list)
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

    private ChunkCore<T>* Core
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            if (_core == null)
            {
                CollectionMemory.ThrowNotCreated("TempChunkedList", "CreateChunkedList");
            }
            return _core;
        }
    }

    /// <summary>Gets the same for operations that allocate: only the innermost scope may.</summary>
    private ChunkCore<T>* Growing
    {
        get
        {
            ChunkCore<T>* core = Core;
            _scope.ThrowUnlessInnermost();
            return core;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void MakeRoom(ChunkCore<T>* core)
    {
        if (core->NeedsChunk)
        {
            core = Growing;
        }
        core->MakeRoom();
    }
}
