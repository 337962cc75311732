// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>Elements in native memory and the handle that they are checked against: what all kinds of buffers do
/// alike.</summary>
/// <remarks>
/// What takes longer than one access holds the memory meanwhile, so that a free on another thread is refused and
/// does not take it away below a loop.
/// </remarks>
internal readonly unsafe struct BufferView<T>
    where T : unmanaged
{
    /// <summary>So many elements go into one span: the greatest multiple of 2^16 that a span can have.</summary>
    internal const int SpanCount = 0x7FFF_0000;

    internal readonly T* Pointer;
    internal readonly nint Length;
    internal readonly ulong* Word;
    internal readonly uint Generation;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal BufferView(T* pointer, nint length, ulong* word, uint generation)
    {
        Pointer = pointer;
        Length = length;
        Word = word;
        Generation = generation;
    }

    internal bool IsLive => HandleWords.IsLive(Word, Generation);

    internal nint Size => Length * sizeof(T);

    internal NativeHandle Handle => new((nint)Pointer, (ulong)Size, HandleWords.EntryOf(Word), Generation);

    internal static BufferView<T> Allocate(long length, in BufferOptions options, byte* kind)
    {
        if (length < 0)
        {
            Throw.IfNegative(length);
        }
        options.Check(nameof(options));
        NativeHandle handle = HandleMemory.Allocate(SizeOf(length), in options, kind);
        return new BufferView<T>((T*)handle.Address, (nint)length, handle.Word, handle.Generation);
    }

    internal static BufferView<T> Allocate(ReadOnlySpan<T> values, byte* kind)
    {
        BufferView<T> view = Allocate(values.Length, new BufferOptions { Fill = AllocationFill.Unwritten }, kind);
        values.CopyTo(new Span<T>(view.Pointer, values.Length));
        return view;
    }

    internal static BufferView<T> MapFile(string? path, long length, byte* kind)
    {
        if (length <= 0)
        {
            throw new ArgumentOutOfRangeException(nameof(length), length, "A file is mapped for at least one element.");
        }
        if (path is not null && (path.Length == 0 || path.Contains('\0', StringComparison.Ordinal)))
        {
            throw new ArgumentException(
                path.Length == 0 ? "A path has at least one character; null stands for a file without a name."
                    : "A path has no character zero.",
                nameof(path));
        }
        NativeHandle handle = HandleMemory.MapFile(path, SizeOf(length), kind);
        return new BufferView<T>((T*)handle.Address, (nint)length, handle.Word, handle.Generation);
    }

    private static nint SizeOf(long length)
    {
        if (length > nint.MaxValue / sizeof(T))
        {
            BufferErrors.ThrowTooLarge(length, sizeof(T));
        }
        return (nint)length * sizeof(T);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void ThrowIfStale() => HandleWords.ThrowIfStale(Word, Generation);

    /// <summary>Holds the memory until the end of the caller's block.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal Hold Held() => new(Word, Generation);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal ref T At(long index)
    {
        if (BufferChecks.AreOn)
        {
            // The index first: a default value has no elements, so that its word, which is none, is never looked at.
            if ((ulong)index >= (ulong)Length)
            {
                BufferErrors.ThrowIndex(index, Length, Word, Generation);
            }
            if (HandleWords.IsStale(Word, Generation))
            {
                BufferErrors.ThrowStale(Word, Generation);
            }
        }
        return ref Pointer[index];
    }

    internal Span<T> Span()
    {
        ThrowIfStale();
        if (Length > int.MaxValue)
        {
            BufferErrors.ThrowPastSpan(Length);
        }
        return new Span<T>(Pointer, (int)Length);
    }

    /// <summary>The part from <paramref name="start"/> on; each of the two numbers is checked by itself.</summary>
    internal BufferView<T> Part(long start, long length)
    {
        ThrowIfStale();
        if ((ulong)start > (ulong)Length)
        {
            BufferErrors.ThrowStart(start, Length);
        }
        if ((ulong)length > (ulong)(Length - start))
        {
            BufferErrors.ThrowCount(length, Length - (nint)start);
        }
        return new BufferView<T>(Pointer + start, (nint)length, Word, Generation);
    }

    internal BufferView<T> From(long start)
    {
        ThrowIfStale();
        if ((ulong)start > (ulong)Length)
        {
            BufferErrors.ThrowStart(start, Length);
        }
        return new BufferView<T>(Pointer + start, Length - (nint)start, Word, Generation);
    }

    /// <summary>The same bytes as elements of another type, as many as there are whole.</summary>
    internal BufferView<TOther> As<TOther>()
        where TOther : unmanaged
    {
        ThrowIfStale();
        return new BufferView<TOther>((TOther*)Pointer, Size / sizeof(TOther), Word, Generation);
    }

    /// <summary>One value of another type at the bytes that begin at an element.</summary>
    internal ref TOther Other<TOther>(long index)
        where TOther : unmanaged
    {
        ThrowIfStale();
        if ((ulong)index >= (ulong)Length || sizeof(TOther) > (Length - index) * sizeof(T))
        {
            BufferErrors.ThrowPart(sizeof(TOther), index, Length, sizeof(T));
        }
        return ref *(TOther*)(Pointer + index);
    }

    internal void Fill(T value)
    {
        using Hold hold = Held();
        for (nint at = 0; at < Length; at += SpanCount)
        {
            new Span<T>(Pointer + at, (int)nint.Min(SpanCount, Length - at)).Fill(value);
        }
    }

    internal void Clear()
    {
        using Hold hold = Held();
        System.Runtime.InteropServices.NativeMemory.Clear(Pointer, (nuint)Size);
    }

    internal void CopyTo(Span<T> destination)
    {
        using Hold hold = Held();
        if (Length > destination.Length)
        {
            BufferErrors.ThrowTooLong(Length, destination.Length, nameof(destination));
        }
        new ReadOnlySpan<T>(Pointer, (int)Length).CopyTo(destination);
    }

    internal void CopyTo(BufferView<T> destination)
    {
        using Hold hold = Held(), other = destination.Held();
        if (Length > destination.Length)
        {
            BufferErrors.ThrowTooLong(Length, destination.Length, nameof(destination));
        }
        Buffer.MemoryCopy(Pointer, destination.Pointer, destination.Size, Size);
    }

    internal void CopyFrom(ReadOnlySpan<T> values)
    {
        using Hold hold = Held();
        if (values.Length > Length)
        {
            BufferErrors.ThrowTooLong(values.Length, Length, nameof(values));
        }
        values.CopyTo(new Span<T>(Pointer, values.Length));
    }

    internal T[] CopyToArray()
    {
        using Hold hold = Held();
        if (Length > Array.MaxLength)
        {
            throw new InvalidOperationException($"An array has at most {Array.MaxLength} elements, and this buffer {Length}.");
        }
        return new ReadOnlySpan<T>(Pointer, (int)Length).ToArray();
    }

    internal bool EqualTo(ReadOnlySpan<T> values)
    {
        using Hold hold = Held();
        return values.Length == Length && new ReadOnlySpan<T>(Pointer, values.Length).SequenceEqual(values, null);
    }

    internal bool EqualTo(BufferView<T> other)
    {
        using Hold hold = Held(), otherHold = other.Held();
        if (Length != other.Length)
        {
            return false;
        }
        for (nint at = 0; at < Length; at += SpanCount)
        {
            int count = (int)nint.Min(SpanCount, Length - at);
            if (!new ReadOnlySpan<T>(Pointer + at, count).SequenceEqual(new ReadOnlySpan<T>(other.Pointer + at, count), null))
            {
                return false;
            }
        }
        return true;
    }

    internal IEnumerator<T> Enumerate(object? owner = null)
    {
        ThrowIfStale();
        return Each(owner);
    }

    private IEnumerator<T> Each(object? owner)
    {
        // An iterator holds nothing: nobody may ever dispose of it. Each element is checked instead.
        for (nint i = 0; i < Length; i++)
        {
            T value = At(i);
            GC.KeepAlive(owner);
            yield return value;
        }
    }
}

/// <summary>One acquire, released at the end of a block.</summary>
internal readonly unsafe ref struct Hold
{
    private readonly ulong* _word;
    private readonly uint _generation;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal Hold(ulong* word, uint generation)
    {
        HandleWords.Acquire(word, generation);
        _word = word;
        _generation = generation;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Dispose() => HandleWords.Release(_word, _generation);
}
