// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Buffers;
using System.IO;
using System.Numerics;
using System.Runtime.CompilerServices;

namespace Tenure;

public readonly unsafe partial struct FixedBuffer<T>
{
    /// <summary>Gets a span over the elements. The memory is checked once, when this is called. Hold the buffer if
    /// another caller may free it while the span is in use.</summary>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    public Span<T> Span
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            HandleWords.ThrowIfStale(_word, Generation);
            return new Span<T>(_pointer, Length);
        }
    }

    /// <summary>Sets every element to <paramref name="value"/>.</summary>
    /// <param name="value">The value to write.</param>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    public void Fill(T value) => View.Fill(value);

    /// <summary>Sets every byte to zero.</summary>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    public void Clear() => View.Clear();

    /// <summary>Copies all elements.</summary>
    /// <param name="destination">The destination, at least as long as the buffer.</param>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    /// <exception cref="ArgumentException">The destination is shorter; nothing was copied.</exception>
    public void CopyTo(Span<T> destination) => View.CopyTo(destination);

    /// <summary>Copies all elements into another buffer, which may be a view of this one.</summary>
    /// <param name="destination">The destination, at least as long as the buffer.</param>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed or never
    /// allocated.</exception>
    /// <exception cref="ArgumentException">The destination is shorter; nothing was copied.</exception>
    public void CopyTo(FixedBuffer<T> destination) => View.CopyTo(destination.View);

    /// <summary>Copies values to the start of the buffer. The elements after them are unchanged.</summary>
    /// <param name="values">The values to copy, at most as many as there are elements.</param>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    /// <exception cref="ArgumentException">There are more values than elements; nothing was copied.</exception>
    public void CopyFrom(ReadOnlySpan<T> values) => View.CopyFrom(values);

    /// <summary>Copies all elements to a managed array.</summary>
    /// <returns>A new array.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    public T[] CopyToArray() => View.CopyToArray();

    /// <summary>Copies all elements to a managed array and then frees the memory.</summary>
    /// <returns>A new array.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    /// <exception cref="InvalidOperationException">The memory is held.</exception>
    public T[] CopyToArrayAndFree()
    {
        T[] values = View.CopyToArray();
        Free();
        return values;
    }

    /// <summary>Determines whether the buffer has exactly the given values, in the same order.</summary>
    /// <param name="values">The values to compare with.</param>
    /// <returns>True if the lengths and all elements are equal; otherwise, false.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    public bool EqualTo(ReadOnlySpan<T> values) => View.EqualTo(values);

    /// <summary>Returns a span over a part of the elements. The memory is checked once, when this is called.</summary>
    /// <param name="start">The index of the first element, 0 to the length.</param>
    /// <param name="length">The number of elements.</param>
    /// <returns>A span of the same memory.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The part is out of range.</exception>
    public Span<T> Slice(int start, int length) => View.Part(start, length).Span();

    /// <summary>Returns a span over the elements from an index to the end. The memory is checked once, when this is
    /// called.</summary>
    /// <param name="start">The index of the first element, 0 to the length.</param>
    /// <returns>A span of the same memory.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The start is out of range.</exception>
    public Span<T> Slice(int start) => View.From(start).Span();

    /// <summary>Reinterprets the bytes as elements of another type. Trailing bytes that do not fill an element are left
    /// out.</summary>
    /// <typeparam name="TOther">The other type. The address must be a multiple of its alignment.</typeparam>
    /// <returns>A buffer with the same memory and the same handle. Freeing any of them makes all of them
    /// stale.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    /// <exception cref="InvalidOperationException">The result would have more than 2^31 - 1 elements.</exception>
    public FixedBuffer<TOther> Reinterpret<TOther>()
        where TOther : unmanaged
    {
        BufferView<TOther> view = View.As<TOther>();
        if (view.Length > int.MaxValue)
        {
            BufferErrors.ThrowPastSpan(view.Length);
        }
        return new FixedBuffer<TOther>(view);
    }

    /// <summary>Returns a read-only view of the same elements.</summary>
    /// <returns>A view of the same memory.</returns>
    public ReadOnlyFixedBuffer<T> AsReadOnly() => new(this);

    /// <summary>Returns a reference to a value of another type at the first byte of an element.</summary>
    /// <typeparam name="TOther">The other type.</typeparam>
    /// <param name="index">The index of the element. The value may extend past the end of the element, but not past the
    /// end of the buffer.</param>
    /// <returns>A reference to the value, to read and to write. The address may be unaligned.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    /// <exception cref="IndexOutOfRangeException">The value is out of range.</exception>
    public ref TOther Read<TOther>(int index)
        where TOther : unmanaged => ref View.Other<TOther>(index);

    /// <summary>Writes a value of another type over the bytes at an element.</summary>
    /// <typeparam name="TOther">The other type.</typeparam>
    /// <param name="index">The index of the element. The value may extend past the end of the element, but not past the
    /// end of the buffer.</param>
    /// <param name="value">The value to write.</param>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    /// <exception cref="IndexOutOfRangeException">The value is out of range.</exception>
    public void Write<TOther>(int index, in TOther value)
        where TOther : unmanaged => View.Other<TOther>(index) = value;

    /// <summary>Holds the buffer and returns its elements for reading. Call <see cref="Release"/> afterwards.</summary>
    /// <returns>A span that is valid until the release.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    public ReadOnlySpan<T> AcquireSpan() => AcquireWriteSpan();

    /// <summary>Holds the buffer and returns its bytes as elements of another type for reading. Call
    /// <see cref="Release"/> afterwards.</summary>
    /// <typeparam name="TOther">The other type.</typeparam>
    /// <returns>A span of all whole elements, valid until the release.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    /// <exception cref="InvalidOperationException">The result would have more than 2^31 - 1 elements; the buffer is not
    /// held.</exception>
    public ReadOnlySpan<TOther> AcquireSpan<TOther>()
        where TOther : unmanaged
    {
        Span<TOther> span = View.As<TOther>().Span();
        Acquire();
        return span;
    }

    /// <summary>Holds the buffer and returns its elements for writing. Call <see cref="Release"/> afterwards.</summary>
    /// <returns>A span that is valid until the release.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    public Span<T> AcquireWriteSpan()
    {
        Acquire();
        return new Span<T>(_pointer, Length);
    }

    /// <summary>Holds the buffer and returns its elements as one vector. Call <see cref="Release"/>
    /// afterwards.</summary>
    /// <returns>A reference to the vector in the buffer's memory, valid until the release.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    /// <exception cref="NotSupportedException"><typeparamref name="T"/> cannot be an element of a vector.</exception>
    /// <exception cref="InvalidOperationException">The number of elements differs from that of a vector; the buffer is
    /// not held.</exception>
    public ref Vector<T> AcquireAsSingleVector()
    {
        Vectors();
        if (Length != Vector<T>.Count)
        {
            BufferErrors.ThrowVectorLength(Length, Vector<T>.Count);
        }
        Acquire();
        return ref *(Vector<T>*)_pointer;
    }

    /// <summary>Holds the buffer and returns its elements as vectors for reading. Call <see cref="Release"/>
    /// afterwards.</summary>
    /// <returns>A span of all whole vectors. Trailing elements that do not fill a vector are left out.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    /// <exception cref="NotSupportedException"><typeparamref name="T"/> cannot be an element of a vector.</exception>
    public ReadOnlySpan<Vector<T>> AcquireVectorSpan() => AcquireVectorWriteSpan();

    /// <summary>Holds the buffer and returns its elements as vectors for writing. Call <see cref="Release"/>
    /// afterwards.</summary>
    /// <returns>A span of all whole vectors. Trailing elements that do not fill a vector are left out.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    /// <exception cref="NotSupportedException"><typeparamref name="T"/> cannot be an element of a vector.</exception>
    public Span<Vector<T>> AcquireVectorWriteSpan()
    {
        Vectors();
        Acquire();
        return new Span<Vector<T>>(_pointer, Length / Vector<T>.Count);
    }

    /// <summary>Returns the vector of elements that starts at an index.</summary>
    /// <param name="index">The index of the first element.</param>
    /// <returns>A copy of the elements.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    /// <exception cref="NotSupportedException"><typeparamref name="T"/> cannot be an element of a vector.</exception>
    /// <exception cref="IndexOutOfRangeException">Too few elements follow the index.</exception>
    public Vector<T> GetVector(int index = 0)
    {
        Vectors();
        return View.Other<Vector<T>>(index);
    }

    /// <summary>Returns the elements as memory for code that takes <see cref="Memory{T}"/>. Pinning the memory holds
    /// the buffer. Allocates one object.</summary>
    /// <returns>Memory that is checked each time a span is taken from it.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    public Memory<T> AsMemory() => new BufferMemory<T>(View, null).Memory;

    /// <summary>Returns a fixed-length stream over all bytes. The stream does not own the buffer.</summary>
    /// <returns>A stream that can read, write and seek.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    public Stream AsStream() => new BufferStream(View.As<byte>(), null);

    /// <summary>Returns a fixed-length stream over a part of the bytes. The stream does not own the buffer.</summary>
    /// <param name="offset">The offset of the stream's first byte, 0 to <see cref="Size"/>.</param>
    /// <param name="bytes">The number of bytes.</param>
    /// <returns>A stream that can read, write and seek.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The part is out of range.</exception>
    public Stream AsStream(long offset, long bytes) => new BufferStream(View.As<byte>().Part(offset, bytes), null);

    /// <summary>Returns a reference to the first element, for <c>fixed</c> and for native functions. Native memory does
    /// not move.</summary>
    /// <returns>The reference; a null reference when there are no elements.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    public ref T GetPinnableReference()
    {
        HandleWords.ThrowIfStale(_word, Generation);
        return ref Length == 0 ? ref Unsafe.NullRef<T>() : ref *_pointer;
    }

    /// <summary>Returns the address of an element, for native functions.</summary>
    /// <param name="index">The index of the element.</param>
    /// <returns>The address, valid until the memory is freed. Hold the memory while using it.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    /// <exception cref="IndexOutOfRangeException">The index is negative or not less than the length.</exception>
    public T* PointerTo(int index)
    {
        HandleWords.ThrowIfStale(_word, Generation);
        if ((uint)index >= (uint)Length)
        {
            BufferErrors.ThrowIndex(index, Length);
        }
        return _pointer + index;
    }

    private static void Vectors()
    {
        if (!Vector<T>.IsSupported)
        {
            BufferErrors.ThrowNoVector(typeof(T));
        }
    }
}
