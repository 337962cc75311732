// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Numerics;
using Xunit;

namespace Tenure.Tests;

public sealed class VectorMathsComparisonTests
{
    [Fact]
    public void what_matches_is_found_and_counted()
    {
        Matches<sbyte>();
        Matches<byte>();
        Matches<short>();
        Matches<ushort>();
        Matches<int>();
        Matches<uint>();
        Matches<long>();
        Matches<ulong>();
        Matches<float>();
        Matches<double>();
    }

    private static void Matches<T>()
        where T : unmanaged, INumber<T>, IMinMaxValue<T>
    {
        foreach (int length in Samples.Lengths())
        {
            T[] left = Samples.Of<T>(length + 1, length), right = Samples.Of<T>(length, length % 7 == 0 ? length : length + 1);
            T value = left[^1];
            ReadOnlySpan<T> x = left.AsSpan(0, length);
            foreach (Comparison how in Enum.GetValues<Comparison>())
            {
                nint count = 0, match = -1, mismatch = -1, scalarCount = 0, scalarMatch = -1, scalarMismatch = -1;
                for (int i = length - 1; i >= 0; i--)
                {
                    if (Holds(x[i], how, right[i])) { count++; match = i; } else { mismatch = i; }
                    if (Holds(x[i], how, value)) { scalarCount++; scalarMatch = i; } else { scalarMismatch = i; }
                }
                Assert.Equal(count, VectorMaths.CountMatches(x, how, right));
                Assert.Equal(match, VectorMaths.FindMatch(x, how, right));
                Assert.Equal(mismatch, VectorMaths.FindMismatch(x, how, right));
                Assert.Equal(scalarCount, VectorMaths.CountMatches(x, how, value));
                Assert.Equal(scalarMatch, VectorMaths.FindMatch(x, how, value));
                Assert.Equal(scalarMismatch, VectorMaths.FindMismatch(x, how, value));
            }
        }
    }

    private static bool Holds<T>(T left, Comparison how, T right)
        where T : unmanaged, INumber<T> => how switch
        {
            Comparison.Equal => left == right,
            Comparison.NotEqual => left != right,
            Comparison.Less => left < right,
            Comparison.LessOrEqual => left <= right,
            Comparison.Greater => left > right,
            _ => left >= right,
        };

    [Fact]
    public void one_element_that_differs_is_found_wherever_it_is()
    {
        Differs<sbyte>();
        Differs<byte>();
        Differs<short>();
        Differs<ushort>();
        Differs<int>();
        Differs<uint>();
        Differs<long>();
        Differs<ulong>();
        Differs<float>();
        Differs<double>();
    }

    private static void Differs<T>()
        where T : unmanaged, INumber<T>, IMinMaxValue<T>
    {
        foreach (int length in (int[])[1, 7, 33, 150, 300])
        {
            T[] values = new T[length], like = new T[length];
            for (int i = 0; i < length; i++)
            {
                Assert.True(VectorMaths.LessThanAll(values, T.One, out nint index));
                Assert.Equal(-1, index);
                values[i] = T.MaxValue;
                Assert.False(VectorMaths.LessThanAll(values, T.One, out index));
                Assert.Equal(i, index);
                Assert.Equal(i, VectorMaths.FindMatch(values, Comparison.Equal, T.MaxValue));
                Assert.False(VectorMaths.Equal<T>(values, like));
                values[i] = T.Zero;
            }
            Assert.True(VectorMaths.Equal<T>(values, like));
            Assert.False(VectorMaths.Equal<T>(values, like.AsSpan(1)));
        }
    }

    [Fact]
    public void the_least_and_the_greatest_are_found()
    {
        Best<sbyte>();
        Best<byte>();
        Best<short>();
        Best<ushort>();
        Best<int>();
        Best<uint>();
        Best<long>();
        Best<ulong>();
        Best<float>();
        Best<double>();
    }

    private static void Best<T>()
        where T : unmanaged, INumber<T>, IMinMaxValue<T>
    {
        Assert.False(VectorMaths.TryMinimum(ReadOnlySpan<T>.Empty, out T least));
        Assert.False(VectorMaths.TryMaximum(ReadOnlySpan<T>.Empty, out T greatest));
        foreach (int length in Samples.Lengths())
        {
            for (int without = 0; without < 2 && length > 0; without++)
            {
                T[] values = Samples.Of<T>(length, length);
                for (int i = 0; i < length; i++)
                {
                    values[i] = without == 1 && T.IsNaN(values[i]) ? T.Zero : values[i];
                }
                T low = values[0], high = values[0];
                foreach (T value in values)
                {
                    (low, high) = (T.Min(low, value), T.Max(high, value));
                }
                Assert.True(VectorMaths.TryMinimum(values, out least));
                Assert.True(VectorMaths.TryMaximum(values, out greatest));
                Assert.True(Samples.Same(low, least), $"{typeof(T).Name} {length}: {least} and not {low}");
                Assert.True(Samples.Same(high, greatest), $"{typeof(T).Name} {length}: {greatest} and not {high}");
            }
        }
    }

    [Fact]
    public void NaN_is_less_than_nothing_and_equal_to_nothing()
    {
        double[] values = [1, 2, double.NaN];
        Assert.False(VectorMaths.LessThanAll(values, double.PositiveInfinity, out nint index));
        Assert.Equal(2, index);
        Assert.False(VectorMaths.Equal<double>(values, values));
        Assert.Equal(1, VectorMaths.CountMatches(values, Comparison.NotEqual, values));
    }
}
