// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Linq;
using System.Numerics;
using Xunit;

namespace Tenure.Tests;

public sealed class VectorMathsSumTests
{
    /// <summary>The order that stands at <see cref="VectorMaths"/>, word by word.</summary>
    private static T SumInOrder<T>(ReadOnlySpan<T> values, int lanes)
        where T : unmanaged, INumber<T>
    {
        if (values.Length > 4096)
        {
            int blocks = (values.Length + 4095) / 4096, first = (int)BitOperations.RoundUpToPowerOf2((uint)blocks) / 2;
            return SumInOrder(values[..(first * 4096)], lanes) + SumInOrder(values[(first * 4096)..], lanes);
        }
        var lane = new T[lanes];
        for (int i = 0; i < values.Length; i++)
        {
            lane[i % lanes] += values[i];
        }
        for (int half = lanes / 2; half != 0; half /= 2)
        {
            for (int j = 0; j < half; j++)
            {
                lane[j] += lane[j + half];
            }
        }
        return lane[0];
    }

    private static int[] Lengths => [.. Samples.Lengths(), 4095, 4096, 4097, 8192, 8193, 12289, 20480, 28673, 40000];

    [Fact]
    public void a_sum_of_floats_has_the_stated_order_to_the_bit()
    {
        foreach (int length in Lengths)
        {
            float[] singles = Finite(Samples.Of<float>(length + 3, length));
            double[] doubles = Finite(Samples.Of<double>(length + 3, length));
            for (int offset = 0; offset < 4; offset += 3)
            {
                Assert.Equal(SumInOrder<float>(singles.AsSpan(offset, length), 64), VectorMaths.Sum(singles.AsSpan(offset, length)));
                Assert.Equal(SumInOrder<double>(doubles.AsSpan(offset, length), 32), VectorMaths.Sum(doubles.AsSpan(offset, length)));
            }
        }
    }

    [Fact]
    public void products_are_rounded_before_they_are_added()
    {
        foreach (int length in Lengths)
        {
            float[] x = Finite(Samples.Of<float>(length, length)), y = Finite(Samples.Of<float>(length, length + 1));
            double[] v = Finite(Samples.Of<double>(length, length)), w = Finite(Samples.Of<double>(length, length + 1));
            float[] singles = [.. x.Zip(y, (a, b) => a * b)];
            double[] doubles = [.. v.Zip(w, (a, b) => a * b)];
            Assert.Equal(SumInOrder<float>(singles, 64), VectorMaths.Dot(x, y));
            Assert.Equal(SumInOrder<double>(doubles, 32), VectorMaths.Dot(v, w));
        }
    }

    [Fact]
    public void a_sum_of_nothing_or_of_minus_zeros_is_plus_zero()
    {
        Assert.Equal(BitConverter.SingleToInt32Bits(0f), BitConverter.SingleToInt32Bits(VectorMaths.Sum(new float[] { -0f, -0f })));
        Assert.Equal(0, BitConverter.DoubleToInt64Bits(VectorMaths.Sum(ReadOnlySpan<double>.Empty)));
        Assert.Equal(0L, VectorMaths.Sum(ReadOnlySpan<int>.Empty));
        Assert.True(float.IsNaN(VectorMaths.Sum(new float[] { 1, float.PositiveInfinity, float.NegativeInfinity })));
    }

    private delegate TSum SumOf<T, TSum>(ReadOnlySpan<T> values);

    private delegate TSum DotOf<T, TSum>(ReadOnlySpan<T> left, ReadOnlySpan<T> right);

    [Fact]
    public void integers_are_added_and_multiplied_in_64_bits()
    {
        Integers<sbyte, long>(VectorMaths.Sum, VectorMaths.Dot);
        Integers<byte, ulong>(VectorMaths.Sum, VectorMaths.Dot);
        Integers<short, long>(VectorMaths.Sum, VectorMaths.Dot);
        Integers<ushort, ulong>(VectorMaths.Sum, VectorMaths.Dot);
        Integers<int, long>(VectorMaths.Sum, VectorMaths.Dot);
        Integers<uint, ulong>(VectorMaths.Sum, VectorMaths.Dot);
        Integers<long, long>(VectorMaths.Sum, VectorMaths.Dot);
        Integers<ulong, ulong>(VectorMaths.Sum, VectorMaths.Dot);

        static void Integers<T, TSum>(SumOf<T, TSum> sum, DotOf<T, TSum> dot)
            where T : unmanaged, INumber<T>, IMinMaxValue<T>
            where TSum : unmanaged, INumber<TSum>
        {
            foreach (int length in Lengths)
            {
                T[] x = Samples.Of<T>(length, length), y = Samples.Of<T>(length, length + 1);
                Compare(x, y);
            }
            // What narrow lanes must not overflow by: the same extreme value everywhere.
            foreach (T extreme in (T[])[T.MinValue, T.MaxValue])
            {
                var all = new T[3_000_000];
                Array.Fill(all, extreme);
                Compare(all, all);
            }

            void Compare(T[] x, T[] y)
            {
                TSum wantedSum = TSum.Zero, wantedDot = TSum.Zero;
                for (int i = 0; i < x.Length; i++)
                {
                    wantedSum = unchecked(wantedSum + TSum.CreateTruncating(x[i]));
                    wantedDot = unchecked(wantedDot + (TSum.CreateTruncating(x[i]) * TSum.CreateTruncating(y[i])));
                }
                Assert.Equal(wantedSum, sum(x));
                Assert.Equal(wantedDot, dot(x, y));
            }
        }
    }

    /// <summary>Without what would make every sum NaN.</summary>
    private static T[] Finite<T>(T[] values)
        where T : unmanaged, INumber<T> => [.. values.Select(value =>
            T.IsFinite(value) && T.Abs(value) < T.CreateTruncating(1e18) ? value : T.CreateTruncating(3.25))];
}
