// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>Elements in native memory and their handle: the operations shared by all kinds of buffers.</summary>
/// <remarks>Operations that take longer than one access hold the memory meanwhile, so that a free on another thread is
/// rejected and does not remove the memory during a loop.</remarks>
internal readonly unsafe struct BufferView<T>
    where T : unmanaged
{
    /// <summary>The maximum number of elements per span: the greatest multiple of 2^16 that a span can have.</summary>
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
            throw new ArgumentOutOfRangeException(nameof(length), length, "The length of a mapped file must be at least one element.");
        }
        if (path is not null && (path.Length == 0 || path.Contains('\0', StringComparison.Ordinal)))
        {
            throw new ArgumentException(
                path.Length == 0 ? "The path is empty. Pass null to map an unnamed file."
                    : "The path must not contain a null character.",
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
            // Check the index first: a default value has no elements, so its missing word is never read.
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

    /// <summary>Returns the part that starts at <paramref name="start"/>. The start and the length are checked
    /// separately.</summary>
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

    /// <summary>Reinterprets the bytes as elements of another type. Trailing bytes that do not fill an element are left
    /// out.</summary>
    internal BufferView<TOther> As<TOther>()
        where TOther : unmanaged
    {
        ThrowIfStale();
        return new BufferView<TOther>((TOther*)Pointer, Size / sizeof(TOther), Word, Generation);
    }

    /// <summary>Returns a reference to a value of another type at the first byte of an element.</summary>
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
        VectorFills.Fill(Pointer, value, (nuint)Length);
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
            throw new InvalidOperationException($"The buffer has {Length} elements, but a managed array has at most {Array.MaxLength}. Copy the buffer in parts.");
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
        // An iterator must not hold the memory, because the caller may never dispose of it. Check each element instead.
        for (nint i = 0; i < Length; i++)
        {
            T value = At(i);
            GC.KeepAlive(owner);
            yield return value;
        }
    }
}

/// <summary>One hold, released at the end of a block.</summary>
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
