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
    /// <summary>The elements. The memory is checked once, now: hold it when somebody may free it while the span is
    /// used.</summary>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    public Span<T> Span
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            HandleWords.ThrowIfStale(_word, Generation);
            return new Span<T>(_pointer, Length);
        }
    }

    /// <summary>Every element becomes <paramref name="value"/>.</summary>
    /// <param name="value">What they become.</param>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    public void Fill(T value) => View.Fill(value);

    /// <summary>Every byte becomes zero.</summary>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    public void Clear() => View.Clear();

    /// <summary>Copies all elements.</summary>
    /// <param name="destination">At least as long.</param>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    /// <exception cref="ArgumentException">The destination is shorter; nothing was copied.</exception>
    public void CopyTo(Span<T> destination) => View.CopyTo(destination);

    /// <summary>Copies all elements into another buffer, which may be a view of this one.</summary>
    /// <param name="destination">At least as long.</param>
    /// <exception cref="ObjectDisposedException">One of them was freed, or never allocated.</exception>
    /// <exception cref="ArgumentException">The destination is shorter; nothing was copied.</exception>
    public void CopyTo(FixedBuffer<T> destination) => View.CopyTo(destination.View);

    /// <summary>The first elements become these values; those after them stay.</summary>
    /// <param name="values">At most as many as there are elements.</param>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    /// <exception cref="ArgumentException">There are more values than elements; nothing was copied.</exception>
    public void CopyFrom(ReadOnlySpan<T> values) => View.CopyFrom(values);

    /// <summary>A managed array with all elements.</summary>
    /// <returns>A new array.</returns>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    public T[] CopyToArray() => View.CopyToArray();

    /// <summary>A managed array with all elements; then the memory is given back.</summary>
    /// <returns>A new array.</returns>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    /// <exception cref="InvalidOperationException">Somebody holds it.</exception>
    public T[] CopyToArrayAndFree()
    {
        T[] values = View.CopyToArray();
        Free();
        return values;
    }

    /// <summary>Whether it has exactly these values, in this order.</summary>
    /// <param name="values">What it is compared with.</param>
    /// <returns>False also when there are more or fewer.</returns>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    public bool EqualTo(ReadOnlySpan<T> values) => View.EqualTo(values);

    /// <summary>A part of the elements. The memory is checked once, now.</summary>
    /// <param name="start">The first of them, 0 to the length.</param>
    /// <param name="length">How many.</param>
    /// <returns>A span of the same memory.</returns>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The part is not inside.</exception>
    public Span<T> Slice(int start, int length) => View.Part(start, length).Span();

    /// <summary>The elements from one on. The memory is checked once, now.</summary>
    /// <param name="start">The first of them, 0 to the length.</param>
    /// <returns>A span of the same memory.</returns>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The start is not inside.</exception>
    public Span<T> Slice(int start) => View.From(start).Span();

    /// <summary>The same bytes as elements of another type, as many as there are whole.</summary>
    /// <typeparam name="TOther">The other type; its alignment must divide the address.</typeparam>
    /// <returns>The same memory and the same handle: whichever is freed, all are stale.</returns>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    /// <exception cref="InvalidOperationException">There are more than 2^31 - 1 of them.</exception>
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

    /// <summary>The same elements, which cannot be written through what is returned.</summary>
    /// <returns>A view of the same memory.</returns>
    public ReadOnlyFixedBuffer<T> AsReadOnly() => new(this);

    /// <summary>A value of another type at the bytes where an element begins.</summary>
    /// <typeparam name="TOther">The other type.</typeparam>
    /// <param name="index">The element; the value may go past its end, but not past the buffer's.</param>
    /// <returns>The value itself, to read and to write, wherever its address is.</returns>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    /// <exception cref="IndexOutOfRangeException">The value is not inside.</exception>
    public ref TOther Read<TOther>(int index)
        where TOther : unmanaged => ref View.Other<TOther>(index);

    /// <summary>Writes a value of another type over the bytes where an element begins.</summary>
    /// <typeparam name="TOther">The other type.</typeparam>
    /// <param name="index">The element; the value may go past its end, but not past the buffer's.</param>
    /// <param name="value">What is written.</param>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    /// <exception cref="IndexOutOfRangeException">The value is not inside.</exception>
    public void Write<TOther>(int index, in TOther value)
        where TOther : unmanaged => View.Other<TOther>(index) = value;

    /// <summary>Holds it, and gives its elements to read: <see cref="Release"/> it afterwards.</summary>
    /// <returns>A span that is valid until the release.</returns>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    public ReadOnlySpan<T> AcquireSpan() => AcquireWriteSpan();

    /// <summary>Holds it, and gives its bytes as another type to read: <see cref="Release"/> it afterwards.</summary>
    /// <typeparam name="TOther">The other type.</typeparam>
    /// <returns>As many as there are whole: a span that is valid until the release.</returns>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    /// <exception cref="InvalidOperationException">There are more than 2^31 - 1 of them; it is not held
    /// then.</exception>
    public ReadOnlySpan<TOther> AcquireSpan<TOther>()
        where TOther : unmanaged
    {
        Span<TOther> span = View.As<TOther>().Span();
        Acquire();
        return span;
    }

    /// <summary>Holds it, and gives its elements to write: <see cref="Release"/> it afterwards.</summary>
    /// <returns>A span that is valid until the release.</returns>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    public Span<T> AcquireWriteSpan()
    {
        Acquire();
        return new Span<T>(_pointer, Length);
    }

    /// <summary>Holds it, and gives its elements as one vector: <see cref="Release"/> it afterwards.</summary>
    /// <returns>The vector in the buffer's memory, valid until the release.</returns>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    /// <exception cref="NotSupportedException">The element is no element of a vector.</exception>
    /// <exception cref="InvalidOperationException">It does not have as many elements as a vector; it is not held
    /// then.</exception>
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

    /// <summary>Holds it, and gives its elements as vectors to read: <see cref="Release"/> it afterwards.</summary>
    /// <returns>As many as there are whole: the elements that fill no vector are not among them.</returns>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    /// <exception cref="NotSupportedException">The element is no element of a vector.</exception>
    public ReadOnlySpan<Vector<T>> AcquireVectorSpan() => AcquireVectorWriteSpan();

    /// <summary>Holds it, and gives its elements as vectors to write: <see cref="Release"/> it afterwards.</summary>
    /// <returns>As many as there are whole: the elements that fill no vector are not among them.</returns>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    /// <exception cref="NotSupportedException">The element is no element of a vector.</exception>
    public Span<Vector<T>> AcquireVectorWriteSpan()
    {
        Vectors();
        Acquire();
        return new Span<Vector<T>>(_pointer, Length / Vector<T>.Count);
    }

    /// <summary>One vector of the elements from one on.</summary>
    /// <param name="index">The first of them.</param>
    /// <returns>A copy.</returns>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    /// <exception cref="NotSupportedException">The element is no element of a vector.</exception>
    /// <exception cref="IndexOutOfRangeException">From there it has too few elements.</exception>
    public Vector<T> GetVector(int index = 0)
    {
        Vectors();
        return View.Other<Vector<T>>(index);
    }

    /// <summary>The elements for what takes <see cref="Memory{T}"/>: a pin of it holds the buffer. One
    /// object.</summary>
    /// <returns>Memory that is checked whenever a span is taken from it.</returns>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    public Memory<T> AsMemory() => new BufferMemory<T>(View, null).Memory;

    /// <summary>The bytes as a stream of fixed length, from the first on. It does not own the buffer.</summary>
    /// <returns>A stream that can read, write and seek.</returns>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    public Stream AsStream() => new BufferStream(View.As<byte>(), null);

    /// <summary>A part of the bytes as a stream of fixed length. It does not own the buffer.</summary>
    /// <param name="offset">The stream's first byte, 0 to <see cref="Size"/>.</param>
    /// <param name="bytes">How many.</param>
    /// <returns>A stream that can read, write and seek.</returns>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The part is not inside.</exception>
    public Stream AsStream(long offset, long bytes) => new BufferStream(View.As<byte>().Part(offset, bytes), null);

    /// <summary>For <c>fixed</c>, and for native functions: the first element. Native memory does not move.</summary>
    /// <returns>A null reference when there is no element.</returns>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    public ref T GetPinnableReference()
    {
        HandleWords.ThrowIfStale(_word, Generation);
        return ref Length == 0 ? ref Unsafe.NullRef<T>() : ref *_pointer;
    }

    /// <summary>The address of an element, for native functions.</summary>
    /// <param name="index">The element.</param>
    /// <returns>Valid until the memory is freed: hold it meanwhile.</returns>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    /// <exception cref="IndexOutOfRangeException">There is no such element.</exception>
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
