// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Numerics;

namespace Tenure;

public static unsafe partial class VectorMaths
{
    /// <summary>Finds the minimum element. IEEE 754-2019 minimum: NaN if any element is NaN, and -0 is less than
    /// +0.</summary>
    /// <typeparam name="T">One of the ten supported types.</typeparam>
    /// <param name="values">The elements to search.</param>
    /// <param name="least">The minimum element; zero when there are no elements.</param>
    /// <returns>False when there are no elements.</returns>
    public static bool TryMinimum<T>(ReadOnlySpan<T> values, out T least)
        where T : unmanaged, INumber<T>
    {
        least = default;
        if (values.IsEmpty)
        {
            return false;
        }
        fixed (T* from = values)
        {
            least = Minimum(from, (nuint)values.Length);
        }
        return true;
    }

    /// <summary>Finds the maximum element. IEEE 754-2019 maximum: NaN if any element is NaN, and +0 is greater than
    /// -0.</summary>
    /// <typeparam name="T">One of the ten supported types.</typeparam>
    /// <param name="values">The elements to search.</param>
    /// <param name="greatest">The maximum element; zero when there are no elements.</param>
    /// <returns>False when there are no elements.</returns>
    public static bool TryMaximum<T>(ReadOnlySpan<T> values, out T greatest)
        where T : unmanaged, INumber<T>
    {
        greatest = default;
        if (values.IsEmpty)
        {
            return false;
        }
        fixed (T* from = values)
        {
            greatest = Maximum(from, (nuint)values.Length);
        }
        return true;
    }

    /// <summary>Computes the sum of the elements in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="values">The elements to add.</param>
    /// <returns>The sum.</returns>
    public static long Sum(ReadOnlySpan<sbyte> values)
    {
        fixed (sbyte* from = values)
        {
            return Sum<sbyte, long>(from, (nuint)values.Length);
        }
    }

    /// <summary>Computes the sum of the elements in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="values">The elements to add.</param>
    /// <returns>The sum.</returns>
    public static ulong Sum(ReadOnlySpan<byte> values)
    {
        fixed (byte* from = values)
        {
            return Sum<byte, ulong>(from, (nuint)values.Length);
        }
    }

    /// <summary>Computes the sum of the elements in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="values">The elements to add.</param>
    /// <returns>The sum.</returns>
    public static long Sum(ReadOnlySpan<short> values)
    {
        fixed (short* from = values)
        {
            return Sum<short, long>(from, (nuint)values.Length);
        }
    }

    /// <summary>Computes the sum of the elements in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="values">The elements to add.</param>
    /// <returns>The sum.</returns>
    public static ulong Sum(ReadOnlySpan<ushort> values)
    {
        fixed (ushort* from = values)
        {
            return Sum<ushort, ulong>(from, (nuint)values.Length);
        }
    }

    /// <summary>Computes the sum of the elements in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="values">The elements to add.</param>
    /// <returns>The sum.</returns>
    public static long Sum(ReadOnlySpan<int> values)
    {
        fixed (int* from = values)
        {
            return Sum<int, long>(from, (nuint)values.Length);
        }
    }

    /// <summary>Computes the sum of the elements in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="values">The elements to add.</param>
    /// <returns>The sum.</returns>
    public static ulong Sum(ReadOnlySpan<uint> values)
    {
        fixed (uint* from = values)
        {
            return Sum<uint, ulong>(from, (nuint)values.Length);
        }
    }

    /// <summary>Computes the sum of the elements in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="values">The elements to add.</param>
    /// <returns>The sum.</returns>
    public static long Sum(ReadOnlySpan<long> values)
    {
        fixed (long* from = values)
        {
            return Sum<long, long>(from, (nuint)values.Length);
        }
    }

    /// <summary>Computes the sum of the elements in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="values">The elements to add.</param>
    /// <returns>The sum.</returns>
    public static ulong Sum(ReadOnlySpan<ulong> values)
    {
        fixed (ulong* from = values)
        {
            return Sum<ulong, ulong>(from, (nuint)values.Length);
        }
    }

    /// <summary>Computes the sum of the elements in the order that the remarks of the class define; 0 when there are no
    /// elements.</summary>
    /// <param name="values">The elements to add.</param>
    /// <returns>The sum.</returns>
    public static float Sum(ReadOnlySpan<float> values)
    {
        fixed (float* from = values)
        {
            return Sum<float, float>(from, (nuint)values.Length);
        }
    }

    /// <summary>Computes the sum of the elements in the order that the remarks of the class define; 0 when there are no
    /// elements.</summary>
    /// <param name="values">The elements to add.</param>
    /// <returns>The sum.</returns>
    public static double Sum(ReadOnlySpan<double> values)
    {
        fixed (double* from = values)
        {
            return Sum<double, double>(from, (nuint)values.Length);
        }
    }

    /// <summary>Computes the dot product. Multiplies and adds in 64 bits, modulo 2^64; 0 when there are no
    /// elements.</summary>
    /// <param name="left">The left operands.</param>
    /// <param name="right">The right operands, with the same length.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static long Dot(ReadOnlySpan<sbyte> left, ReadOnlySpan<sbyte> right)
    {
        CheckLengths(left.Length, right.Length);
        fixed (sbyte* x = left, y = right)
        {
            return Dot<sbyte, long>(x, y, (nuint)left.Length);
        }
    }

    /// <summary>Computes the dot product. Multiplies and adds in 64 bits, modulo 2^64; 0 when there are no
    /// elements.</summary>
    /// <param name="left">The left operands.</param>
    /// <param name="right">The right operands, with the same length.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static ulong Dot(ReadOnlySpan<byte> left, ReadOnlySpan<byte> right)
    {
        CheckLengths(left.Length, right.Length);
        fixed (byte* x = left, y = right)
        {
            return Dot<byte, ulong>(x, y, (nuint)left.Length);
        }
    }

    /// <summary>Computes the dot product. Multiplies and adds in 64 bits, modulo 2^64; 0 when there are no
    /// elements.</summary>
    /// <param name="left">The left operands.</param>
    /// <param name="right">The right operands, with the same length.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static long Dot(ReadOnlySpan<short> left, ReadOnlySpan<short> right)
    {
        CheckLengths(left.Length, right.Length);
        fixed (short* x = left, y = right)
        {
            return Dot<short, long>(x, y, (nuint)left.Length);
        }
    }

    /// <summary>Computes the dot product. Multiplies and adds in 64 bits, modulo 2^64; 0 when there are no
    /// elements.</summary>
    /// <param name="left">The left operands.</param>
    /// <param name="right">The right operands, with the same length.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static ulong Dot(ReadOnlySpan<ushort> left, ReadOnlySpan<ushort> right)
    {
        CheckLengths(left.Length, right.Length);
        fixed (ushort* x = left, y = right)
        {
            return Dot<ushort, ulong>(x, y, (nuint)left.Length);
        }
    }

    /// <summary>Computes the dot product. Multiplies and adds in 64 bits, modulo 2^64; 0 when there are no
    /// elements.</summary>
    /// <param name="left">The left operands.</param>
    /// <param name="right">The right operands, with the same length.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static long Dot(ReadOnlySpan<int> left, ReadOnlySpan<int> right)
    {
        CheckLengths(left.Length, right.Length);
        fixed (int* x = left, y = right)
        {
            return Dot<int, long>(x, y, (nuint)left.Length);
        }
    }

    /// <summary>Computes the dot product. Multiplies and adds in 64 bits, modulo 2^64; 0 when there are no
    /// elements.</summary>
    /// <param name="left">The left operands.</param>
    /// <param name="right">The right operands, with the same length.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static ulong Dot(ReadOnlySpan<uint> left, ReadOnlySpan<uint> right)
    {
        CheckLengths(left.Length, right.Length);
        fixed (uint* x = left, y = right)
        {
            return Dot<uint, ulong>(x, y, (nuint)left.Length);
        }
    }

    /// <summary>Computes the dot product. Multiplies and adds in 64 bits, modulo 2^64; 0 when there are no
    /// elements.</summary>
    /// <param name="left">The left operands.</param>
    /// <param name="right">The right operands, with the same length.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static long Dot(ReadOnlySpan<long> left, ReadOnlySpan<long> right)
    {
        CheckLengths(left.Length, right.Length);
        fixed (long* x = left, y = right)
        {
            return Dot<long, long>(x, y, (nuint)left.Length);
        }
    }

    /// <summary>Computes the dot product. Multiplies and adds in 64 bits, modulo 2^64; 0 when there are no
    /// elements.</summary>
    /// <param name="left">The left operands.</param>
    /// <param name="right">The right operands, with the same length.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static ulong Dot(ReadOnlySpan<ulong> left, ReadOnlySpan<ulong> right)
    {
        CheckLengths(left.Length, right.Length);
        fixed (ulong* x = left, y = right)
        {
            return Dot<ulong, ulong>(x, y, (nuint)left.Length);
        }
    }

    /// <summary>Computes the dot product. Rounds each product, then adds in the order that the remarks of the class
    /// define; 0 when there are no elements.</summary>
    /// <param name="left">The left operands.</param>
    /// <param name="right">The right operands, with the same length.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static float Dot(ReadOnlySpan<float> left, ReadOnlySpan<float> right)
    {
        CheckLengths(left.Length, right.Length);
        fixed (float* x = left, y = right)
        {
            return Dot<float, float>(x, y, (nuint)left.Length);
        }
    }

    /// <summary>Computes the dot product. Rounds each product, then adds in the order that the remarks of the class
    /// define; 0 when there are no elements.</summary>
    /// <param name="left">The left operands.</param>
    /// <param name="right">The right operands, with the same length.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static double Dot(ReadOnlySpan<double> left, ReadOnlySpan<double> right)
    {
        CheckLengths(left.Length, right.Length);
        fixed (double* x = left, y = right)
        {
            return Dot<double, double>(x, y, (nuint)left.Length);
        }
    }
}
