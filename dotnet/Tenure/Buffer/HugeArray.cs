// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>An array in native memory that can have more than 2^31 elements: a <see cref="HugeBuffer{T}"/> without
/// added members.</summary>
/// <remarks>
/// <code>
/// using var counts = new HugeArray&lt;int&gt;(4_200_000_000);
/// counts.Fill(1);
/// counts[4_199_999_999]++;
/// </code>
/// </remarks>
/// <typeparam name="T">The type of the elements: any unmanaged type.</typeparam>
[CollectionBuilder(typeof(HugeArray), nameof(HugeArray.Create))]
public unsafe class HugeArray<T> : HugeBuffer<T>
    where T : unmanaged
{
    private static readonly byte* s_kind = HandleMemory.Kind($"HugeArray<{typeof(T).Name}>");
    private static readonly byte* s_fileKind = HandleMemory.Kind($"HugeArray<{typeof(T).Name}> of a file");

    /// <summary>Initializes a new array of zeros. Pages that were never written use no memory.</summary>
    /// <param name="length">The number of elements.</param>
    /// <exception cref="ArgumentOutOfRangeException">The length is negative.</exception>
    /// <exception cref="OutOfMemoryException">Out of memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing or has a different version.</exception>
    public HugeArray(long length)
        : base(BufferView<T>.Allocate(length, default, s_kind))
    {
    }

    /// <summary>Initializes a new array with the specified alignment and contents.</summary>
    /// <param name="length">The number of elements.</param>
    /// <param name="options">The alignment, the contents and the lifetime of the memory.</param>
    /// <exception cref="ArgumentOutOfRangeException">The length is negative.</exception>
    /// <exception cref="ArgumentException">The alignment is not a power of two, or the lifetime is Temp.</exception>
    /// <exception cref="OutOfMemoryException">Out of memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing or has a different version.</exception>
    public HugeArray(long length, BufferOptions options)
        : base(BufferView<T>.Allocate(length, in options, s_kind))
    {
    }

    /// <summary>Initializes a new array that starts with the given values; the elements after them are zero.</summary>
    /// <param name="length">The number of elements.</param>
    /// <param name="values">The values to copy, at most as many as there are elements.</param>
    /// <exception cref="ArgumentOutOfRangeException">The length is negative.</exception>
    /// <exception cref="ArgumentException">There are more values than elements.</exception>
    /// <exception cref="OutOfMemoryException">Out of memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing or has a different version.</exception>
    public HugeArray(long length, params ReadOnlySpan<T> values)
        : base(BufferView<T>.Allocate(
            values.Length <= length ? length : TooMany(values.Length, length), default, s_kind)) => CopyFrom(values);

    /// <summary>Initializes a new array whose memory is a mapped file, so that it can be larger than the memory of the
    /// machine.</summary>
    /// <param name="path">The file. It is created if missing, extended if shorter, and kept afterwards. Null: an
    /// unnamed file in the folder for temporary files, which is deleted with the array.</param>
    /// <param name="length">The number of elements, at least one.</param>
    /// <exception cref="ArgumentOutOfRangeException">The length is not positive.</exception>
    /// <exception cref="ArgumentException">The path is empty or contains a null character.</exception>
    /// <exception cref="System.IO.IOException">The file cannot be opened, extended or mapped; the message gives the
    /// reason.</exception>
    /// <exception cref="OutOfMemoryException">Out of address space.</exception>
    /// <exception cref="TenureLoadException">The native library is missing or has a different version.</exception>
    public HugeArray(string? path, long length)
        : base(BufferView<T>.MapFile(path, length, s_fileKind))
    {
    }

    private static long TooMany(int count, long length)
    {
        Throw.IfNegative(length);
        BufferErrors.ThrowTooLong(count, length, "values");
        return 0;
    }
}

/// <summary>Creates arrays from values: <c>HugeArray.Create(1, 2, 3)</c>, and <c>HugeArray&lt;int&gt; a = [1, 2,
/// 3];</c>.</summary>
public static class HugeArray
{
    /// <summary>Copies values into new native memory.</summary>
    /// <typeparam name="T">The type of the elements.</typeparam>
    /// <param name="values">The values to copy.</param>
    /// <returns>An array with the given values.</returns>
    /// <exception cref="OutOfMemoryException">Out of memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing or has a different version.</exception>
    public static HugeArray<T> Create<T>(params ReadOnlySpan<T> values)
        where T : unmanaged => new(values.Length, values);
}
