// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections;
using System.Collections.Generic;
using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>A <see cref="FixedBuffer{T}"/> that cannot be written, nor freed, through this type: the compiler sees to
/// it.</summary>
/// <remarks>
/// <para>24 bytes, checked as the buffer itself, and stale when that is freed.</para>
/// <para>Threads: any, each with a copy of its own. A field or an array element of this type that several threads
/// share, one of them writing, may be read torn: it is three words, and then length and pointer do not belong together.
/// Share it under a lock, or share a <see cref="SafeArray{T}"/>, whose reference is one word. The check and the access
/// are two steps, and a free on another thread between them is not seen: hold it (<see cref="Acquire"/>) where another
/// thread may free it. A span, a reference and this type's <c>foreach</c> do not hold the memory.</para>
/// </remarks>
/// <typeparam name="T">The element.</typeparam>
[DebuggerDisplay("{_buffer}")]
public readonly struct ReadOnlyFixedBuffer<T> : IEquatable<ReadOnlyFixedBuffer<T>>, IReadOnlyList<T>, IRetainable
    where T : unmanaged
{
    private readonly FixedBuffer<T> _buffer;

    internal ReadOnlyFixedBuffer(FixedBuffer<T> buffer) => _buffer = buffer;

    /// <summary>How many elements it has, also after it was freed.</summary>
    public int Length => _buffer.Length;

    int IReadOnlyCollection<T>.Count => _buffer.Length;

    /// <summary>Whether the memory is there.</summary>
    public bool IsValid => _buffer.IsValid;

    /// <summary>The elements. The memory is checked once, now.</summary>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    public ReadOnlySpan<T> Span => _buffer.Span;

    /// <summary>An element.</summary>
    /// <param name="index">From 0 to the length.</param>
    /// <returns>The element itself, to read.</returns>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    /// <exception cref="IndexOutOfRangeException">There is no such element.</exception>
    public ref readonly T this[int index]
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => ref _buffer[index];
    }

    T IReadOnlyList<T>.this[int index] => _buffer[index];

    /// <summary>Holds it: until the <see cref="Release"/> it cannot be freed.</summary>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    public void Acquire() => _buffer.Acquire();

    /// <inheritdoc/>
    public void Retain() => _buffer.Retain();

    /// <inheritdoc/>
    public bool Release() => _buffer.Release();

    /// <summary>A part of the elements. The memory is checked once, now.</summary>
    /// <param name="start">The first of them, 0 to the length.</param>
    /// <param name="length">How many.</param>
    /// <returns>A span of the same memory.</returns>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The part is not inside.</exception>
    public ReadOnlySpan<T> Slice(int start, int length) => _buffer.Slice(start, length);

    /// <summary>Copies all elements.</summary>
    /// <param name="destination">At least as long.</param>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    /// <exception cref="ArgumentException">The destination is shorter; nothing was copied.</exception>
    public void CopyTo(Span<T> destination) => _buffer.CopyTo(destination);

    /// <summary>A managed array with all elements.</summary>
    /// <returns>A new array.</returns>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    public T[] CopyToArray() => _buffer.CopyToArray();

    /// <summary>The elements one after the other. The memory is checked once, now; it is not held.</summary>
    /// <returns>A span's enumerator.</returns>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    public ReadOnlySpan<T>.Enumerator GetEnumerator() => Span.GetEnumerator();

    IEnumerator<T> IEnumerable<T>.GetEnumerator() => _buffer.View.Enumerate();

    IEnumerator IEnumerable.GetEnumerator() => _buffer.View.Enumerate();

    /// <inheritdoc/>
    public bool Equals(ReadOnlyFixedBuffer<T> other) => _buffer.Equals(other._buffer);

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is ReadOnlyFixedBuffer<T> other && Equals(other);

    /// <inheritdoc/>
    public override int GetHashCode() => _buffer.GetHashCode();

    /// <summary>Whether both show the same elements of the same memory.</summary>
    /// <param name="left">One.</param>
    /// <param name="right">The other.</param>
    /// <returns>Whether they are equal.</returns>
    public static bool operator ==(ReadOnlyFixedBuffer<T> left, ReadOnlyFixedBuffer<T> right) => left.Equals(right);

    /// <summary>Whether they show different elements.</summary>
    /// <param name="left">One.</param>
    /// <param name="right">The other.</param>
    /// <returns>Whether they differ.</returns>
    public static bool operator !=(ReadOnlyFixedBuffer<T> left, ReadOnlyFixedBuffer<T> right) => !left.Equals(right);
}
