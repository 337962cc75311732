// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections;
using System.Collections.Generic;
using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>A fixed-length array in native memory, as a value: 24 bytes that may be copied, kept in fields, and put
/// into structures that lie in native memory themselves.</summary>
/// <remarks>
/// <para>All copies show the same elements and are checked against the same handle: when one of them frees the memory,
/// every copy on every thread throws <see cref="ObjectDisposedException"/> from then on, in release builds too.</para>
/// <para>Use it for native memory that is passed around by value. Not for what has one owner that nobody should have to
/// free by hand: <see cref="SafeArray{T}"/>; more than 2^31 elements: <see cref="HugeArray{T}"/>.</para>
/// <para>Cost: an element is one load, two compares; create and free call the library. In loops use
/// <c>foreach</c> or a <see cref="Lease"/>: these check once.</para>
/// <para>Threads: any, each with a copy of its own. A field or an array element of this type that several threads
/// share, one of them writing, may be read torn: it is three words, and then length and pointer do not belong together,
/// which no check sees. Share it under a lock, or share a <see cref="SafeArray{T}"/>, whose reference is one
/// word.</para>
/// <para>The check and the access are two steps, and a free on another thread between them is not seen. A returned
/// reference, a span and <c>fixed</c> are checked when they are taken and do not hold the memory. Only what holds it
/// (<see cref="Acquire"/>, a lease, <c>foreach</c>, a pin of <see cref="AsMemory()"/>) excludes that it is freed
/// meanwhile. The elements are not synchronised; those of up to eight bytes at their natural alignment are never read
/// torn.</para>
/// <para>Nobody frees it but the program: there is no finalizer. <see cref="Leaks"/> lists what is left.</para>
/// </remarks>
/// <typeparam name="T">Any unmanaged structure: a primitive type, or a structure of such, of pointers and of
/// buffers.</typeparam>
[DebuggerDisplay("{DebuggerText,nq}")]
[DebuggerTypeProxy(typeof(FixedBufferDebugView<>))]
[CollectionBuilder(typeof(FixedBuffer), nameof(FixedBuffer.Create))]
public readonly unsafe partial struct FixedBuffer<T> : IEquatable<FixedBuffer<T>>, IEnumerable<T>, IRetainable, IDisposable
    where T : unmanaged
{
    private static readonly byte* s_kind = HandleMemory.Kind($"FixedBuffer<{typeof(T).Name}>");

    // 24 bytes, and no more fields than the compiler keeps in registers.
    private readonly T* _pointer;
    private readonly ulong* _word;
    private readonly ulong _lengthAndGeneration; // one load for both; the length in the lower half

    /// <summary>A buffer of zeros.</summary>
    /// <param name="length">How many elements, 0 to 2^31 - 1.</param>
    /// <exception cref="ArgumentOutOfRangeException">The length is negative.</exception>
    /// <exception cref="OutOfMemoryException">The memory was refused.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, or is another version's.</exception>
    public FixedBuffer(int length)
        : this(BufferView<T>.Allocate(length, default, s_kind))
    {
    }

    /// <summary>A buffer with an alignment and a content of the caller's choice.</summary>
    /// <param name="length">How many elements, 0 to 2^31 - 1.</param>
    /// <param name="options">The alignment, and what the memory contains.</param>
    /// <exception cref="ArgumentOutOfRangeException">The length is negative.</exception>
    /// <exception cref="ArgumentException">The alignment is no power of two.</exception>
    /// <exception cref="OutOfMemoryException">The memory was refused.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, or is another version's.</exception>
    public FixedBuffer(int length, BufferOptions options)
        : this(BufferView<T>.Allocate(length, in options, s_kind))
    {
    }

    /// <summary>A copy of an array.</summary>
    /// <param name="values">What the elements become.</param>
    /// <exception cref="ArgumentNullException">There is no array.</exception>
    /// <exception cref="OutOfMemoryException">The memory was refused.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, or is another version's.</exception>
    public FixedBuffer(T[] values)
        : this(BufferView<T>.Allocate(Existing(values), s_kind))
    {
    }

    /// <summary>A copy of a span.</summary>
    /// <param name="values">What the elements become.</param>
    /// <exception cref="OutOfMemoryException">The memory was refused.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, or is another version's.</exception>
    public FixedBuffer(ReadOnlySpan<T> values)
        : this(BufferView<T>.Allocate(values, s_kind))
    {
    }

    internal FixedBuffer(BufferView<T> view)
    {
        _pointer = view.Pointer;
        _word = view.Word;
        _lengthAndGeneration = (uint)view.Length | (ulong)view.Generation << 32;
    }

    /// <summary>The elements and the handle.</summary>
    internal BufferView<T> View
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => new(_pointer, Length, _word, Generation);
    }

    /// <summary>How many elements it has, also after it was freed; zero for a default one. Not checked: it costs
    /// nothing.</summary>
    public int Length => (int)_lengthAndGeneration;

    private uint Generation => (uint)(_lengthAndGeneration >> 32);

    /// <summary>How many bytes its elements have.</summary>
    public long Size => (long)Length * sizeof(T);

    /// <summary>Whether the memory is there.</summary>
    public bool IsValid => HandleWords.IsLive(_word, Generation);

    /// <summary>Whether the memory was freed, or was never there.</summary>
    public bool IsInvalid => !IsValid;

    /// <summary>How often it is held, 0 to 2^31 - 1; the same in every copy.</summary>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    public int RefCount
    {
        get
        {
            HandleWords.ThrowIfStale(_word, Generation);
            return HandleWords.Holders(_word, Generation);
        }
    }

    /// <summary>Whether somebody holds it, so that it cannot be freed.</summary>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    public bool IsRetained => RefCount != 0;

    /// <summary>What it is checked against: for native code, and for listings.</summary>
    public NativeHandle Handle => View.Handle;

    /// <summary>An element.</summary>
    /// <param name="index">From 0 to the length.</param>
    /// <returns>The element itself, to read and to write: valid until the memory is freed.</returns>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    /// <exception cref="IndexOutOfRangeException">There is no such element.</exception>
    public ref T this[int index]
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            if (BufferChecks.AreOn)
            {
                // The index first: a default value has no elements, so that its word, which is none, is never looked
                // at.
                ulong both = _lengthAndGeneration;
                if ((uint)index >= (uint)both)
                {
                    BufferErrors.ThrowIndex(index, Length, _word, Generation);
                }
                if (HandleWords.IsStale(_word, (uint)(both >> 32)))
                {
                    BufferErrors.ThrowStale(_word, Generation);
                }
            }
            return ref _pointer[(nuint)(uint)index];
        }
    }

    /// <summary>Holds it: until the <see cref="Release"/> it cannot be freed.</summary>
    /// <remarks>Whether it is there and the count are one step. About 6 ns.</remarks>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    /// <exception cref="InvalidOperationException">It is held 2^31 - 1 times already.</exception>
    public void Acquire() => HandleWords.Acquire(_word, Generation);

    /// <summary>The same as <see cref="Acquire"/>.</summary>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    /// <exception cref="InvalidOperationException">It is held 2^31 - 1 times already.</exception>
    public void Retain() => HandleWords.Acquire(_word, Generation);

    /// <summary>No longer holds it.</summary>
    /// <returns>True.</returns>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    /// <exception cref="InvalidOperationException">It was released as often as it was acquired; nothing has
    /// changed.</exception>
    public bool Release()
    {
        HandleWords.Release(_word, Generation);
        return true;
    }

    /// <summary>Gives the memory back. This copy and all others are invalid from now on: a second time throws, from
    /// any of them.</summary>
    /// <returns>True.</returns>
    /// <exception cref="ObjectDisposedException">It was freed before, from this copy or another, or never
    /// allocated.</exception>
    /// <exception cref="InvalidOperationException">Somebody holds it, and how often. Nothing has changed.</exception>
    public bool Free()
    {
        HandleMemory.Free(_word, Generation);
        return true;
    }

    /// <summary>Gives the memory back when it is there; a default one's and freed memory are left alone. Throws when it
    /// is held, at the end of a <c>using</c> as well: end leases and releases before it.</summary>
    /// <exception cref="InvalidOperationException">Somebody holds it, and how often; nothing has changed.</exception>
    public void Dispose() => HandleMemory.TryFree(_word, Generation);

    /// <summary>Holds it for a block of code, in which its elements are reached at the speed of a span.</summary>
    /// <returns>What releases it when it is disposed of.</returns>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    public Lease<T> Lease() => new(View, null);

    /// <summary>The elements one after the other, as references; it is held meanwhile.</summary>
    /// <returns>What <c>foreach</c> uses: it allocates nothing.</returns>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    public BufferEnumerator<T> GetEnumerator() => new(View, null);

    IEnumerator<T> IEnumerable<T>.GetEnumerator() => View.Enumerate();

    IEnumerator IEnumerable.GetEnumerator() => View.Enumerate();

    /// <summary>Whether both show the same elements of the same memory. Contents:
    /// <see cref="EqualTo(ReadOnlySpan{T})"/>.</summary>
    /// <param name="other">The other one.</param>
    /// <returns>Also for what was freed.</returns>
    public bool Equals(FixedBuffer<T> other) =>
        _word == other._word && _lengthAndGeneration == other._lengthAndGeneration && _pointer == other._pointer;

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is FixedBuffer<T> other && Equals(other);

    /// <inheritdoc/>
    public override int GetHashCode() => HashCode.Combine((nint)_pointer, (nint)_word, _lengthAndGeneration);

    /// <summary>Whether both show the same elements of the same memory.</summary>
    /// <param name="left">One.</param>
    /// <param name="right">The other.</param>
    /// <returns>Whether they are equal.</returns>
    public static bool operator ==(FixedBuffer<T> left, FixedBuffer<T> right) => left.Equals(right);

    /// <summary>Whether they show different elements.</summary>
    /// <param name="left">One.</param>
    /// <param name="right">The other.</param>
    /// <returns>Whether they differ.</returns>
    public static bool operator !=(FixedBuffer<T> left, FixedBuffer<T> right) => !left.Equals(right);

    /// <summary>The type and the length, and whether it was freed. Reads no element.</summary>
    /// <returns>Such as <c>FixedBuffer&lt;Int32&gt;[100]</c>.</returns>
    public override string ToString() => DebuggerText;

    [DebuggerBrowsable(DebuggerBrowsableState.Never)]
    private string DebuggerText => BufferText.Of($"FixedBuffer<{typeof(T).Name}>", Length, _word, Generation);

    private static ReadOnlySpan<T> Existing(T[] values)
    {
        ArgumentNullException.ThrowIfNull(values);
        return values;
    }
}

/// <summary>Makes buffers from values: <c>FixedBuffer.Create(1, 2, 3)</c>, and <c>FixedBuffer&lt;int&gt; b = [1, 2,
/// 3];</c>.</summary>
public static class FixedBuffer
{
    /// <summary>A copy of some values.</summary>
    /// <typeparam name="T">The element.</typeparam>
    /// <param name="values">What the elements become.</param>
    /// <returns>A buffer as long as there are values.</returns>
    /// <exception cref="OutOfMemoryException">The memory was refused.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, or is another version's.</exception>
    public static FixedBuffer<T> Create<T>(params ReadOnlySpan<T> values)
        where T : unmanaged => new(values);
}
