// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Buffers;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>A contiguous array in native memory with 64-bit length and index, limited only by the available
/// memory.</summary>
/// <remarks>A span has at most 2^31 - 1 elements: take spans of parts with <see cref="Slice(long, int)"/> or
/// <see cref="Spans"/>. For ownership and freeing, see <see cref="OwnedBuffer{T}"/>.</remarks>
/// <typeparam name="T">The type of the elements: any unmanaged type.</typeparam>
public abstract unsafe class HugeBuffer<T> : OwnedBuffer<T>
    where T : unmanaged
{
    private static readonly byte* s_kind = HandleMemory.Kind($"HugeBuffer<{typeof(T).Name}>");
    private static readonly byte* s_fileKind = HandleMemory.Kind($"HugeBuffer<{typeof(T).Name}> of a file");

    /// <summary>Initializes a new buffer of zeros. Pages that were never written use no memory.</summary>
    /// <param name="length">The number of elements.</param>
    /// <exception cref="ArgumentOutOfRangeException">The length is negative.</exception>
    /// <exception cref="OutOfMemoryException">Out of memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing or has a different version.</exception>
    protected HugeBuffer(long length)
        : base(BufferView<T>.Allocate(length, default, s_kind))
    {
    }

    /// <summary>Initializes a new buffer with the specified alignment and contents.</summary>
    /// <param name="length">The number of elements.</param>
    /// <param name="options">The alignment, the contents and the lifetime of the memory.</param>
    /// <exception cref="ArgumentOutOfRangeException">The length is negative.</exception>
    /// <exception cref="ArgumentException">The alignment is not a power of two, or the lifetime is Temp.</exception>
    /// <exception cref="OutOfMemoryException">Out of memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing or has a different version.</exception>
    protected HugeBuffer(long length, BufferOptions options)
        : base(BufferView<T>.Allocate(length, in options, s_kind))
    {
    }

    /// <summary>Initializes a new buffer whose memory is a mapped file, so that it can be larger than the memory of the
    /// machine.</summary>
    /// <param name="path">The file. It is created if missing, extended if shorter, and kept afterwards. Null: an
    /// unnamed file in the folder for temporary files, which is deleted with the buffer.</param>
    /// <param name="length">The number of elements, at least one.</param>
    /// <exception cref="ArgumentOutOfRangeException">The length is not positive.</exception>
    /// <exception cref="ArgumentException">The path is empty or contains a null character.</exception>
    /// <exception cref="System.IO.IOException">The file cannot be opened, extended or mapped; the message gives the
    /// reason.</exception>
    /// <exception cref="OutOfMemoryException">Out of address space.</exception>
    /// <exception cref="TenureLoadException">The native library is missing or has a different version.</exception>
    protected HugeBuffer(string? path, long length)
        : base(BufferView<T>.MapFile(path, length, s_fileKind))
    {
    }

    /// <summary>For derived classes that are listed under their own name.</summary>
    private protected HugeBuffer(BufferView<T> view)
        : base(view)
    {
    }

    /// <summary>Gets the number of elements. Not checked, so it costs nothing and also works after the memory was
    /// freed.</summary>
    public long Length => _view.Length;

    /// <summary>Gets a reference to an element.</summary>
    /// <param name="index">The zero-based index of the element.</param>
    /// <returns>A reference to the element, to read and to write. Valid until the memory is freed.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="IndexOutOfRangeException">The index is negative or not less than the length.</exception>
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

    /// <summary>Returns a span over a part of the elements. The memory is checked once, when this is called.</summary>
    /// <param name="start">The index of the first element, 0 to the length.</param>
    /// <param name="length">The number of elements.</param>
    /// <returns>A span of the same memory.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The part is out of range.</exception>
    public Span<T> Slice(long start, int length) => View.Part(start, length).Span();

    /// <summary>Copies a range of elements.</summary>
    /// <param name="start">The index of the first element, 0 to the length.</param>
    /// <param name="destination">The destination. Its length is the number of elements to copy.</param>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The part is out of range.</exception>
    public void CopyTo(long start, Span<T> destination)
    {
        View.Part(start, destination.Length).CopyTo(destination);
        GC.KeepAlive(this);
    }

    /// <summary>Copies values over a range of elements.</summary>
    /// <param name="start">The index of the first element, 0 to the length.</param>
    /// <param name="values">The values to copy.</param>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The part is out of range.</exception>
    public void CopyFrom(long start, ReadOnlySpan<T> values)
    {
        View.Part(start, values.Length).CopyFrom(values);
        GC.KeepAlive(this);
    }

    /// <summary>Holds the buffer for a block of code that accesses a part of it at the speed of a span.</summary>
    /// <param name="start">The index of the first element, 0 to the length.</param>
    /// <param name="length">The number of elements.</param>
    /// <returns>A lease that releases the hold when it is disposed of. It keeps the object alive.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The part is out of range.</exception>
    public Lease<T> Lease(long start, int length) => new(View.Part(start, length), this);

    /// <summary>Enumerates all elements as consecutive spans and holds the buffer meanwhile. Allocates
    /// nothing.</summary>
    /// <param name="most">The maximum number of elements of a span, at least 1. The last span may have fewer.</param>
    /// <returns>An enumerable for <c>foreach</c>.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The number is not positive.</exception>
    public BufferSpans<T> Spans(int most = BufferSpans<T>.Most)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(most);
        return new BufferSpans<T>(View, this, most);
    }

    /// <summary>Returns a part of the elements as memory for code that takes <see cref="Memory{T}"/>. Pinning the
    /// memory holds the buffer. Allocates one object.</summary>
    /// <param name="start">The index of the first element, 0 to the length.</param>
    /// <param name="length">The number of elements.</param>
    /// <returns>Memory that is checked each time a span is taken from it. It keeps the object alive.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The part is out of range.</exception>
    public Memory<T> AsMemory(long start, int length) => new BufferMemory<T>(View.Part(start, length), this).Memory;

    /// <summary>Returns all elements as a sequence. Allocates one segment and one memory object per chunk.</summary>
    /// <param name="chunk">The number of elements of a segment, at least 1. The last segment may have fewer; no segment
    /// is empty.</param>
    /// <returns>A sequence that keeps the object alive.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The number is not positive.</exception>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public ReadOnlySequence<T> AsReadOnlySequence(int chunk = BufferSpans<T>.Most)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(chunk);
        return BufferSegment<T>.Sequence(View, this, chunk);
    }

    /// <summary>Returns all elements as a list of memory, for example for <c>RandomAccess.Write</c> or sockets.
    /// Allocates one object per chunk.</summary>
    /// <param name="chunk">The number of elements of each chunk, at least 1. The last chunk may have fewer; no chunk is
    /// empty.</param>
    /// <returns>A list that keeps the object alive.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The number is not positive.</exception>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
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

    /// <summary>Determines whether every element is less than a bound. True when there are no elements.</summary>
    /// <param name="bound">The exclusive upper bound.</param>
    /// <param name="index">The index of the first element that is not less than the bound or is NaN; -1 when all
    /// elements are less.</param>
    /// <returns>True if all elements are less; otherwise, false.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="NotSupportedException">The element type is not one of the ten types that
    /// <see cref="VectorMaths"/> supports.</exception>
    public bool VectorLessThanAll(T bound, out long index)
    {
        bool all = BufferViewMaths.LessThanAll(_view, bound, out long at);
        index = at;
        GC.KeepAlive(this);
        return all;
    }
}
