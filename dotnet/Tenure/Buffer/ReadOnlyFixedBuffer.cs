// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections;
using System.Collections.Generic;
using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>A read-only view of a <see cref="FixedBuffer{T}"/>: its elements cannot be written, and it cannot be freed,
/// through this type.</summary>
/// <remarks>
/// <para>24 bytes, checked in the same way as the buffer, and stale after the buffer is freed.</para>
/// <para>Threads: any thread, each with its own copy. When threads share a field or an array element of this type and
/// one of them writes it, a read may be torn: the value is three words, so the length and the pointer may not match.
/// Share it under a lock, or share a <see cref="SafeArray{T}"/>, whose reference is one word. The check and the access
/// are two steps, and a free on another thread between them is not detected: hold the memory (<see cref="Acquire"/>)
/// where another thread may free it. A span, a reference and this type's <c>foreach</c> do not hold the memory.</para>
/// </remarks>
/// <typeparam name="T">The type of the elements.</typeparam>
[DebuggerDisplay("{_buffer}")]
public readonly struct ReadOnlyFixedBuffer<T> : IEquatable<ReadOnlyFixedBuffer<T>>, IReadOnlyList<T>, IRetainable
    where T : unmanaged
{
    private readonly FixedBuffer<T> _buffer;

    internal ReadOnlyFixedBuffer(FixedBuffer<T> buffer) => _buffer = buffer;

    /// <summary>Gets the number of elements, also after the memory was freed.</summary>
    public int Length => _buffer.Length;

    int IReadOnlyCollection<T>.Count => _buffer.Length;

    /// <summary>Gets a value that indicates whether the memory is live.</summary>
    public bool IsValid => _buffer.IsValid;

    /// <summary>Gets a span over the elements. The memory is checked once, when this is called.</summary>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    public ReadOnlySpan<T> Span => _buffer.Span;

    /// <summary>Gets a reference to an element.</summary>
    /// <param name="index">The zero-based index of the element.</param>
    /// <returns>A reference to the element, to read.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    /// <exception cref="IndexOutOfRangeException">The index is negative or not less than the length.</exception>
    public ref readonly T this[int index]
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => ref _buffer[index];
    }

    T IReadOnlyList<T>.this[int index] => _buffer[index];

    /// <summary>Holds the memory: it cannot be freed until <see cref="Release"/> is called.</summary>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    public void Acquire() => _buffer.Acquire();

    /// <inheritdoc/>
    public void Retain() => _buffer.Retain();

    /// <inheritdoc/>
    public bool Release() => _buffer.Release();

    /// <summary>Returns a span over a part of the elements. The memory is checked once, when this is called.</summary>
    /// <param name="start">The index of the first element, 0 to the length.</param>
    /// <param name="length">The number of elements.</param>
    /// <returns>A span of the same memory.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The part is out of range.</exception>
    public ReadOnlySpan<T> Slice(int start, int length) => _buffer.Slice(start, length);

    /// <summary>Copies all elements.</summary>
    /// <param name="destination">The destination, at least as long as the buffer.</param>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    /// <exception cref="ArgumentException">The destination is shorter; nothing was copied.</exception>
    public void CopyTo(Span<T> destination) => _buffer.CopyTo(destination);

    /// <summary>Copies all elements to a managed array.</summary>
    /// <returns>A new array.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    public T[] CopyToArray() => _buffer.CopyToArray();

    /// <summary>Enumerates the elements. The memory is checked once, when this is called, and is not held.</summary>
    /// <returns>The enumerator of a span.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    public ReadOnlySpan<T>.Enumerator GetEnumerator() => Span.GetEnumerator();

    IEnumerator<T> IEnumerable<T>.GetEnumerator() => _buffer.View.Enumerate();

    IEnumerator IEnumerable.GetEnumerator() => _buffer.View.Enumerate();

    /// <inheritdoc/>
    public bool Equals(ReadOnlyFixedBuffer<T> other) => _buffer.Equals(other._buffer);

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is ReadOnlyFixedBuffer<T> other && Equals(other);

    /// <inheritdoc/>
    public override int GetHashCode() => _buffer.GetHashCode();

    /// <summary>Determines whether two buffers refer to the same elements of the same memory.</summary>
    /// <param name="left">The first operand.</param>
    /// <param name="right">The second operand.</param>
    /// <returns>True if they are equal; otherwise, false.</returns>
    public static bool operator ==(ReadOnlyFixedBuffer<T> left, ReadOnlyFixedBuffer<T> right) => left.Equals(right);

    /// <summary>Determines whether two buffers refer to different elements.</summary>
    /// <param name="left">The first operand.</param>
    /// <param name="right">The second operand.</param>
    /// <returns>True if they differ; otherwise, false.</returns>
    public static bool operator !=(ReadOnlyFixedBuffer<T> left, ReadOnlyFixedBuffer<T> right) => !left.Equals(right);
}
