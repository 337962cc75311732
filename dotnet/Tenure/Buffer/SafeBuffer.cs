// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Buffers;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>A fixed-length array in native memory that an object owns: the base of arrays, trees and other structures
/// of elements that lie in one piece.</summary>
/// <remarks>
/// Derive from it to keep a structure's nodes in native memory: <see cref="SafeArray{T}"/> is the simplest. See
/// <see cref="OwnedBuffer{T}"/> for who frees it, and when.
/// </remarks>
/// <typeparam name="T">Any unmanaged structure; it may have fields of type <see cref="FixedBuffer{T}"/> and
/// <see cref="FixedUtf8String"/>, which are freed by whoever made them.</typeparam>
public abstract unsafe class SafeBuffer<T> : OwnedBuffer<T>, IMemoryOwner<T>
    where T : unmanaged
{
    private static readonly byte* s_kind = HandleMemory.Kind($"SafeBuffer<{typeof(T).Name}>");

    private BufferMemory<T>? _memory;

    /// <summary>A buffer of zeros.</summary>
    /// <param name="length">How many elements, 0 to 2^31 - 1.</param>
    /// <exception cref="ArgumentOutOfRangeException">The length is negative.</exception>
    /// <exception cref="OutOfMemoryException">The memory was refused.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, or is another version's.</exception>
    protected SafeBuffer(int length)
        : base(BufferView<T>.Allocate(length, default, s_kind))
    {
    }

    /// <summary>A buffer with an alignment and a content of the caller's choice.</summary>
    /// <param name="length">How many elements, 0 to 2^31 - 1.</param>
    /// <param name="options">The alignment, and what the memory contains.</param>
    /// <exception cref="ArgumentOutOfRangeException">The length is negative.</exception>
    /// <exception cref="ArgumentException">The alignment is no power of two.</exception>
    /// <exception cref="OutOfMemoryException">The memory was refused.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, or is another version's.</exception>
    protected SafeBuffer(int length, BufferOptions options)
        : base(BufferView<T>.Allocate(length, in options, s_kind))
    {
    }

    /// <summary>A copy of some values.</summary>
    /// <param name="values">What the elements become.</param>
    /// <exception cref="OutOfMemoryException">The memory was refused.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, or is another version's.</exception>
    protected SafeBuffer(ReadOnlySpan<T> values)
        : base(BufferView<T>.Allocate(values, s_kind))
    {
    }

    /// <summary>For classes that are listed by a name of their own.</summary>
    private protected SafeBuffer(BufferView<T> view)
        : base(view)
    {
    }

    /// <summary>How many elements it has, also after it was freed. Not checked: it costs nothing.</summary>
    public int Length => (int)_view.Length;

    /// <summary>An element.</summary>
    /// <param name="index">From 0 to the length.</param>
    /// <returns>The element itself, to read and to write: valid until the memory is freed.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="IndexOutOfRangeException">There is no such element.</exception>
    public ref T this[int index]
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            if (BufferChecks.AreOn)
            {
                if ((uint)index >= (ulong)_view.Length)
                {
                    BufferErrors.ThrowIndex(index, _view.Length, _view.Word, _view.Generation);
                }
                if (HandleWords.IsStale(_view.Word, _view.Generation))
                {
                    BufferErrors.ThrowStale(_view.Word, _view.Generation);
                }
            }
            return ref _view.Pointer[(uint)index];
        }
    }

    /// <summary>The elements. The memory is checked once, now.</summary>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public Span<T> Span => View.Span();

    /// <summary>The elements for what takes <see cref="Memory{T}"/>: a pin of it holds the buffer, and it keeps it
    /// alive.</summary>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public Memory<T> Memory => (_memory ??= new BufferMemory<T>(View, this)).Memory;

    /// <summary>Holds it for a block of code, in which its elements are reached at the speed of a span.</summary>
    /// <returns>What releases it when it is disposed of; it keeps the object alive.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public Lease<T> Lease() => new(View, this);

    /// <summary>No longer holds it, several times.</summary>
    /// <param name="times">How often, at least 0.</param>
    /// <returns>True.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The number is negative.</exception>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="InvalidOperationException">It was released as often as it was acquired; what went before stays
    /// done.</exception>
    public bool Release(int times)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(times);
        for (int i = 0; i < times; i++)
        {
            Release();
        }
        return true;
    }

    /// <summary>The elements from one on. The memory is checked once, now.</summary>
    /// <param name="start">The first of them, 0 to the length.</param>
    /// <returns>A span of the same memory.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The start is not inside.</exception>
    public Span<T> Slice(int start) => View.From(start).Span();

    /// <summary>A part of the elements. The memory is checked once, now.</summary>
    /// <param name="start">The first of them, 0 to the length.</param>
    /// <param name="length">How many.</param>
    /// <returns>A span of the same memory.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The part is not inside.</exception>
    public Span<T> Slice(int start, int length) => View.Part(start, length).Span();

    /// <summary>The bytes as elements of another type, as many as there are whole.</summary>
    /// <typeparam name="TOther">The other type.</typeparam>
    /// <returns>A span of the same memory. It is checked once, now.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="InvalidOperationException">There are more than a span can have.</exception>
    public Span<TOther> GetSpan<TOther>()
        where TOther : unmanaged => View.As<TOther>().Span();

    /// <summary>Holds it, and gives its elements to read: <see cref="OwnedBuffer{T}.Release()"/> it
    /// afterwards.</summary>
    /// <returns>A span that is valid until the release.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public ReadOnlySpan<T> AcquireSpan() => AcquireWriteSpan();

    /// <summary>Holds it, and gives its elements to write: <see cref="OwnedBuffer{T}.Release()"/> it
    /// afterwards.</summary>
    /// <returns>A span that is valid until the release.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public Span<T> AcquireWriteSpan()
    {
        Acquire();
        return new Span<T>(View.Pointer, (int)View.Length);
    }

    /// <summary>Whether every element is less than a bound; of nothing it is true.</summary>
    /// <param name="bound">What every element must be less than.</param>
    /// <param name="index">The first element that is not less, or is NaN; -1 when all are less.</param>
    /// <returns>Whether all are.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="NotSupportedException">The element is none of the ten types that <see cref="VectorMaths"/>
    /// calculates with.</exception>
    public bool VectorLessThanAll(T bound, out int index)
    {
        bool all = BufferViewMaths.LessThanAll(_view, bound, out long at);
        index = (int)at;
        GC.KeepAlive(this);
        return all;
    }
}
