// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections;
using System.Collections.Generic;
using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>A fixed-length array in native memory, as a value of 24 bytes. It can be copied, kept in fields, and put
/// into structures that are in native memory themselves.</summary>
/// <remarks>
/// <para>All copies refer to the same elements and are checked against the same handle. After one copy frees the
/// memory, every copy on every thread throws <see cref="ObjectDisposedException"/>, in release builds too.</para>
/// <para>Use it for native memory that is passed by value. Not for memory with one owner that is freed automatically:
/// see <see cref="SafeArray{T}"/>. Not for more than 2^31 elements: see <see cref="HugeArray{T}"/>.</para>
/// <para>Cost: an element access is one load and two compares; create and free call the library. In loops use
/// <c>foreach</c> or a <see cref="Lease"/>, which check once.</para>
/// <para>Threads: any thread, each with its own copy. When threads share a field or an array element of this type and
/// one of them writes it, a read may be torn: the value is three words, so the length and the pointer may not match,
/// and no check detects that. Share it under a lock, or share a <see cref="SafeArray{T}"/>, whose reference is one
/// word.</para>
/// <para>The check and the access are two steps. A free on another thread between them is not detected. A returned
/// reference, a span and <c>fixed</c> are checked when they are taken and do not hold the memory. Only a hold
/// (<see cref="Acquire"/>, a lease, <c>foreach</c>, a pin of <see cref="AsMemory()"/>) prevents a free. Access to the
/// elements is not synchronized; elements of up to eight bytes at their natural alignment are never read torn.</para>
/// <para>The program must free the memory: there is no finalizer. <see cref="Leaks"/> lists memory that was not
/// freed.</para>
/// </remarks>
/// <typeparam name="T">The type of the elements: any unmanaged type, such as a primitive type or a structure of
/// primitive types, pointers and buffers.</typeparam>
[DebuggerDisplay("{DebuggerText,nq}")]
[DebuggerTypeProxy(typeof(FixedBufferDebugView<>))]
[CollectionBuilder(typeof(FixedBuffer), nameof(FixedBuffer.Create))]
public readonly unsafe partial struct FixedBuffer<T> : IEquatable<FixedBuffer<T>>, IEnumerable<T>, IRetainable, IDisposable
    where T : unmanaged
{
    private static readonly byte* s_kind = HandleMemory.Kind($"FixedBuffer<{typeof(T).Name}>");

    // 24 bytes, and few enough fields for the compiler to keep them in registers.
    private readonly T* _pointer;
    private readonly ulong* _word;
    private readonly ulong _lengthAndGeneration; // one load for both; the length is in the lower half

    /// <summary>Initializes a new buffer of zeros.</summary>
    /// <param name="length">The number of elements, 0 to 2^31 - 1.</param>
    /// <exception cref="ArgumentOutOfRangeException">The length is negative.</exception>
    /// <exception cref="OutOfMemoryException">Out of memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing or has a different version.</exception>
    public FixedBuffer(int length)
        : this(BufferView<T>.Allocate(length, default, s_kind))
    {
    }

    /// <summary>Initializes a new buffer of zeros with a lifetime.</summary>
    /// <param name="length">The number of elements, 0 to 2^31 - 1.</param>
    /// <param name="lifetime">How long the elements are held: Persistent, or TempJob, which reports memory that is not
    /// freed within its frames.</param>
    /// <exception cref="ArgumentOutOfRangeException">The length is negative, or the lifetime is not valid.</exception>
    /// <exception cref="ArgumentException">The lifetime is Temp; use <see cref="TempScope.Allocate{T}"/>.</exception>
    /// <exception cref="OutOfMemoryException">Out of memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing or has a different version.</exception>
    public FixedBuffer(int length, Lifetime lifetime)
        : this(BufferView<T>.Allocate(length, new BufferOptions { Lifetime = lifetime }, s_kind))
    {
    }

    /// <summary>Initializes a new buffer with the specified alignment, contents and lifetime.</summary>
    /// <param name="length">The number of elements, 0 to 2^31 - 1.</param>
    /// <param name="options">The alignment, the contents and the lifetime of the memory.</param>
    /// <exception cref="ArgumentOutOfRangeException">The length is negative.</exception>
    /// <exception cref="ArgumentException">The alignment is not a power of two, or the lifetime is Temp.</exception>
    /// <exception cref="OutOfMemoryException">Out of memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing or has a different version.</exception>
    public FixedBuffer(int length, BufferOptions options)
        : this(BufferView<T>.Allocate(length, in options, s_kind))
    {
    }

    /// <summary>Initializes a new instance with a copy of an array.</summary>
    /// <param name="values">The values to copy.</param>
    /// <exception cref="ArgumentNullException">The array is null.</exception>
    /// <exception cref="OutOfMemoryException">Out of memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing or has a different version.</exception>
    public FixedBuffer(T[] values)
        : this(BufferView<T>.Allocate(Existing(values), s_kind))
    {
    }

    /// <summary>Initializes a new instance with a copy of a span.</summary>
    /// <param name="values">The values to copy.</param>
    /// <exception cref="OutOfMemoryException">Out of memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing or has a different version.</exception>
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

    /// <summary>Gets the elements and the handle.</summary>
    internal BufferView<T> View
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => new(_pointer, Length, _word, Generation);
    }

    /// <summary>Gets the number of elements; zero for a default value. Not checked, so it costs nothing and also works
    /// after the memory was freed.</summary>
    public int Length => (int)_lengthAndGeneration;

    private uint Generation => (uint)(_lengthAndGeneration >> 32);

    /// <summary>Gets the size of the elements in bytes.</summary>
    public long Size => (long)Length * sizeof(T);

    /// <summary>Gets a value that indicates whether the memory is live.</summary>
    public bool IsValid => HandleWords.IsLive(_word, Generation);

    /// <summary>Gets a value that indicates whether the memory was freed or never allocated.</summary>
    public bool IsInvalid => !IsValid;

    /// <summary>Gets the number of holds, 0 to 2^31 - 1. It is the same in every copy.</summary>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    public int RefCount
    {
        get
        {
            HandleWords.ThrowIfStale(_word, Generation);
            return HandleWords.Holders(_word, Generation);
        }
    }

    /// <summary>Gets a value that indicates whether the memory is held and therefore cannot be freed.</summary>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    public bool IsRetained => RefCount != 0;

    /// <summary>Gets the handle that accesses are checked against, for native code and for listings.</summary>
    public NativeHandle Handle => View.Handle;

    /// <summary>Gets a reference to an element.</summary>
    /// <param name="index">The zero-based index of the element.</param>
    /// <returns>A reference to the element, to read and to write. Valid until the memory is freed.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    /// <exception cref="IndexOutOfRangeException">The index is negative or not less than the length.</exception>
    public ref T this[int index]
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            if (BufferChecks.AreOn)
            {
                // Check the index first: a default value has no elements, so its missing word is never read.
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

    /// <summary>Holds the memory: it cannot be freed until <see cref="Release"/> is called.</summary>
    /// <remarks>Checks and counts in one atomic step. About 6 ns.</remarks>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    /// <exception cref="InvalidOperationException">The memory is already held 2^31 - 1 times.</exception>
    public void Acquire() => HandleWords.Acquire(_word, Generation);

    /// <summary>Holds the memory. Same as <see cref="Acquire"/>.</summary>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    /// <exception cref="InvalidOperationException">The memory is already held 2^31 - 1 times.</exception>
    public void Retain() => HandleWords.Acquire(_word, Generation);

    /// <summary>Releases one hold.</summary>
    /// <returns>Always true.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    /// <exception cref="InvalidOperationException">All holds were already released; nothing has changed.</exception>
    public bool Release()
    {
        HandleWords.Release(_word, Generation);
        return true;
    }

    /// <summary>Frees the memory. This copy and all others become invalid. A second call throws, from any
    /// copy.</summary>
    /// <returns>Always true.</returns>
    /// <exception cref="ObjectDisposedException">The memory was already freed, from this copy or another one, or was
    /// never allocated.</exception>
    /// <exception cref="InvalidOperationException">The memory is held; the message gives the number of holds. Nothing
    /// has changed.</exception>
    public bool Free()
    {
        HandleMemory.Free(_word, Generation);
        return true;
    }

    /// <summary>Frees the memory if it is live; does nothing for a default value or freed memory. Throws when the
    /// memory is held, also at the end of a <c>using</c>: end leases and release holds first.</summary>
    /// <exception cref="InvalidOperationException">The memory is held; the message gives the number of holds. Nothing
    /// has changed.</exception>
    public void Dispose() => HandleMemory.TryFree(_word, Generation);

    /// <summary>Holds the memory for a block of code that accesses the elements at the speed of a span.</summary>
    /// <returns>A lease that releases the hold when it is disposed of.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    public Lease<T> Lease() => new(View, null);

    /// <summary>Enumerates the elements as references and holds the memory meanwhile.</summary>
    /// <returns>The enumerator for <c>foreach</c>. It allocates nothing.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    public BufferEnumerator<T> GetEnumerator() => new(View, null);

    IEnumerator<T> IEnumerable<T>.GetEnumerator() => View.Enumerate();

    IEnumerator IEnumerable.GetEnumerator() => View.Enumerate();

    /// <summary>Determines whether two buffers refer to the same elements of the same memory. To compare contents, use
    /// <see cref="EqualTo(ReadOnlySpan{T})"/>.</summary>
    /// <param name="other">The buffer to compare with.</param>
    /// <returns>True if they are the same, also after the memory was freed; otherwise, false.</returns>
    public bool Equals(FixedBuffer<T> other) =>
        _word == other._word && _lengthAndGeneration == other._lengthAndGeneration && _pointer == other._pointer;

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is FixedBuffer<T> other && Equals(other);

    /// <inheritdoc/>
    public override int GetHashCode() => HashCode.Combine((nint)_pointer, (nint)_word, _lengthAndGeneration);

    /// <summary>Determines whether two buffers refer to the same elements of the same memory.</summary>
    /// <param name="left">The first operand.</param>
    /// <param name="right">The second operand.</param>
    /// <returns>True if they are equal; otherwise, false.</returns>
    public static bool operator ==(FixedBuffer<T> left, FixedBuffer<T> right) => left.Equals(right);

    /// <summary>Determines whether two buffers refer to different elements.</summary>
    /// <param name="left">The first operand.</param>
    /// <param name="right">The second operand.</param>
    /// <returns>True if they differ; otherwise, false.</returns>
    public static bool operator !=(FixedBuffer<T> left, FixedBuffer<T> right) => !left.Equals(right);

    /// <summary>Returns the type and the length, and whether the memory was freed. Reads no element.</summary>
    /// <returns>A text such as <c>FixedBuffer&lt;Int32&gt;[100]</c>.</returns>
    public override string ToString() => DebuggerText;

    [DebuggerBrowsable(DebuggerBrowsableState.Never)]
    private string DebuggerText => BufferText.Of($"FixedBuffer<{typeof(T).Name}>", Length, _word, Generation);

    private static ReadOnlySpan<T> Existing(T[] values)
    {
        ArgumentNullException.ThrowIfNull(values);
        return values;
    }
}

/// <summary>Creates buffers from values: <c>FixedBuffer.Create(1, 2, 3)</c>, and <c>FixedBuffer&lt;int&gt; b = [1, 2,
/// 3];</c>.</summary>
public static class FixedBuffer
{
    /// <summary>Copies values into new native memory.</summary>
    /// <typeparam name="T">The type of the elements.</typeparam>
    /// <param name="values">The values to copy.</param>
    /// <returns>A buffer with the given values.</returns>
    /// <exception cref="OutOfMemoryException">Out of memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing or has a different version.</exception>
    public static FixedBuffer<T> Create<T>(params ReadOnlySpan<T> values)
        where T : unmanaged => new(values);
}
