// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>A growable list in native memory whose elements do not move: references and pointers to them stay valid
/// while the list grows.</summary>
/// <remarks>
/// <para><b>Use it for</b> elements that others refer to, and lists too large to be copied when they grow. <b>Not
/// for</b> elements that must be one span: see <see cref="NativeList{T}"/>; lists inside one method: see
/// <see cref="TempScope.CreateChunkedList{T}"/>.</para>
/// <para><b>Memory from</b> the lifetime given to the constructor: <see cref="Lifetime.Persistent"/>, or
/// <see cref="Lifetime.TempJob"/> for a list of a few frames; in chunks of equal size, 8 KiB by default. <b>Cost</b>
/// Add: a compare and three stores, without a managed allocation; an indexer reads the chunk's address first, O(1).
/// The chunks' spans are the fastest to loop over. <b>Overhead</b> the unused rest of the last chunk, and 8 to 16 bytes
/// per chunk.</para>
/// <para><b>Threads</b> any thread, one at a time. <b>When full</b> throws <see cref="OutOfMemoryException"/> and
/// leaves the elements unchanged.</para>
/// <para>References and spans are valid until their element is removed or the list is cleared or disposed; use of one
/// after that is not detected. Keep the list reachable while they are used.</para>
/// <para>Dispose the list. A list of TempJob that was not disposed is reported as every block of TempJob: at the first
/// frame after its frames. The garbage collector frees a persistent list that was not disposed, and checked builds of
/// the native library report it.</para>
/// <example><code>
/// using var nodes = new NativeChunkedList&lt;Node&gt;();
/// ref Node root = ref nodes.Add(new Node()); // valid however many nodes follow
/// </code></example>
/// </remarks>
/// <typeparam name="T">The type of the elements: any unmanaged type.</typeparam>
public sealed unsafe class NativeChunkedList<T> : IDisposable
    where T : unmanaged
{
    private ChunkCore<T> _core;

    /// <summary>Initializes an empty list. It acquires no memory until the first element.</summary>
    /// <param name="chunkCapacity">The number of elements per chunk, rounded up to a power of two, at most 2^30. Zero
    /// means chunks of 8 KiB, or of one element if that is larger.</param>
    /// <param name="lifetime">How long the elements are held: Persistent or TempJob.</param>
    /// <exception cref="ArgumentOutOfRangeException">The chunk capacity is out of range, or the lifetime is not
    /// valid.</exception>
    /// <exception cref="ArgumentException">The lifetime is Temp; use
    /// <see cref="TempScope.CreateChunkedList{T}"/>.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public NativeChunkedList(int chunkCapacity = 0, Lifetime lifetime = Lifetime.Persistent)
    {
        CollectionMemory.UnlessHeld(lifetime, "Create the list with TempScope.CreateChunkedList.");
        NativeLibraryCheck.Ensure();
        if (lifetime != Lifetime.Persistent)
        {
            GC.SuppressFinalize(this); // TempJob reports its blocks
        }
        _core.Start(chunkCapacity, lifetime);
    }

    /// <summary>Frees the elements of a persistent list that was not disposed.</summary>
    ~NativeChunkedList()
    {
        if (_core.HasMemory)
        {
            Reports.TellLeakedOwner($"A NativeChunkedList<{typeof(T).Name}>");
            _core.Dispose();
        }
    }

    /// <summary>Gets the number of elements.</summary>
    /// <exception cref="ObjectDisposedException">The list is disposed.</exception>
    public long Count => _core.Count;

    /// <summary>Gets the number of elements that fit into the allocated chunks.</summary>
    /// <exception cref="ObjectDisposedException">The list is disposed.</exception>
    public long Capacity => _core.Capacity;

    /// <summary>Gets the number of elements per chunk, a power of two.</summary>
    /// <exception cref="ObjectDisposedException">The list is disposed.</exception>
    public int ChunkCapacity => _core.ChunkCapacity;

    /// <summary>Gets the number of chunks that have elements.</summary>
    /// <exception cref="ObjectDisposedException">The list is disposed.</exception>
    public long ChunkCount => _core.ChunkCount;

    /// <summary>Gets the lifetime of the elements.</summary>
    public Lifetime Lifetime => _core.Lifetime;

    /// <summary>Gets a reference to an element.</summary>
    /// <param name="index">The zero-based index of the element.</param>
    /// <returns>A reference to read and write, valid until the element is removed or the list is cleared or
    /// disposed.</returns>
    /// <exception cref="ObjectDisposedException">The list is disposed.</exception>
    /// <exception cref="IndexOutOfRangeException">The index is negative or not less than the count.</exception>
    public ref T this[long index]
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => ref _core.At(index);
    }

    /// <summary>Adds an element to the end.</summary>
    /// <param name="item">The element.</param>
    /// <returns>A reference to the added element, valid until it is removed or the list is cleared or
    /// disposed.</returns>
    /// <exception cref="ObjectDisposedException">The list is disposed.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ref T Add(T item)
    {
        if (!_core.HasRoom)
        {
            _core.MakeRoom();
        }
        ref T added = ref _core.Append(item);
        GC.KeepAlive(this);
        return ref added;
    }

    /// <summary>Adds elements to the end.</summary>
    /// <param name="items">The elements; they may be elements of this list.</param>
    /// <exception cref="ObjectDisposedException">The list is disposed.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory; no element was added.</exception>
    public void AddRange(params ReadOnlySpan<T> items)
    {
        _core.EnsureCapacity(_core.Count + items.Length);
        _core.AppendRange(items);
        GC.KeepAlive(this);
    }

    /// <summary>Gets the elements of a chunk, for loops at the speed of a span.</summary>
    /// <param name="index">The index of the chunk, less than <see cref="ChunkCount"/>.</param>
    /// <returns>The elements: all chunks but the last are full.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The index is negative or not less than the number of
    /// chunks.</exception>
    /// <exception cref="ObjectDisposedException">The list is disposed.</exception>
    public Span<T> Chunk(long index) => _core.Chunk(index);

    /// <summary>Removes the last element.</summary>
    /// <exception cref="InvalidOperationException">The list is empty.</exception>
    /// <exception cref="ObjectDisposedException">The list is disposed.</exception>
    public void RemoveLast()
    {
        _core.RemoveLast();
        GC.KeepAlive(this);
    }

    /// <summary>Removes an element and copies the last one into its place. Cost: O(1).</summary>
    /// <param name="index">The index of the element.</param>
    /// <exception cref="ArgumentOutOfRangeException">The index is negative or not less than the count.</exception>
    /// <exception cref="ObjectDisposedException">The list is disposed.</exception>
    public void RemoveAtSwapBack(long index)
    {
        _core.RemoveAtSwapBack(index);
        GC.KeepAlive(this);
    }

    /// <summary>Removes all elements and keeps the chunks.</summary>
    /// <exception cref="ObjectDisposedException">The list is disposed.</exception>
    public void Clear()
    {
        _core.Clear();
        GC.KeepAlive(this);
    }

    /// <summary>Allocates chunks for at least a number of elements.</summary>
    /// <param name="capacity">The number of elements.</param>
    /// <exception cref="ArgumentOutOfRangeException">The capacity is negative.</exception>
    /// <exception cref="ObjectDisposedException">The list is disposed.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory; the elements are unchanged.</exception>
    public void EnsureCapacity(long capacity)
    {
        _core.EnsureCapacity(capacity);
        GC.KeepAlive(this);
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

    /// <summary>Returns the chunks behind the last element to the lifetime.</summary>
    /// <exception cref="ObjectDisposedException">The list is disposed.</exception>
    public void TrimExcess()
    {
        _core.TrimExcess();
        GC.KeepAlive(this);
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
        private readonly NativeChunkedList<T> _list;
        private long _index;

        internal Enumerator(NativeChunkedList<T> list)
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
