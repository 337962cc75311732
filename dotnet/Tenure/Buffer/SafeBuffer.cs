// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Buffers;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>A fixed-length, contiguous array in native memory, owned by an object: the base class of arrays, trees and
/// other structures.</summary>
/// <remarks>Derive from it to keep the nodes of a structure in native memory; <see cref="SafeArray{T}"/> is the
/// simplest example. For ownership and freeing, see <see cref="OwnedBuffer{T}"/>.</remarks>
/// <typeparam name="T">The type of the elements: any unmanaged type. It may have fields of type
/// <see cref="FixedBuffer{T}"/> and <see cref="FixedUtf8String"/>. The code that creates those must free
/// them.</typeparam>
public abstract unsafe class SafeBuffer<T> : OwnedBuffer<T>, IMemoryOwner<T>
    where T : unmanaged
{
    private static readonly byte* s_kind = HandleMemory.Kind($"SafeBuffer<{typeof(T).Name}>");

    private BufferMemory<T>? _memory;

    /// <summary>Initializes a new buffer of zeros.</summary>
    /// <param name="length">The number of elements, 0 to 2^31 - 1.</param>
    /// <exception cref="ArgumentOutOfRangeException">The length is negative.</exception>
    /// <exception cref="OutOfMemoryException">Out of memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing or has a different version.</exception>
    protected SafeBuffer(int length)
        : base(BufferView<T>.Allocate(length, default, s_kind))
    {
    }

    /// <summary>Initializes a new buffer with the specified alignment and contents.</summary>
    /// <param name="length">The number of elements, 0 to 2^31 - 1.</param>
    /// <param name="options">The alignment, the contents and the lifetime of the memory.</param>
    /// <exception cref="ArgumentOutOfRangeException">The length is negative.</exception>
    /// <exception cref="ArgumentException">The alignment is not a power of two, or the lifetime is Temp.</exception>
    /// <exception cref="OutOfMemoryException">Out of memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing or has a different version.</exception>
    protected SafeBuffer(int length, BufferOptions options)
        : base(BufferView<T>.Allocate(length, in options, s_kind))
    {
    }

    /// <summary>Copies values into new native memory.</summary>
    /// <param name="values">The values to copy.</param>
    /// <exception cref="OutOfMemoryException">Out of memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing or has a different version.</exception>
    protected SafeBuffer(ReadOnlySpan<T> values)
        : base(BufferView<T>.Allocate(values, s_kind))
    {
    }

    /// <summary>For derived classes that are listed under their own name.</summary>
    private protected SafeBuffer(BufferView<T> view)
        : base(view)
    {
    }

    /// <summary>Gets the number of elements. Not checked, so it costs nothing and also works after the memory was
    /// freed.</summary>
    public int Length => (int)_view.Length;

    /// <summary>Gets a reference to an element.</summary>
    /// <param name="index">The zero-based index of the element.</param>
    /// <returns>A reference to the element, to read and to write. Valid until the memory is freed.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="IndexOutOfRangeException">The index is negative or not less than the length.</exception>
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

    /// <summary>Gets a span over the elements. The memory is checked once, when this is called.</summary>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public Span<T> Span => View.Span();

    /// <summary>Gets the elements as memory for code that takes <see cref="Memory{T}"/>. The memory keeps the object
    /// alive; pinning it holds the buffer.</summary>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public Memory<T> Memory => (_memory ??= new BufferMemory<T>(View, this)).Memory;

    /// <summary>Holds the memory for a block of code that accesses the elements at the speed of a span.</summary>
    /// <returns>A lease that releases the hold when it is disposed of. It keeps the object alive.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public Lease<T> Lease() => new(View, this);

    /// <summary>Releases several holds.</summary>
    /// <param name="times">The number of holds to release, at least 0.</param>
    /// <returns>Always true.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The number is negative.</exception>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="InvalidOperationException">All holds were already released; the releases before the failed one
    /// remain in effect.</exception>
    public bool Release(int times)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(times);
        for (int i = 0; i < times; i++)
        {
            Release();
        }
        return true;
    }

    /// <summary>Returns a span over the elements from an index to the end. The memory is checked once, when this is
    /// called.</summary>
    /// <param name="start">The index of the first element, 0 to the length.</param>
    /// <returns>A span of the same memory.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The start is out of range.</exception>
    public Span<T> Slice(int start) => View.From(start).Span();

    /// <summary>Returns a span over a part of the elements. The memory is checked once, when this is called.</summary>
    /// <param name="start">The index of the first element, 0 to the length.</param>
    /// <param name="length">The number of elements.</param>
    /// <returns>A span of the same memory.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The part is out of range.</exception>
    public Span<T> Slice(int start, int length) => View.Part(start, length).Span();

    /// <summary>Returns the bytes as elements of another type. Trailing bytes that do not fill an element are left
    /// out.</summary>
    /// <typeparam name="TOther">The other type.</typeparam>
    /// <returns>A span of the same memory. The memory is checked once, when this is called.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="InvalidOperationException">The result would have more elements than a span can
    /// have.</exception>
    public Span<TOther> GetSpan<TOther>()
        where TOther : unmanaged => View.As<TOther>().Span();

    /// <summary>Holds the buffer and returns its elements for reading. Call <see cref="OwnedBuffer{T}.Release()"/>
    /// afterwards.</summary>
    /// <returns>A span that is valid until the release.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public ReadOnlySpan<T> AcquireSpan() => AcquireWriteSpan();

    /// <summary>Holds the buffer and returns its elements for writing. Call <see cref="OwnedBuffer{T}.Release()"/>
    /// afterwards.</summary>
    /// <returns>A span that is valid until the release.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public Span<T> AcquireWriteSpan()
    {
        Acquire();
        return new Span<T>(View.Pointer, (int)View.Length);
    }

    /// <summary>Determines whether every element is less than a bound. True when there are no elements.</summary>
    /// <param name="bound">The exclusive upper bound.</param>
    /// <param name="index">The index of the first element that is not less than the bound or is NaN; -1 when all
    /// elements are less.</param>
    /// <returns>True if all elements are less; otherwise, false.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="NotSupportedException">The element type is not one of the ten types that
    /// <see cref="VectorMaths"/> supports.</exception>
    public bool VectorLessThanAll(T bound, out int index)
    {
        bool all = BufferViewMaths.LessThanAll(_view, bound, out long at);
        index = (int)at;
        GC.KeepAlive(this);
        return all;
    }
}
