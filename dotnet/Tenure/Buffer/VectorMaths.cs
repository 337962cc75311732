// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics.CodeAnalysis;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tenure;

/// <summary>Arithmetic over whole buffers of numbers, as fast as the memory or the processor's vector instructions
/// allow.</summary>
/// <remarks>
/// <para>Use it for filling, converting, calculating, comparing and summing buffers of sbyte, byte, short, ushort, int,
/// uint, long, ulong, float or double. Any other type throws a <see cref="NotSupportedException"/>.</para>
/// <para>Results are bit-identical to those of the plain loop on every machine, except for which NaN is produced.
/// Integers wrap; only a division by zero throws. A written buffer may be one of the read buffers if both start at the
/// same element (in place); otherwise they must not overlap. A call that throws has written nothing.</para>
/// <para>Floating-point sums use the same order in C++ and in C#. The elements are split into blocks of 4096. Within a
/// block, element i is added to lane i mod L, in the order of i; L is 64 lanes of float or 32 of double, and each lane
/// starts at +0. Then the upper half of the lanes is added to the lower half, lane by lane, until one lane is left: the
/// sum of the block. The sum of n blocks is the sum of the first p blocks plus the sum of the others, where p is the
/// greatest power of two that is less than n. Products of a dot product are rounded before they are added.</para>
/// <para>Any thread. A call uses only the calling thread and allocates nothing.</para>
/// </remarks>
public static unsafe partial class VectorMaths
{
    /// <summary>Sets every element to <paramref name="value"/>.</summary>
    /// <typeparam name="T">One of the ten supported types.</typeparam>
    /// <param name="destination">The elements to write.</param>
    /// <param name="value">The value to write to every element.</param>
    public static void Fill<T>(Span<T> destination, T value)
        where T : unmanaged, INumber<T>
    {
        fixed (T* to = destination)
        {
            Fill(to, value, (nuint)destination.Length);
        }
    }

    /// <summary>Adds the elements of two buffers. Integers wrap.</summary>
    /// <typeparam name="T">One of the ten supported types.</typeparam>
    /// <param name="left">The left operands.</param>
    /// <param name="right">The right operands, with the same length as the left ones.</param>
    /// <param name="destination">The destination, at least as long. May be one of the operands.</param>
    /// <exception cref="ArgumentException">The lengths do not match, or the destination overlaps a source without
    /// starting at the same element.</exception>
    public static void Add<T>(ReadOnlySpan<T> left, ReadOnlySpan<T> right, Span<T> destination)
        where T : unmanaged, INumber<T>
    {
        CheckBuffers(left, right, destination);
        fixed (T* x = left, y = right, to = destination)
        {
            Add(x, y, to, (nuint)left.Length);
        }
    }

    /// <summary>Adds a value to every element. Integers wrap.</summary>
    /// <typeparam name="T">One of the ten supported types.</typeparam>
    /// <param name="left">The left operands.</param>
    /// <param name="right">The right operand for every element.</param>
    /// <param name="destination">The destination, at least as long as the left operands. May be the same
    /// memory.</param>
    /// <exception cref="ArgumentException">The lengths do not match, or the destination overlaps a source without
    /// starting at the same element.</exception>
    public static void Add<T>(ReadOnlySpan<T> left, T right, Span<T> destination)
        where T : unmanaged, INumber<T>
    {
        CheckBuffers(left, destination);
        fixed (T* x = left, to = destination)
        {
            Add(x, right, to, (nuint)left.Length);
        }
    }

    /// <summary>Subtracts the elements of one buffer from those of another. Integers wrap.</summary>
    /// <typeparam name="T">One of the ten supported types.</typeparam>
    /// <param name="left">The left operands.</param>
    /// <param name="right">The right operands, with the same length as the left ones.</param>
    /// <param name="destination">The destination, at least as long. May be one of the operands.</param>
    /// <exception cref="ArgumentException">The lengths do not match, or the destination overlaps a source without
    /// starting at the same element.</exception>
    public static void Subtract<T>(ReadOnlySpan<T> left, ReadOnlySpan<T> right, Span<T> destination)
        where T : unmanaged, INumber<T>
    {
        CheckBuffers(left, right, destination);
        fixed (T* x = left, y = right, to = destination)
        {
            Subtract(x, y, to, (nuint)left.Length);
        }
    }

    /// <summary>Subtracts a value from every element. Integers wrap.</summary>
    /// <typeparam name="T">One of the ten supported types.</typeparam>
    /// <param name="left">The left operands.</param>
    /// <param name="right">The right operand for every element.</param>
    /// <param name="destination">The destination, at least as long as the left operands. May be the same
    /// memory.</param>
    /// <exception cref="ArgumentException">The lengths do not match, or the destination overlaps a source without
    /// starting at the same element.</exception>
    public static void Subtract<T>(ReadOnlySpan<T> left, T right, Span<T> destination)
        where T : unmanaged, INumber<T>
    {
        CheckBuffers(left, destination);
        fixed (T* x = left, to = destination)
        {
            Subtract(x, right, to, (nuint)left.Length);
        }
    }

    /// <summary>Multiplies the elements of two buffers. Integers wrap.</summary>
    /// <typeparam name="T">One of the ten supported types.</typeparam>
    /// <param name="left">The left operands.</param>
    /// <param name="right">The right operands, with the same length as the left ones.</param>
    /// <param name="destination">The destination, at least as long. May be one of the operands.</param>
    /// <exception cref="ArgumentException">The lengths do not match, or the destination overlaps a source without
    /// starting at the same element.</exception>
    public static void Multiply<T>(ReadOnlySpan<T> left, ReadOnlySpan<T> right, Span<T> destination)
        where T : unmanaged, INumber<T>
    {
        CheckBuffers(left, right, destination);
        fixed (T* x = left, y = right, to = destination)
        {
            Multiply(x, y, to, (nuint)left.Length);
        }
    }

    /// <summary>Multiplies every element by a value. Integers wrap.</summary>
    /// <typeparam name="T">One of the ten supported types.</typeparam>
    /// <param name="left">The left operands.</param>
    /// <param name="right">The right operand for every element.</param>
    /// <param name="destination">The destination, at least as long as the left operands. May be the same
    /// memory.</param>
    /// <exception cref="ArgumentException">The lengths do not match, or the destination overlaps a source without
    /// starting at the same element.</exception>
    public static void Multiply<T>(ReadOnlySpan<T> left, T right, Span<T> destination)
        where T : unmanaged, INumber<T>
    {
        CheckBuffers(left, destination);
        fixed (T* x = left, to = destination)
        {
            Multiply(x, right, to, (nuint)left.Length);
        }
    }

    /// <summary>Divides the elements of one buffer by those of another. Integer quotients are truncated toward zero,
    /// and the minimum value divided by -1 wraps to itself.</summary>
    /// <typeparam name="T">One of the ten supported types.</typeparam>
    /// <param name="left">The left operands.</param>
    /// <param name="right">The right operands, with the same length as the left ones.</param>
    /// <param name="destination">The destination, at least as long. May be one of the operands.</param>
    /// <exception cref="DivideByZeroException">An integer divisor is zero. Divisors are checked first: nothing was
    /// written.</exception>
    /// <exception cref="ArgumentException">The lengths do not match, or the destination overlaps a source without
    /// starting at the same element.</exception>
    public static void Divide<T>(ReadOnlySpan<T> left, ReadOnlySpan<T> right, Span<T> destination)
        where T : unmanaged, INumber<T>
    {
        CheckBuffers(left, right, destination);
        fixed (T* x = left, y = right, to = destination)
        {
            Divide(x, y, to, (nuint)left.Length);
        }
    }

    /// <summary>Divides every element by a value. Integer quotients are truncated toward zero, and the minimum value
    /// divided by -1 wraps to itself.</summary>
    /// <typeparam name="T">One of the ten supported types.</typeparam>
    /// <param name="left">The left operands.</param>
    /// <param name="right">The right operand for every element.</param>
    /// <param name="destination">The destination, at least as long as the left operands. May be the same
    /// memory.</param>
    /// <exception cref="DivideByZeroException">The integer divisor is zero; nothing was written.</exception>
    /// <exception cref="ArgumentException">The lengths do not match, or the destination overlaps a source without
    /// starting at the same element.</exception>
    public static void Divide<T>(ReadOnlySpan<T> left, T right, Span<T> destination)
        where T : unmanaged, INumber<T>
    {
        CheckBuffers(left, destination);
        fixed (T* x = left, to = destination)
        {
            Divide(x, right, to, (nuint)left.Length);
        }
    }

    /// <summary>Computes the minimum of the elements of two buffers. IEEE 754-2019 minimum: NaN if either is NaN, and
    /// -0 is less than +0.</summary>
    /// <typeparam name="T">One of the ten supported types.</typeparam>
    /// <param name="left">The left operands.</param>
    /// <param name="right">The right operands, with the same length as the left ones.</param>
    /// <param name="destination">The destination, at least as long. May be one of the operands.</param>
    /// <exception cref="ArgumentException">The lengths do not match, or the destination overlaps a source without
    /// starting at the same element.</exception>
    public static void Minimum<T>(ReadOnlySpan<T> left, ReadOnlySpan<T> right, Span<T> destination)
        where T : unmanaged, INumber<T>
    {
        CheckBuffers(left, right, destination);
        fixed (T* x = left, y = right, to = destination)
        {
            Minimum(x, y, to, (nuint)left.Length);
        }
    }

    /// <summary>Computes the minimum of every element and a value. IEEE 754-2019 minimum: NaN if either is NaN, and -0
    /// is less than +0.</summary>
    /// <typeparam name="T">One of the ten supported types.</typeparam>
    /// <param name="left">The left operands.</param>
    /// <param name="right">The right operand for every element.</param>
    /// <param name="destination">The destination, at least as long as the left operands. May be the same
    /// memory.</param>
    /// <exception cref="ArgumentException">The lengths do not match, or the destination overlaps a source without
    /// starting at the same element.</exception>
    public static void Minimum<T>(ReadOnlySpan<T> left, T right, Span<T> destination)
        where T : unmanaged, INumber<T>
    {
        CheckBuffers(left, destination);
        fixed (T* x = left, to = destination)
        {
            Minimum(x, right, to, (nuint)left.Length);
        }
    }

    /// <summary>Computes the maximum of the elements of two buffers. IEEE 754-2019 maximum: NaN if either is NaN, and
    /// +0 is greater than -0.</summary>
    /// <typeparam name="T">One of the ten supported types.</typeparam>
    /// <param name="left">The left operands.</param>
    /// <param name="right">The right operands, with the same length as the left ones.</param>
    /// <param name="destination">The destination, at least as long. May be one of the operands.</param>
    /// <exception cref="ArgumentException">The lengths do not match, or the destination overlaps a source without
    /// starting at the same element.</exception>
    public static void Maximum<T>(ReadOnlySpan<T> left, ReadOnlySpan<T> right, Span<T> destination)
        where T : unmanaged, INumber<T>
    {
        CheckBuffers(left, right, destination);
        fixed (T* x = left, y = right, to = destination)
        {
            Maximum(x, y, to, (nuint)left.Length);
        }
    }

    /// <summary>Computes the maximum of every element and a value. IEEE 754-2019 maximum: NaN if either is NaN, and +0
    /// is greater than -0.</summary>
    /// <typeparam name="T">One of the ten supported types.</typeparam>
    /// <param name="left">The left operands.</param>
    /// <param name="right">The right operand for every element.</param>
    /// <param name="destination">The destination, at least as long as the left operands. May be the same
    /// memory.</param>
    /// <exception cref="ArgumentException">The lengths do not match, or the destination overlaps a source without
    /// starting at the same element.</exception>
    public static void Maximum<T>(ReadOnlySpan<T> left, T right, Span<T> destination)
        where T : unmanaged, INumber<T>
    {
        CheckBuffers(left, destination);
        fixed (T* x = left, to = destination)
        {
            Maximum(x, right, to, (nuint)left.Length);
        }
    }

    /// <summary>Computes the square root of every element. For integers, the result is rounded down, and it is 0 for
    /// negative values.</summary>
    /// <typeparam name="T">One of the ten supported types.</typeparam>
    /// <param name="source">The values to read.</param>
    /// <param name="destination">The destination, at least as long as the source. May be the same memory.</param>
    /// <exception cref="ArgumentException">The lengths do not match, or the destination overlaps the source without
    /// starting at the same element.</exception>
    public static void SquareRoot<T>(ReadOnlySpan<T> source, Span<T> destination)
        where T : unmanaged, INumber<T>
    {
        CheckBuffers(source, destination);
        fixed (T* from = source, to = destination)
        {
            SquareRoot(from, to, (nuint)source.Length);
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void CheckBuffers<T>(ReadOnlySpan<T> left, ReadOnlySpan<T> right, Span<T> destination)
        where T : unmanaged
    {
        CheckLengths(left.Length, right.Length);
        CheckBuffers(left, destination);
        CheckBuffers(right, destination);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void CheckBuffers<T>(ReadOnlySpan<T> source, Span<T> destination)
        where T : unmanaged
    {
        if (destination.Length < source.Length)
        {
            ThrowShort(destination.Length, source.Length);
        }
        nint distance = Unsafe.ByteOffset(ref MemoryMarshal.GetReference(source), ref MemoryMarshal.GetReference(destination));
        nuint bytes = (nuint)(uint)source.Length * (nuint)sizeof(T);
        if (((nuint)distance < bytes || (nuint)(-distance) < bytes) && distance != 0)
        {
            ThrowOverlap();
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void CheckLengths(int left, int right)
    {
        if (left != right)
        {
            ThrowLengths(left, right);
        }
    }

    [DoesNotReturn]
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void ThrowShort(int destination, int source) => throw new ArgumentException(
        $"The destination has {destination} elements, but needs {source}, as many as the source.", nameof(destination));

    [DoesNotReturn]
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void ThrowOverlap() => throw new ArgumentException(
        "The destination overlaps a source. Pass separate memory, or let both start at the same element.", "destination");

    [DoesNotReturn]
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void ThrowLengths(int left, int right) =>
        throw new ArgumentException($"The operands must have the same length, but have {left} and {right} elements.", nameof(right));
}
