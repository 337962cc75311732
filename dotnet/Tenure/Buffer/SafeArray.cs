// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>An array in native memory: a <see cref="SafeBuffer{T}"/> without added members.</summary>
/// <remarks>
/// <code>
/// using var employees = new SafeArray&lt;Employee&gt;(100);
/// using SafeArray&lt;int&gt; primes = [2, 3, 5, 7];
/// </code>
/// </remarks>
/// <typeparam name="T">The type of the elements: any unmanaged type.</typeparam>
[CollectionBuilder(typeof(SafeArray), nameof(SafeArray.Create))]
public unsafe class SafeArray<T> : SafeBuffer<T>
    where T : unmanaged
{
    private static readonly byte* s_kind = HandleMemory.Kind($"SafeArray<{typeof(T).Name}>");

    /// <summary>Initializes a new array of zeros.</summary>
    /// <param name="length">The number of elements, 0 to 2^31 - 1.</param>
    /// <exception cref="ArgumentOutOfRangeException">The length is negative.</exception>
    /// <exception cref="OutOfMemoryException">Out of memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing or has a different version.</exception>
    public SafeArray(int length)
        : base(BufferView<T>.Allocate(length, default, s_kind))
    {
    }

    /// <summary>Initializes a new array of zeros with a lifetime.</summary>
    /// <param name="length">The number of elements, 0 to 2^31 - 1.</param>
    /// <param name="lifetime">How long the elements are held: Persistent, or TempJob, which reports memory that is not
    /// freed within its frames.</param>
    /// <exception cref="ArgumentOutOfRangeException">The length is negative, or the lifetime is not valid.</exception>
    /// <exception cref="ArgumentException">The lifetime is Temp; use <see cref="TempScope.Allocate{T}"/>.</exception>
    /// <exception cref="OutOfMemoryException">Out of memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing or has a different version.</exception>
    public SafeArray(int length, Lifetime lifetime)
        : base(BufferView<T>.Allocate(length, new BufferOptions { Lifetime = lifetime }, s_kind))
    {
    }

    /// <summary>Initializes a new array with the specified alignment, contents and lifetime.</summary>
    /// <param name="length">The number of elements, 0 to 2^31 - 1.</param>
    /// <param name="options">The alignment, the contents and the lifetime of the memory.</param>
    /// <exception cref="ArgumentOutOfRangeException">The length is negative.</exception>
    /// <exception cref="ArgumentException">The alignment is not a power of two, or the lifetime is Temp.</exception>
    /// <exception cref="OutOfMemoryException">Out of memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing or has a different version.</exception>
    public SafeArray(int length, BufferOptions options)
        : base(BufferView<T>.Allocate(length, in options, s_kind))
    {
    }

    /// <summary>Initializes a new array that starts with the given values; the elements after them are zero.</summary>
    /// <param name="length">The number of elements, 0 to 2^31 - 1.</param>
    /// <param name="values">The values to copy, at most as many as there are elements.</param>
    /// <exception cref="ArgumentOutOfRangeException">The length is negative.</exception>
    /// <exception cref="ArgumentException">There are more values than elements.</exception>
    /// <exception cref="OutOfMemoryException">Out of memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing or has a different version.</exception>
    public SafeArray(int length, params ReadOnlySpan<T> values)
        : base(BufferView<T>.Allocate(
            values.Length <= length ? length : TooMany(values.Length, length), default, s_kind)) => CopyFrom(values);

    /// <summary>Copies values into new native memory.</summary>
    /// <param name="values">The values to copy.</param>
    /// <exception cref="OutOfMemoryException">Out of memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing or has a different version.</exception>
    public SafeArray(ReadOnlySpan<T> values)
        : base(BufferView<T>.Allocate(values, s_kind))
    {
    }

    /// <summary>Initializes a new instance with a copy of an array.</summary>
    /// <param name="values">The values to copy.</param>
    /// <exception cref="ArgumentNullException">The array is null.</exception>
    /// <exception cref="OutOfMemoryException">Out of memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing or has a different version.</exception>
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

/// <summary>Creates arrays from values: <c>SafeArray.Create(1, 2, 3)</c>, and <c>SafeArray&lt;int&gt; a = [1, 2,
/// 3];</c>.</summary>
public static class SafeArray
{
    /// <summary>Copies values into new native memory.</summary>
    /// <typeparam name="T">The type of the elements.</typeparam>
    /// <param name="values">The values to copy.</param>
    /// <returns>An array with the given values.</returns>
    /// <exception cref="OutOfMemoryException">Out of memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing or has a different version.</exception>
    public static SafeArray<T> Create<T>(params ReadOnlySpan<T> values)
        where T : unmanaged => new(values);
}
