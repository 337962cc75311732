// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Numerics;

namespace Tenure;

/// <summary>Arithmetic over whole buffers of numbers, as fast as the memory or the processor's vectors allow.</summary>
/// <remarks>
/// <para>Use it for filling, converting, calculating with, comparing and summing up buffers of sbyte, byte, short,
/// ushort, int, uint, long, ulong, float or double; another type is refused with a
/// <see cref="NotSupportedException"/>.</para>
/// <para>Every result is that of the plain loop, on every machine to the bit, save which NaN it is. Integers wrap;
/// only a division by zero throws. A buffer that is written may be one that is read, from the same first element (in
/// place); otherwise they must not overlap. A call that throws has written nothing.</para>
/// <para>The order of floating-point sums, the same in C++ and in C#: blocks of 4096 elements; in a block, element i is
/// added to lane i mod L, in the order of i; L is 64 lanes of float, 32 of double, and each begins at +0. Then the
/// upper half of the lanes is added to the lower, lane by lane, until one is left: the sum of the block. The sum of n
/// blocks is that of the first p, plus that of the others, where p is the greatest power of two that is less than n.
/// Products of a dot product are rounded before they are added.</para>
/// <para>Any thread; a call works on the caller's thread alone and allocates nothing.</para>
/// </remarks>
public static unsafe partial class VectorMaths
{
    /// <summary>Every element becomes <paramref name="value"/>.</summary>
    /// <typeparam name="T">One of the ten types.</typeparam>
    /// <param name="destination">What is written, all of it.</param>
    /// <param name="value">What every element becomes.</param>
    public static void Fill<T>(Span<T> destination, T value)
        where T : unmanaged, INumber<T>
    {
        fixed (T* to = destination)
        {
            Fill(to, value, (nuint)destination.Length);
        }
    }

    /// <summary>The sum of every element of two buffers. Integers wrap.</summary>
    /// <typeparam name="T">One of the ten types.</typeparam>
    /// <param name="left">The left side.</param>
    /// <param name="right">The right side, as long as the left one.</param>
    /// <param name="destination">At least as long; may be one of them.</param>
    /// <exception cref="ArgumentException">The lengths do not fit, or the destination overlaps a source elsewhere than
    /// in place.</exception>
    public static void Add<T>(ReadOnlySpan<T> left, ReadOnlySpan<T> right, Span<T> destination)
        where T : unmanaged, INumber<T>
    {
        CheckBuffers(left, right, destination);
        fixed (T* x = left, y = right, to = destination)
        {
            Add(x, y, to, (nuint)left.Length);
        }
    }

    /// <summary>The sum of every element and one value. Integers wrap.</summary>
    /// <typeparam name="T">One of the ten types.</typeparam>
    /// <param name="left">The left side.</param>
    /// <param name="right">The right side, for every element.</param>
    /// <param name="destination">At least as long as the left side; may be it.</param>
    /// <exception cref="ArgumentException">The lengths do not fit, or the destination overlaps a source elsewhere than
    /// in place.</exception>
    public static void Add<T>(ReadOnlySpan<T> left, T right, Span<T> destination)
        where T : unmanaged, INumber<T>
    {
        CheckBuffers(left, destination);
        fixed (T* x = left, to = destination)
        {
            Add(x, right, to, (nuint)left.Length);
        }
    }

    /// <summary>The difference of every element of one buffer and that of another. Integers wrap.</summary>
    /// <typeparam name="T">One of the ten types.</typeparam>
    /// <param name="left">The left side.</param>
    /// <param name="right">The right side, as long as the left one.</param>
    /// <param name="destination">At least as long; may be one of them.</param>
    /// <exception cref="ArgumentException">The lengths do not fit, or the destination overlaps a source elsewhere than
    /// in place.</exception>
    public static void Subtract<T>(ReadOnlySpan<T> left, ReadOnlySpan<T> right, Span<T> destination)
        where T : unmanaged, INumber<T>
    {
        CheckBuffers(left, right, destination);
        fixed (T* x = left, y = right, to = destination)
        {
            Subtract(x, y, to, (nuint)left.Length);
        }
    }

    /// <summary>The difference of every element and one value. Integers wrap.</summary>
    /// <typeparam name="T">One of the ten types.</typeparam>
    /// <param name="left">The left side.</param>
    /// <param name="right">The right side, for every element.</param>
    /// <param name="destination">At least as long as the left side; may be it.</param>
    /// <exception cref="ArgumentException">The lengths do not fit, or the destination overlaps a source elsewhere than
    /// in place.</exception>
    public static void Subtract<T>(ReadOnlySpan<T> left, T right, Span<T> destination)
        where T : unmanaged, INumber<T>
    {
        CheckBuffers(left, destination);
        fixed (T* x = left, to = destination)
        {
            Subtract(x, right, to, (nuint)left.Length);
        }
    }

    /// <summary>The product of every element of two buffers. Integers wrap.</summary>
    /// <typeparam name="T">One of the ten types.</typeparam>
    /// <param name="left">The left side.</param>
    /// <param name="right">The right side, as long as the left one.</param>
    /// <param name="destination">At least as long; may be one of them.</param>
    /// <exception cref="ArgumentException">The lengths do not fit, or the destination overlaps a source elsewhere than
    /// in place.</exception>
    public static void Multiply<T>(ReadOnlySpan<T> left, ReadOnlySpan<T> right, Span<T> destination)
        where T : unmanaged, INumber<T>
    {
        CheckBuffers(left, right, destination);
        fixed (T* x = left, y = right, to = destination)
        {
            Multiply(x, y, to, (nuint)left.Length);
        }
    }

    /// <summary>The product of every element and one value. Integers wrap.</summary>
    /// <typeparam name="T">One of the ten types.</typeparam>
    /// <param name="left">The left side.</param>
    /// <param name="right">The right side, for every element.</param>
    /// <param name="destination">At least as long as the left side; may be it.</param>
    /// <exception cref="ArgumentException">The lengths do not fit, or the destination overlaps a source elsewhere than
    /// in place.</exception>
    public static void Multiply<T>(ReadOnlySpan<T> left, T right, Span<T> destination)
        where T : unmanaged, INumber<T>
    {
        CheckBuffers(left, destination);
        fixed (T* x = left, to = destination)
        {
            Multiply(x, right, to, (nuint)left.Length);
        }
    }

    /// <summary>The quotient of every element of one buffer and that of another. Integers are cut off towards zero,
    /// and the least divided by -1 wraps to itself.</summary>
    /// <typeparam name="T">One of the ten types.</typeparam>
    /// <param name="left">The left side.</param>
    /// <param name="right">The right side, as long as the left one.</param>
    /// <param name="destination">At least as long; may be one of them.</param>
    /// <exception cref="DivideByZeroException">A divisor of integers is zero. It is looked for first: nothing was
    /// written.</exception>
    /// <exception cref="ArgumentException">The lengths do not fit, or the destination overlaps a source elsewhere than
    /// in place.</exception>
    public static void Divide<T>(ReadOnlySpan<T> left, ReadOnlySpan<T> right, Span<T> destination)
        where T : unmanaged, INumber<T>
    {
        CheckBuffers(left, right, destination);
        fixed (T* x = left, y = right, to = destination)
        {
            Divide(x, y, to, (nuint)left.Length);
        }
    }

    /// <summary>The quotient of every element and one value. Integers are cut off towards zero, and the least divided
    /// by -1 wraps to itself.</summary>
    /// <typeparam name="T">One of the ten types.</typeparam>
    /// <param name="left">The left side.</param>
    /// <param name="right">The right side, for every element.</param>
    /// <param name="destination">At least as long as the left side; may be it.</param>
    /// <exception cref="DivideByZeroException">The divisor of integers is zero; nothing was written.</exception>
    /// <exception cref="ArgumentException">The lengths do not fit, or the destination overlaps a source elsewhere than
    /// in place.</exception>
    public static void Divide<T>(ReadOnlySpan<T> left, T right, Span<T> destination)
        where T : unmanaged, INumber<T>
    {
        CheckBuffers(left, destination);
        fixed (T* x = left, to = destination)
        {
            Divide(x, right, to, (nuint)left.Length);
        }
    }

    /// <summary>The lesser of every element of two buffers. IEEE 754-2019 minimum: NaN if one is NaN, and -0 is less
    /// than +0.</summary>
    /// <typeparam name="T">One of the ten types.</typeparam>
    /// <param name="left">The left side.</param>
    /// <param name="right">The right side, as long as the left one.</param>
    /// <param name="destination">At least as long; may be one of them.</param>
    /// <exception cref="ArgumentException">The lengths do not fit, or the destination overlaps a source elsewhere than
    /// in place.</exception>
    public static void Minimum<T>(ReadOnlySpan<T> left, ReadOnlySpan<T> right, Span<T> destination)
        where T : unmanaged, INumber<T>
    {
        CheckBuffers(left, right, destination);
        fixed (T* x = left, y = right, to = destination)
        {
            Minimum(x, y, to, (nuint)left.Length);
        }
    }

    /// <summary>The lesser of every element and one value. IEEE 754-2019 minimum: NaN if one is NaN, and -0 is less
    /// than +0.</summary>
    /// <typeparam name="T">One of the ten types.</typeparam>
    /// <param name="left">The left side.</param>
    /// <param name="right">The right side, for every element.</param>
    /// <param name="destination">At least as long as the left side; may be it.</param>
    /// <exception cref="ArgumentException">The lengths do not fit, or the destination overlaps a source elsewhere than
    /// in place.</exception>
    public static void Minimum<T>(ReadOnlySpan<T> left, T right, Span<T> destination)
        where T : unmanaged, INumber<T>
    {
        CheckBuffers(left, destination);
        fixed (T* x = left, to = destination)
        {
            Minimum(x, right, to, (nuint)left.Length);
        }
    }

    /// <summary>The greater of every element of two buffers. IEEE 754-2019 maximum: NaN if one is NaN, and +0 is more
    /// than -0.</summary>
    /// <typeparam name="T">One of the ten types.</typeparam>
    /// <param name="left">The left side.</param>
    /// <param name="right">The right side, as long as the left one.</param>
    /// <param name="destination">At least as long; may be one of them.</param>
    /// <exception cref="ArgumentException">The lengths do not fit, or the destination overlaps a source elsewhere than
    /// in place.</exception>
    public static void Maximum<T>(ReadOnlySpan<T> left, ReadOnlySpan<T> right, Span<T> destination)
        where T : unmanaged, INumber<T>
    {
        CheckBuffers(left, right, destination);
        fixed (T* x = left, y = right, to = destination)
        {
            Maximum(x, y, to, (nuint)left.Length);
        }
    }

    /// <summary>The greater of every element and one value. IEEE 754-2019 maximum: NaN if one is NaN, and +0 is more
    /// than -0.</summary>
    /// <typeparam name="T">One of the ten types.</typeparam>
    /// <param name="left">The left side.</param>
    /// <param name="right">The right side, for every element.</param>
    /// <param name="destination">At least as long as the left side; may be it.</param>
    /// <exception cref="ArgumentException">The lengths do not fit, or the destination overlaps a source elsewhere than
    /// in place.</exception>
    public static void Maximum<T>(ReadOnlySpan<T> left, T right, Span<T> destination)
        where T : unmanaged, INumber<T>
    {
        CheckBuffers(left, destination);
        fixed (T* x = left, to = destination)
        {
            Maximum(x, right, to, (nuint)left.Length);
        }
    }

    /// <summary>The square root of every element. Integers: the greatest whose square is not more, and 0 of what is
    /// negative.</summary>
    /// <typeparam name="T">One of the ten types.</typeparam>
    /// <param name="source">What is read.</param>
    /// <param name="destination">At least as long; may be the source.</param>
    /// <exception cref="ArgumentException">The lengths do not fit, or the destination overlaps the source elsewhere
    /// than in place.</exception>
    public static void SquareRoot<T>(ReadOnlySpan<T> source, Span<T> destination)
        where T : unmanaged, INumber<T>
    {
        CheckBuffers(source, destination);
        fixed (T* from = source, to = destination)
        {
            SquareRoot(from, to, (nuint)source.Length);
        }
    }

    private static void CheckBuffers<T>(ReadOnlySpan<T> left, ReadOnlySpan<T> right, Span<T> destination)
    {
        CheckLengths(left.Length, right.Length);
        CheckBuffers(left, destination);
        CheckBuffers(right, destination);
    }

    private static void CheckBuffers<T>(ReadOnlySpan<T> source, Span<T> destination)
    {
        if (destination.Length < source.Length)
        {
            throw new ArgumentException("The destination is shorter than what is read.", nameof(destination));
        }
        if (source.Overlaps(destination[..source.Length], out int offset) && offset != 0)
        {
            throw new ArgumentException(
                "The destination overlaps what is read, and does not begin where that begins.", nameof(destination));
        }
    }

    private static void CheckLengths(int left, int right)
    {
        if (left != right)
        {
            throw new ArgumentException($"The sides are of {left} and {right} elements.", nameof(right));
        }
    }
}
