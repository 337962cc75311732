// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Numerics;

namespace Tenure;

public static unsafe partial class VectorMaths
{
    /// <summary>For how many elements it holds.</summary>
    /// <typeparam name="T">One of the ten types.</typeparam>
    /// <param name="left">The left side.</param>
    /// <param name="how">The comparison.</param>
    /// <param name="right">The right side, as long.</param>
    /// <returns>How many.</returns>
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

    /// <summary>For how many elements it holds.</summary>
    /// <typeparam name="T">One of the ten types.</typeparam>
    /// <param name="left">The left side.</param>
    /// <param name="how">The comparison.</param>
    /// <param name="right">The right side, for every element.</param>
    /// <returns>How many.</returns>
    public static nint CountMatches<T>(ReadOnlySpan<T> left, Comparison how, T right)
        where T : unmanaged, INumber<T>
    {
        fixed (T* x = left)
        {
            return (nint)CountMatches(x, how, right, (nuint)left.Length);
        }
    }

    /// <summary>The first index for which it holds.</summary>
    /// <typeparam name="T">One of the ten types.</typeparam>
    /// <param name="left">The left side.</param>
    /// <param name="how">The comparison.</param>
    /// <param name="right">The right side, as long.</param>
    /// <returns>The index; -1 when it holds for none.</returns>
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

    /// <summary>The first index for which it holds.</summary>
    /// <typeparam name="T">One of the ten types.</typeparam>
    /// <param name="left">The left side.</param>
    /// <param name="how">The comparison.</param>
    /// <param name="right">The right side, for every element.</param>
    /// <returns>The index; -1 when it holds for none.</returns>
    public static nint FindMatch<T>(ReadOnlySpan<T> left, Comparison how, T right)
        where T : unmanaged, INumber<T>
    {
        fixed (T* x = left)
        {
            return Index(Find(x, how, right, (nuint)left.Length, holds: true), left.Length);
        }
    }

    /// <summary>The first index for which it does not hold.</summary>
    /// <typeparam name="T">One of the ten types.</typeparam>
    /// <param name="left">The left side.</param>
    /// <param name="how">The comparison.</param>
    /// <param name="right">The right side, as long.</param>
    /// <returns>The index; -1 when it holds for all.</returns>
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

    /// <summary>The first index for which it does not hold.</summary>
    /// <typeparam name="T">One of the ten types.</typeparam>
    /// <param name="left">The left side.</param>
    /// <param name="how">The comparison.</param>
    /// <param name="right">The right side, for every element.</param>
    /// <returns>The index; -1 when it holds for all.</returns>
    public static nint FindMismatch<T>(ReadOnlySpan<T> left, Comparison how, T right)
        where T : unmanaged, INumber<T>
    {
        fixed (T* x = left)
        {
            return Index(Find(x, how, right, (nuint)left.Length, holds: false), left.Length);
        }
    }

    /// <summary>Whether every element is less than the bound; of nothing it is true.</summary>
    /// <typeparam name="T">One of the ten types.</typeparam>
    /// <param name="values">What is compared.</param>
    /// <param name="bound">What every element must be less than.</param>
    /// <param name="index">The first element that is not less, or is NaN; -1 when all are less.</param>
    /// <returns>Whether all are.</returns>
    public static bool LessThanAll<T>(ReadOnlySpan<T> values, T bound, out nint index)
        where T : unmanaged, INumber<T>
    {
        index = FindMismatch(values, Comparison.Less, bound);
        return index < 0;
    }

    /// <summary>Whether two buffers have the same length and equal elements: -0 equals +0, and NaN nothing.</summary>
    /// <typeparam name="T">One of the ten types.</typeparam>
    /// <param name="left">One.</param>
    /// <param name="right">The other.</param>
    /// <returns>Whether they are equal.</returns>
    public static bool Equal<T>(ReadOnlySpan<T> left, ReadOnlySpan<T> right)
        where T : unmanaged, INumber<T> =>
        left.Length == right.Length && FindMismatch(left, Comparison.Equal, right) < 0;

    /// <summary>
    /// Every element in another type. Integers wrap; what has a fraction is cut off; floating-point numbers beyond an
    /// integer become its least or greatest, and NaN 0; what is not exact in a floating-point type becomes the nearest
    /// that is, of two the even one.
    /// </summary>
    /// <typeparam name="TFrom">One of the ten types.</typeparam>
    /// <typeparam name="TTo">One of the ten types.</typeparam>
    /// <param name="source">What is read.</param>
    /// <param name="destination">At least as long.</param>
    /// <exception cref="ArgumentException">The destination is shorter, or overlaps the source.</exception>
    public static void Convert<TFrom, TTo>(ReadOnlySpan<TFrom> source, Span<TTo> destination)
        where TFrom : unmanaged, INumber<TFrom>
        where TTo : unmanaged, INumber<TTo>
    {
        if (destination.Length < source.Length)
        {
            throw new ArgumentException("The destination is shorter than what is read.", nameof(destination));
        }
        fixed (TFrom* from = source)
        fixed (TTo* to = destination)
        {
            nuint count = (nuint)source.Length;
            byte* begin = (byte*)from, target = (byte*)to;
            if (begin < target + count * (nuint)sizeof(TTo) && target < begin + count * (nuint)sizeof(TFrom))
            {
                throw new ArgumentException("The destination overlaps what is read.", nameof(destination));
            }
            Convert(from, to, count);
        }
    }

    private static nint Index(nuint found, int length) => found == (nuint)length ? -1 : (nint)found;
}
