// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>An array in native memory: <see cref="SafeBuffer{T}"/> without anything added.</summary>
/// <remarks>
/// <code>
/// using var employees = new SafeArray&lt;Employee&gt;(100);
/// using SafeArray&lt;int&gt; primes = [2, 3, 5, 7];
/// </code>
/// </remarks>
/// <typeparam name="T">Any unmanaged structure.</typeparam>
[CollectionBuilder(typeof(SafeArray), nameof(SafeArray.Create))]
public unsafe class SafeArray<T> : SafeBuffer<T>
    where T : unmanaged
{
    private static readonly byte* s_kind = HandleMemory.Kind($"SafeArray<{typeof(T).Name}>");

    /// <summary>An array of zeros.</summary>
    /// <param name="length">How many elements, 0 to 2^31 - 1.</param>
    /// <exception cref="ArgumentOutOfRangeException">The length is negative.</exception>
    /// <exception cref="OutOfMemoryException">The memory was refused.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, or is another version's.</exception>
    public SafeArray(int length)
        : base(BufferView<T>.Allocate(length, default, s_kind))
    {
    }

    /// <summary>An array with an alignment and a content of the caller's choice.</summary>
    /// <param name="length">How many elements, 0 to 2^31 - 1.</param>
    /// <param name="options">The alignment, and what the memory contains.</param>
    /// <exception cref="ArgumentOutOfRangeException">The length is negative.</exception>
    /// <exception cref="ArgumentException">The alignment is no power of two.</exception>
    /// <exception cref="OutOfMemoryException">The memory was refused.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, or is another version's.</exception>
    public SafeArray(int length, BufferOptions options)
        : base(BufferView<T>.Allocate(length, in options, s_kind))
    {
    }

    /// <summary>An array that begins with some values; the elements after them are zero.</summary>
    /// <param name="length">How many elements, 0 to 2^31 - 1.</param>
    /// <param name="values">At most as many.</param>
    /// <exception cref="ArgumentOutOfRangeException">The length is negative.</exception>
    /// <exception cref="ArgumentException">There are more values than elements.</exception>
    /// <exception cref="OutOfMemoryException">The memory was refused.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, or is another version's.</exception>
    public SafeArray(int length, params ReadOnlySpan<T> values)
        : base(BufferView<T>.Allocate(
            values.Length <= length ? length : TooMany(values.Length, length), default, s_kind)) => CopyFrom(values);

    /// <summary>A copy of some values.</summary>
    /// <param name="values">What the elements become.</param>
    /// <exception cref="OutOfMemoryException">The memory was refused.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, or is another version's.</exception>
    public SafeArray(ReadOnlySpan<T> values)
        : base(BufferView<T>.Allocate(values, s_kind))
    {
    }

    /// <summary>A copy of an array.</summary>
    /// <param name="values">What the elements become.</param>
    /// <exception cref="ArgumentNullException">There is no array.</exception>
    /// <exception cref="OutOfMemoryException">The memory was refused.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, or is another version's.</exception>
    public SafeArray(T[] values)
        : base(BufferView<T>.Allocate(values ?? throw new ArgumentNullException(nameof(values)), s_kind))
    {
    }

    private static int TooMany(int count, int length)
    {
        Throw.IfNegative(length);
        BufferErrors.ThrowTooLong(count, length, "values");
        return 0;
    }
}

/// <summary>Makes arrays from values: <c>SafeArray.Create(1, 2, 3)</c>, and <c>SafeArray&lt;int&gt; a = [1, 2,
/// 3];</c>.</summary>
public static class SafeArray
{
    /// <summary>A copy of some values.</summary>
    /// <typeparam name="T">The element.</typeparam>
    /// <param name="values">What the elements become.</param>
    /// <returns>An array as long as there are values.</returns>
    /// <exception cref="OutOfMemoryException">The memory was refused.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, or is another version's.</exception>
    public static SafeArray<T> Create<T>(params ReadOnlySpan<T> values)
        where T : unmanaged => new(values);
}
