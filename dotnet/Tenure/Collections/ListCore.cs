// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>A growable block of elements: the fields and operations of <see cref="NativeList{T}"/> and
/// <see cref="TempList{T}"/>.</summary>
internal unsafe struct ListCore<T>
    where T : unmanaged
{
    internal T* Items; // null without capacity
    internal int Count;
    internal int Capacity; // -1 after Dispose, so that the quick paths need no check of their own
    internal Lifetime Lifetime;

    internal readonly bool IsDisposed => Capacity < 0;

    internal readonly Span<T> Span
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => new(Items, Count);
    }

    /// <summary>The capacity of the first block: a cache line, or at least 4 elements.</summary>
    private static int FirstCapacity => Math.Max(4, 64 / sizeof(T));

    internal void Start(int capacity, Lifetime lifetime)
    {
        Throw.IfNegative(capacity);
        Lifetime = lifetime;
        if (capacity != 0)
        {
            Resize(capacity);
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal readonly ref T At(int index)
    {
        if ((uint)index >= (uint)Count)
        {
            ThrowIfDisposed();
            CollectionMemory.ThrowIndex(index, Count);
        }
        return ref Items[(uint)index];
    }

    /// <summary>Requires room for one element.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void Append(T item)
    {
        int count = Count;
        Items[count] = item;
        Count = count + 1;
    }

    /// <summary>Doubles the capacity, or raises it to <paramref name="needed"/> if that is more.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    internal void Grow(long needed)
    {
        ThrowIfDisposed();
        if (needed > int.MaxValue)
        {
            CollectionMemory.ThrowTooMany(needed);
        }
        long doubled = Math.Min(Math.Max(2L * Capacity, FirstCapacity), int.MaxValue);
        Resize((int)Math.Max(needed, doubled));
    }

    internal void EnsureCapacity(int capacity)
    {
        Throw.IfNegative(capacity);
        ThrowIfDisposed();
        if (capacity > Capacity)
        {
            Grow(capacity);
        }
    }

    /// <summary>Requires room for the values.</summary>
    /// <param name="values">The values; they may be elements of this list.</param>
    /// <param name="moved">The distance in bytes that the list's elements moved since the values were passed.</param>
    internal void AppendRange(ReadOnlySpan<T> values, nint moved)
    {
        fixed (T* first = values)
        {
            nuint bytes = (nuint)values.Length * (nuint)sizeof(T);
            Buffer.MemoryCopy((byte*)first + moved, Items + Count, bytes, bytes);
        }
        Count += values.Length;
    }

    /// <summary>Adds capacity for values that may be elements of this list.</summary>
    /// <returns>The distance in bytes that the values moved.</returns>
    internal nint GrowFor(ReadOnlySpan<T> values)
    {
        ThrowIfDisposed();
        T* before = Items;
        bool isOwn;
        fixed (T* first = values)
        {
            isOwn = first != null && first >= before && first < before + Capacity;
        }
        Grow((long)Count + values.Length);
        return isOwn ? (nint)((byte*)Items - (byte*)before) : 0;
    }

    internal Span<T> AppendUninitialized(int count)
    {
        var added = new Span<T>(Items + Count, count);
        Count += count;
        return added;
    }

    /// <summary>Requires an index up to the count and room for one element.</summary>
    internal void Insert(int index, T item)
    {
        T* place = Items + index;
        new Span<T>(place, Count - index).CopyTo(new Span<T>(place + 1, Count - index));
        *place = item;
        Count++;
    }

    internal void RemoveAt(int index)
    {
        ThrowUnlessElement(index);
        T* place = Items + index;
        Count--;
        new Span<T>(place + 1, Count - index).CopyTo(new Span<T>(place, Count - index));
    }

    internal void RemoveAtSwapBack(int index)
    {
        ThrowUnlessElement(index);
        Count--;
        Items[index] = Items[Count];
    }

    internal void Clear()
    {
        ThrowIfDisposed();
        Count = 0;
    }

    internal void TrimExcess()
    {
        ThrowIfDisposed();
        if (Count == 0)
        {
            FreeItems();
            Items = null;
            Capacity = 0;
        }
        else if (Count < Capacity)
        {
            Resize(Count);
        }
    }

    internal readonly void ThrowUnlessPosition(int index)
    {
        ThrowIfDisposed();
        if ((uint)index > (uint)Count)
        {
            CollectionMemory.ThrowPosition(nameof(index), index, Count);
        }
    }

    internal void Dispose()
    {
        if (!IsDisposed)
        {
            FreeItems();
            Items = null;
            Count = 0;
            Capacity = -1;
        }
    }

    internal readonly void ThrowIfDisposed()
    {
        if (IsDisposed)
        {
            Throw.Disposed("NativeList");
        }
    }

    private readonly void ThrowUnlessElement(int index)
    {
        ThrowIfDisposed();
        if ((uint)index >= (uint)Count)
        {
            CollectionMemory.ThrowPosition(nameof(index), index, Count);
        }
    }

    private void Resize(int capacity)
    {
        nuint size = (nuint)sizeof(T);
        Items = (T*)CollectionMemory.Resize(
            Items, (nuint)Capacity * size, (nuint)capacity * size, (nuint)Count * size, CollectionMemory.AlignmentFor<T>(), Lifetime);
        Capacity = capacity;
    }

    private readonly void FreeItems() => CollectionMemory.Free(Items, (nuint)Capacity * (nuint)sizeof(T), Lifetime);
}
