// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Numerics;

namespace Tenure.Tests;

/// <summary>Values of the ten types: random bits, and among them what goes wrong at the edges.</summary>
internal static class Samples
{
    /// <summary>Every length up to a few vectors of the longest kind, and some around what loops are unrolled
    /// to.</summary>
    internal static IEnumerable<int> Lengths()
    {
        for (int length = 0; length <= 200; length++)
        {
            yield return length;
        }
        foreach (int length in (int[])[255, 256, 257, 511, 512, 513, 1000, 1024, 1279])
        {
            yield return length;
        }
    }

    internal static T[] Of<T>(int count, int seed)
        where T : unmanaged, INumber<T>, IMinMaxValue<T>
    {
        var random = new Random(seed);
        T[] edges = Edges<T>();
        var values = new T[count];
        for (int i = 0; i < count; i++)
        {
            values[i] = random.Next(4) == 0 ? edges[random.Next(edges.Length)] : Any<T>(random);
        }
        return values;
    }

    internal static T[] Edges<T>()
        where T : unmanaged, INumber<T>, IMinMaxValue<T>
    {
        var edges = new List<T> { T.Zero, T.One, T.MaxValue, T.MinValue, unchecked(T.Zero - T.One), T.CreateTruncating(2) };
        if (T.IsNaN(T.CreateTruncating(double.NaN)))
        {
            foreach (double value in (double[])[-0.0, double.NaN, double.PositiveInfinity, double.NegativeInfinity, 0.5, -1.5,
                2147483648.0, -2147483649.0, 9223372036854775808.0, 18446744073709551616.0, 1e-40])
            {
                edges.Add(T.CreateTruncating(value));
            }
        }
        return [.. edges];
    }

    /// <summary>Floating-point ones of many sizes, whose sums depend on the order.</summary>
    private static T Any<T>(Random random)
        where T : unmanaged, INumber<T> => T.IsNaN(T.CreateTruncating(double.NaN))
            ? T.CreateTruncating((random.NextDouble() - 0.5) * Math.Pow(10, random.Next(-6, 12)))
            : T.CreateTruncating(random.NextInt64(long.MinValue, long.MaxValue));

    /// <summary>Equal to the bit, save which NaN it is.</summary>
    internal static bool Same<T>(T left, T right)
        where T : unmanaged, INumber<T> => T.IsNaN(left) ? T.IsNaN(right)
            : left == right && T.IsNegative(left) == T.IsNegative(right);
}
