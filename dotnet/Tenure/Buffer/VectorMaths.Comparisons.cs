// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Numerics;

namespace Tenure;

public static unsafe partial class VectorMaths
{
    /// <summary>Counts the elements for which the comparison is true.</summary>
    /// <typeparam name="T">One of the ten supported types.</typeparam>
    /// <param name="left">The left operands.</param>
    /// <param name="how">The comparison.</param>
    /// <param name="right">The right operands, with the same length.</param>
    /// <returns>The number of elements.</returns>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static nint CountMatches<T>(ReadOnlySpan<T> left, Comparison how, ReadOnlySpan<T> right)
        where T : unmanaged, INumber<T>
    {
        CheckLengths(left.Length, right.Length);
        fixed (T* x = left, y = right)
        {
            return (nint)CountMatches(x, how, y, (nuint)left.Length);
        }
    }

    /// <summary>Counts the elements for which the comparison is true.</summary>
    /// <typeparam name="T">One of the ten supported types.</typeparam>
    /// <param name="left">The left operands.</param>
    /// <param name="how">The comparison.</param>
    /// <param name="right">The right operand for every element.</param>
    /// <returns>The number of elements.</returns>
    public static nint CountMatches<T>(ReadOnlySpan<T> left, Comparison how, T right)
        where T : unmanaged, INumber<T>
    {
        fixed (T* x = left)
        {
            return (nint)CountMatches(x, how, right, (nuint)left.Length);
        }
    }

    /// <summary>Finds the first index for which the comparison is true.</summary>
    /// <typeparam name="T">One of the ten supported types.</typeparam>
    /// <param name="left">The left operands.</param>
    /// <param name="how">The comparison.</param>
    /// <param name="right">The right operands, with the same length.</param>
    /// <returns>The index; -1 when there is none.</returns>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static nint FindMatch<T>(ReadOnlySpan<T> left, Comparison how, ReadOnlySpan<T> right)
        where T : unmanaged, INumber<T>
    {
        CheckLengths(left.Length, right.Length);
        fixed (T* x = left, y = right)
        {
            return Index(Find(x, how, y, (nuint)left.Length, holds: true), left.Length);
        }
    }

    /// <summary>Finds the first index for which the comparison is true.</summary>
    /// <typeparam name="T">One of the ten supported types.</typeparam>
    /// <param name="left">The left operands.</param>
    /// <param name="how">The comparison.</param>
    /// <param name="right">The right operand for every element.</param>
    /// <returns>The index; -1 when there is none.</returns>
    public static nint FindMatch<T>(ReadOnlySpan<T> left, Comparison how, T right)
        where T : unmanaged, INumber<T>
    {
        fixed (T* x = left)
        {
            return Index(Find(x, how, right, (nuint)left.Length, holds: true), left.Length);
        }
    }

    /// <summary>Finds the first index for which the comparison is false.</summary>
    /// <typeparam name="T">One of the ten supported types.</typeparam>
    /// <param name="left">The left operands.</param>
    /// <param name="how">The comparison.</param>
    /// <param name="right">The right operands, with the same length.</param>
    /// <returns>The index; -1 when the comparison is true for all elements.</returns>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static nint FindMismatch<T>(ReadOnlySpan<T> left, Comparison how, ReadOnlySpan<T> right)
        where T : unmanaged, INumber<T>
    {
        CheckLengths(left.Length, right.Length);
        fixed (T* x = left, y = right)
        {
            return Index(Find(x, how, y, (nuint)left.Length, holds: false), left.Length);
        }
    }

    /// <summary>Finds the first index for which the comparison is false.</summary>
    /// <typeparam name="T">One of the ten supported types.</typeparam>
    /// <param name="left">The left operands.</param>
    /// <param name="how">The comparison.</param>
    /// <param name="right">The right operand for every element.</param>
    /// <returns>The index; -1 when the comparison is true for all elements.</returns>
    public static nint FindMismatch<T>(ReadOnlySpan<T> left, Comparison how, T right)
        where T : unmanaged, INumber<T>
    {
        fixed (T* x = left)
        {
            return Index(Find(x, how, right, (nuint)left.Length, holds: false), left.Length);
        }
    }

    /// <summary>Determines whether every element is less than the bound. True when there are no elements.</summary>
    /// <typeparam name="T">One of the ten supported types.</typeparam>
    /// <param name="values">The values to compare.</param>
    /// <param name="bound">The exclusive upper bound.</param>
    /// <param name="index">The index of the first element that is not less than the bound or is NaN; -1 when all
    /// elements are less.</param>
    /// <returns>True if all elements are less; otherwise, false.</returns>
    public static bool LessThanAll<T>(ReadOnlySpan<T> values, T bound, out nint index)
        where T : unmanaged, INumber<T>
    {
        index = FindMismatch(values, Comparison.Less, bound);
        return index < 0;
    }

    /// <summary>Determines whether two buffers have the same length and equal elements. -0 equals +0; NaN equals
    /// nothing.</summary>
    /// <typeparam name="T">One of the ten supported types.</typeparam>
    /// <param name="left">The first operand.</param>
    /// <param name="right">The second operand.</param>
    /// <returns>True if they are equal; otherwise, false.</returns>
    public static bool Equal<T>(ReadOnlySpan<T> left, ReadOnlySpan<T> right)
        where T : unmanaged, INumber<T> =>
        left.Length == right.Length && FindMismatch(left, Comparison.Equal, right) < 0;

    /// <summary>Converts every element to another type. Integers wrap. Floating-point to integer: fractions are
    /// truncated, values out of range become the minimum or the maximum of the integer type, and NaN becomes 0. Values
    /// that a floating-point type cannot represent exactly are rounded to nearest, ties to even.</summary>
    /// <typeparam name="TFrom">One of the ten supported types.</typeparam>
    /// <typeparam name="TTo">One of the ten supported types.</typeparam>
    /// <param name="source">The values to read.</param>
    /// <param name="destination">The destination, at least as long as the buffer.</param>
    /// <exception cref="ArgumentException">The destination is shorter than the source or overlaps it.</exception>
    public static void Convert<TFrom, TTo>(ReadOnlySpan<TFrom> source, Span<TTo> destination)
        where TFrom : unmanaged, INumber<TFrom>
        where TTo : unmanaged, INumber<TTo>
    {
        if (destination.Length < source.Length)
        {
            throw new ArgumentException(
                $"The destination has {destination.Length} elements, but needs {source.Length}, as many as the source.", nameof(destination));
        }
        fixed (TFrom* from = source)
        fixed (TTo* to = destination)
        {
            nuint count = (nuint)source.Length;
            byte* begin = (byte*)from, target = (byte*)to;
            if (begin < target + count * (nuint)sizeof(TTo) && target < begin + count * (nuint)sizeof(TFrom))
            {
                throw new ArgumentException("The destination overlaps the source. Pass separate memory.", nameof(destination));
            }
            Convert(from, to, count);
        }
    }

    private static nint Index(nuint found, int length) => found == (nuint)length ? -1 : (nint)found;
}
