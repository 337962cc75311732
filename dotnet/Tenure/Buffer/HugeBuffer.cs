// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Buffers;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>An array in native memory with 64-bit length and index, in one piece: as long as there is memory.</summary>
/// <remarks>
/// Spans have at most 2^31 - 1 elements: take them of parts (<see cref="Slice(long, int)"/>, <see cref="Spans"/>). See
/// <see cref="OwnedBuffer{T}"/> for who frees it, and when.
/// </remarks>
/// <typeparam name="T">Any unmanaged structure.</typeparam>
public abstract unsafe class HugeBuffer<T> : OwnedBuffer<T>
    where T : unmanaged
{
    private static readonly byte* s_kind = HandleMemory.Kind($"HugeBuffer<{typeof(T).Name}>");
    private static readonly byte* s_fileKind = HandleMemory.Kind($"HugeBuffer<{typeof(T).Name}> of a file");

    /// <summary>A buffer of zeros, which costs no memory where it was never written.</summary>
    /// <param name="length">How many elements.</param>
    /// <exception cref="ArgumentOutOfRangeException">The length is negative.</exception>
    /// <exception cref="OutOfMemoryException">The memory was refused.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, or is another version's.</exception>
    protected HugeBuffer(long length)
        : base(BufferView<T>.Allocate(length, default, s_kind))
    {
    }

    /// <summary>A buffer with an alignment and a content of the caller's choice.</summary>
    /// <param name="length">How many elements.</param>
    /// <param name="options">The alignment, and what the memory contains.</param>
    /// <exception cref="ArgumentOutOfRangeException">The length is negative.</exception>
    /// <exception cref="ArgumentException">The alignment is no power of two.</exception>
    /// <exception cref="OutOfMemoryException">The memory was refused.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, or is another version's.</exception>
    protected HugeBuffer(long length, BufferOptions options)
        : base(BufferView<T>.Allocate(length, in options, s_kind))
    {
    }

    /// <summary>A buffer whose memory is a file's, so that it may be more than the machine has.</summary>
    /// <param name="path">The file, which is made or kept, and stays; shorter ones get longer. Null: a file without a
    /// name in the folder for temporary files, which goes with the buffer.</param>
    /// <param name="length">How many elements, at least one.</param>
    /// <exception cref="ArgumentOutOfRangeException">The length is not positive.</exception>
    /// <exception cref="ArgumentException">The path is empty, or has a character zero.</exception>
    /// <exception cref="System.IO.IOException">The file cannot be opened, made longer or mapped; the message says
    /// why.</exception>
    /// <exception cref="OutOfMemoryException">The addresses were refused.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, or is another version's.</exception>
    protected HugeBuffer(string? path, long length)
        : base(BufferView<T>.MapFile(path, length, s_fileKind))
    {
    }

    /// <summary>For classes that are listed by a name of their own.</summary>
    private protected HugeBuffer(BufferView<T> view)
        : base(view)
    {
    }

    /// <summary>How many elements it has, also after it was freed. Not checked: it costs nothing.</summary>
    public long Length => _view.Length;

    /// <summary>An element.</summary>
    /// <param name="index">From 0 to the length.</param>
    /// <returns>The element itself, to read and to write: valid until the memory is freed.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="IndexOutOfRangeException">There is no such element.</exception>
    public ref T this[long index]
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            if (BufferChecks.AreOn)
            {
                if ((ulong)index >= (ulong)_view.Length)
                {
                    BufferErrors.ThrowIndex(index, _view.Length, _view.Word, _view.Generation);
                }
                if (HandleWords.IsStale(_view.Word, _view.Generation))
                {
                    BufferErrors.ThrowStale(_view.Word, _view.Generation);
                }
            }
            return ref _view.Pointer[(ulong)index];
        }
    }

    /// <summary>A part of the elements. The memory is checked once, now.</summary>
    /// <param name="start">The first of them, 0 to the length.</param>
    /// <param name="length">How many.</param>
    /// <returns>A span of the same memory.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The part is not inside.</exception>
    public Span<T> Slice(long start, int length) => View.Part(start, length).Span();

    /// <summary>Copies some of the elements.</summary>
    /// <param name="start">The first of them, 0 to the length.</param>
    /// <param name="destination">As many as it has room for are copied.</param>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The part is not inside.</exception>
    public void CopyTo(long start, Span<T> destination)
    {
        View.Part(start, destination.Length).CopyTo(destination);
        GC.KeepAlive(this);
    }

    /// <summary>Some of the elements become these values.</summary>
    /// <param name="start">The first of them, 0 to the length.</param>
    /// <param name="values">What they become.</param>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The part is not inside.</exception>
    public void CopyFrom(long start, ReadOnlySpan<T> values)
    {
        View.Part(start, values.Length).CopyFrom(values);
        GC.KeepAlive(this);
    }

    /// <summary>Holds it for a block of code, in which a part of it is reached at the speed of a span.</summary>
    /// <param name="start">The first element, 0 to the length.</param>
    /// <param name="length">How many.</param>
    /// <returns>What releases it when it is disposed of; it keeps the object alive.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The part is not inside.</exception>
    public Lease<T> Lease(long start, int length) => new(View.Part(start, length), this);

    /// <summary>All elements, as spans one after the other; it is held meanwhile. Allocates nothing.</summary>
    /// <param name="most">Elements of a span, at least 1; the last may have fewer.</param>
    /// <returns>For <c>foreach</c>.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The number is not positive.</exception>
    public BufferSpans<T> Spans(int most = BufferSpans<T>.Most)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(most);
        return new BufferSpans<T>(View, this, most);
    }

    /// <summary>A part of the elements for what takes <see cref="Memory{T}"/>: a pin of it holds the buffer. One
    /// object.</summary>
    /// <param name="start">The first of them, 0 to the length.</param>
    /// <param name="length">How many.</param>
    /// <returns>Memory that is checked whenever a span is taken from it; it keeps the object alive.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The part is not inside.</exception>
    public Memory<T> AsMemory(long start, int length) => new BufferMemory<T>(View.Part(start, length), this).Memory;

    /// <summary>All elements as a sequence, one segment and one memory object for each chunk.</summary>
    /// <param name="chunk">Elements of a segment, at least 1; the last may have fewer, and none is empty.</param>
    /// <returns>A sequence that keeps the object alive.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The number is not positive.</exception>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public ReadOnlySequence<T> AsReadOnlySequence(int chunk = BufferSpans<T>.Most)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(chunk);
        return BufferSegment<T>.Sequence(View, this, chunk);
    }

    /// <summary>All elements as a list of memory, one object for each chunk: for <c>RandomAccess.Write</c>, sockets and
    /// such.</summary>
    /// <param name="chunk">Elements of each, at least 1; the last may have fewer, and none is empty.</param>
    /// <returns>A list that keeps the object alive.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The number is not positive.</exception>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public IReadOnlyList<Memory<T>> AsMemoryList(int chunk = BufferSpans<T>.Most)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(chunk);
        var list = new List<Memory<T>>();
        for (long start = 0; start < Length; start += chunk)
        {
            list.Add(AsMemory(start, (int)long.Min(chunk, Length - start)));
        }
        return list;
    }

    /// <summary>Whether every element is less than a bound; of nothing it is true.</summary>
    /// <param name="bound">What every element must be less than.</param>
    /// <param name="index">The first element that is not less, or is NaN; -1 when all are less.</param>
    /// <returns>Whether all are.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="NotSupportedException">The element is none of the ten types that <see cref="VectorMaths"/>
    /// calculates with.</exception>
    public bool VectorLessThanAll(T bound, out long index)
    {
        bool all = BufferViewMaths.LessThanAll(_view, bound, out long at);
        index = at;
        GC.KeepAlive(this);
        return all;
    }
}
