// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Numerics;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>Elements in chunks that do not move: the fields and operations of <see cref="NativeChunkedList{T}"/> and
/// <see cref="TempChunkedList{T}"/>.</summary>
/// <remarks>
/// <code>
/// _chunks -> | chunk 0 | chunk 1 | chunk 2 | kept, empty |        a table that grows; it moves, the chunks do not
///                                     | elements | _cursor .. _limit |
/// </code>
/// </remarks>
internal unsafe struct ChunkCore<T>
    where T : unmanaged
{
    /// <summary>The default size of a chunk. It is a size class of the heap, and seven of them fit into a chunk of
    /// TempJob.</summary>
    private const int DefaultChunkBytes = 8 * 1024;

    private const int MaxChunkCapacity = 1 << 30;

    internal Lifetime Lifetime;
    private T* _cursor; // the place of the next element; equal to _limit when a chunk has to be found first
    private T* _limit;
    private T** _chunks;
    private long _count;
    private nint _chunkCount; // allocated chunks; those after the last element are empty
    private nint _room; // entries of the table
    private int _shift; // the capacity of a chunk is 1 << _shift; -1 after Dispose

    internal readonly bool IsDisposed => _shift < 0;

    internal readonly long Count
    {
        get
        {
            ThrowIfDisposed();
            return _count;
        }
    }

    internal readonly int ChunkCapacity
    {
        get
        {
            ThrowIfDisposed();
            return 1 << _shift;
        }
    }

    internal readonly long Capacity
    {
        get
        {
            ThrowIfDisposed();
            return (long)_chunkCount << _shift;
        }
    }

    /// <summary>Gets the number of chunks that have elements.</summary>
    internal readonly long ChunkCount
    {
        get
        {
            ThrowIfDisposed();
            return ChunksFor(_count);
        }
    }

    internal readonly bool HasRoom
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => _cursor != _limit;
    }

    /// <summary>Gets whether the next element needs a chunk that is not allocated.</summary>
    internal readonly bool NeedsChunk => _count == (long)_chunkCount << _shift;

    internal void Start(int chunkCapacity, Lifetime lifetime)
    {
        Throw.IfNegative(chunkCapacity);
        if (chunkCapacity > MaxChunkCapacity)
        {
            Throw.OutOfRange(nameof(chunkCapacity), chunkCapacity, $"A chunk has at most {MaxChunkCapacity} elements.");
        }
        Lifetime = lifetime;
        _shift = chunkCapacity == 0
            ? BitOperations.Log2((uint)Math.Max(1, DefaultChunkBytes / sizeof(T)))
            : BitOperations.Log2(BitOperations.RoundUpToPowerOf2((uint)chunkCapacity));
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal readonly ref T At(long index)
    {
        if ((ulong)index >= (ulong)_count)
        {
            ThrowIfDisposed();
            CollectionMemory.ThrowIndex(index, _count);
        }
        return ref _chunks[index >> _shift][index & ((1L << _shift) - 1)];
    }

    /// <summary>Requires <see cref="HasRoom"/>.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal ref T Append(T item)
    {
        T* place = _cursor;
        *place = item;
        _cursor = place + 1;
        _count++;
        return ref *place;
    }

    /// <summary>Finds or allocates the chunk of the next element.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    internal void MakeRoom()
    {
        ThrowIfDisposed();
        if (NeedsChunk)
        {
            AddChunk();
        }
        Seek();
    }

    internal void EnsureCapacity(long capacity)
    {
        Throw.IfNegative(capacity);
        ThrowIfDisposed();
        long chunks = ChunksFor(capacity);
        if (chunks > _room)
        {
            ResizeTable((nint)chunks);
        }
        while (_chunkCount < chunks)
        {
            AddChunk();
        }
    }

    /// <summary>Requires capacity for the values.</summary>
    internal void AppendRange(ReadOnlySpan<T> values)
    {
        while (values.Length != 0)
        {
            if (!HasRoom)
            {
                Seek();
            }
            int count = (int)Math.Min(values.Length, _limit - _cursor);
            values[..count].CopyTo(new Span<T>(_cursor, count));
            _cursor += count;
            _count += count;
            values = values[count..];
        }
    }

    internal readonly Span<T> Chunk(long index)
    {
        ThrowIfDisposed();
        if ((ulong)index >= (ulong)ChunksFor(_count))
        {
            throw new ArgumentOutOfRangeException(
                nameof(index), index, $"The index is out of range: {ChunksFor(_count)} chunks have elements.");
        }
        return new Span<T>(_chunks[index], (int)Math.Min(1L << _shift, _count - (index << _shift)));
    }

    internal void RemoveLast()
    {
        ThrowIfDisposed();
        if (_count == 0)
        {
            CollectionMemory.ThrowEmpty();
        }
        _count--;
        Seek();
    }

    internal void RemoveAtSwapBack(long index)
    {
        ThrowIfDisposed();
        if ((ulong)index >= (ulong)_count)
        {
            CollectionMemory.ThrowPosition(nameof(index), index, _count);
        }
        At(index) = At(_count - 1);
        _count--;
        Seek();
    }

    internal void Clear()
    {
        ThrowIfDisposed();
        _count = 0;
        Seek();
    }

    internal void TrimExcess()
    {
        ThrowIfDisposed();
        FreeChunksFrom((nint)ChunksFor(_count));
        Seek();
        if (_chunkCount == 0)
        {
            FreeTable();
        }
    }

    internal void Dispose()
    {
        if (!IsDisposed)
        {
            _count = 0;
            FreeChunksFrom(0);
            FreeTable();
            _cursor = _limit = null;
            _shift = -1;
        }
    }

    /// <summary>Gets whether the list holds memory.</summary>
    internal readonly bool HasMemory => _chunks != null;

    private readonly nuint ChunkBytes => (nuint)sizeof(T) << _shift;

    private readonly long ChunksFor(long count) => (count >> _shift) + ((count & ((1L << _shift) - 1)) != 0 ? 1 : 0);

    /// <summary>Points the cursor at the place of the next element, if its chunk is allocated.</summary>
    private void Seek()
    {
        nint chunk = (nint)(_count >> _shift);
        if (chunk >= _chunkCount)
        {
            _cursor = _limit = null;
            return;
        }
        _cursor = _chunks[chunk] + (_count & ((1L << _shift) - 1));
        _limit = _chunks[chunk] + (1L << _shift);
    }

    private void AddChunk()
    {
        if (_chunkCount == _room)
        {
            ResizeTable(_room == 0 ? 8 : _room * 2);
        }
        _chunks[_chunkCount] = (T*)Native.Allocate(ChunkBytes, Lifetime, CollectionMemory.AlignmentFor<T>());
        _chunkCount++;
    }

    private void ResizeTable(nint room)
    {
        nuint size = (nuint)sizeof(T*);
        nuint bytes = (nuint)room > nuint.MaxValue / size ? nuint.MaxValue : (nuint)room * size;
        _chunks = (T**)CollectionMemory.Resize(
            _chunks, (nuint)_room * size, bytes, (nuint)_chunkCount * size, Native.DefaultAlignment, Lifetime);
        _room = room;
    }

    private void FreeChunksFrom(nint first)
    {
        while (_chunkCount > first)
        {
            _chunkCount--;
            CollectionMemory.Free(_chunks[_chunkCount], ChunkBytes, Lifetime);
        }
    }

    private void FreeTable()
    {
        CollectionMemory.Free(_chunks, (nuint)_room * (nuint)sizeof(T*), Lifetime);
        _chunks = null;
        _room = 0;
    }

    internal readonly void ThrowIfDisposed()
    {
        if (IsDisposed)
        {
            Throw.Disposed("NativeChunkedList");
        }
    }
}
