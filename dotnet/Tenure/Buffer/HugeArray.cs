// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>An array in native memory past 2^31 elements: <see cref="HugeBuffer{T}"/> without anything added.</summary>
/// <remarks>
/// <code>
/// using var counts = new HugeArray&lt;int&gt;(4_200_000_000);
/// counts.Fill(1);
/// counts[4_199_999_999]++;
/// </code>
/// </remarks>
/// <typeparam name="T">Any unmanaged structure.</typeparam>
[CollectionBuilder(typeof(HugeArray), nameof(HugeArray.Create))]
public unsafe class HugeArray<T> : HugeBuffer<T>
    where T : unmanaged
{
    private static readonly byte* s_kind = HandleMemory.Kind($"HugeArray<{typeof(T).Name}>");
    private static readonly byte* s_fileKind = HandleMemory.Kind($"HugeArray<{typeof(T).Name}> of a file");

    /// <summary>An array of zeros, which costs no memory where it was never written.</summary>
    /// <param name="length">How many elements.</param>
    /// <exception cref="ArgumentOutOfRangeException">The length is negative.</exception>
    /// <exception cref="OutOfMemoryException">The memory was refused.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, or is another version's.</exception>
    public HugeArray(long length)
        : base(BufferView<T>.Allocate(length, default, s_kind))
    {
    }

    /// <summary>An array with an alignment and a content of the caller's choice.</summary>
    /// <param name="length">How many elements.</param>
    /// <param name="options">The alignment, and what the memory contains.</param>
    /// <exception cref="ArgumentOutOfRangeException">The length is negative.</exception>
    /// <exception cref="ArgumentException">The alignment is no power of two.</exception>
    /// <exception cref="OutOfMemoryException">The memory was refused.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, or is another version's.</exception>
    public HugeArray(long length, BufferOptions options)
        : base(BufferView<T>.Allocate(length, in options, s_kind))
    {
    }

    /// <summary>An array that begins with some values; the elements after them are zero.</summary>
    /// <param name="length">How many elements.</param>
    /// <param name="values">At most as many.</param>
    /// <exception cref="ArgumentOutOfRangeException">The length is negative.</exception>
    /// <exception cref="ArgumentException">There are more values than elements.</exception>
    /// <exception cref="OutOfMemoryException">The memory was refused.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, or is another version's.</exception>
    public HugeArray(long length, params ReadOnlySpan<T> values)
        : base(BufferView<T>.Allocate(
            values.Length <= length ? length : TooMany(values.Length, length), default, s_kind)) => CopyFrom(values);

    /// <summary>An array whose memory is a file's, so that it may be more than the machine has.</summary>
    /// <param name="path">The file, which is made or kept, and stays; shorter ones get longer. Null: a file without a
    /// name in the folder for temporary files, which goes with the array.</param>
    /// <param name="length">How many elements, at least one.</param>
    /// <exception cref="ArgumentOutOfRangeException">The length is not positive.</exception>
    /// <exception cref="ArgumentException">The path is empty, or has a character zero.</exception>
    /// <exception cref="System.IO.IOException">The file cannot be opened, made longer or mapped; the message says
    /// why.</exception>
    /// <exception cref="OutOfMemoryException">The addresses were refused.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, or is another version's.</exception>
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

/// <summary>Makes arrays from values: <c>HugeArray.Create(1, 2, 3)</c>, and <c>HugeArray&lt;int&gt; a = [1, 2,
/// 3];</c>.</summary>
public static class HugeArray
{
    /// <summary>A copy of some values.</summary>
    /// <typeparam name="T">The element.</typeparam>
    /// <param name="values">What the elements become.</param>
    /// <returns>An array as long as there are values.</returns>
    /// <exception cref="OutOfMemoryException">The memory was refused.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, or is another version's.</exception>
    public static HugeArray<T> Create<T>(params ReadOnlySpan<T> values)
        where T : unmanaged => new(values.Length, values);
}
