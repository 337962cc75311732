// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Numerics;
using Xunit;

namespace Tenure.Tests;

/// <summary>Against the definition of each operation on single elements.</summary>
public sealed class VectorMathsTests
{
    private delegate void OfBuffers<T>(ReadOnlySpan<T> left, ReadOnlySpan<T> right, Span<T> destination);

    private delegate void OfScalar<T>(ReadOnlySpan<T> left, T right, Span<T> destination);

    private const int Around = 40;

    /// <summary>Each length and offset, into another buffer and in place; what lies around must stay.</summary>
    private static void Check<T>(Func<T, T, T> definition, OfBuffers<T> buffers, OfScalar<T> scalar, bool withoutZeros = false)
        where T : unmanaged, INumber<T>, IMinMaxValue<T>
    {
        foreach (int length in Samples.Lengths())
        {
            int offset = length % 5;
            T[] left = Samples.Of<T>(length + 5, length), right = Samples.Of<T>(length + 5, length + 1000);
            if (withoutZeros)
            {
                for (int i = 0; i < right.Length; i++)
                {
                    right[i] = T.IsZero(right[i]) ? T.One : right[i];
                }
            }
            T value = right[^1];
            ReadOnlySpan<T> x = left.AsSpan(offset, length), y = right.AsSpan(5 - offset, length);
            T[] expected = new T[length], expectedOfScalar = new T[length];
            for (int i = 0; i < length; i++)
            {
                expected[i] = definition(x[i], y[i]);
                expectedOfScalar[i] = definition(x[i], value);
            }

            T[] destination = Samples.Of<T>(length + (2 * Around), length + 2000), before = [.. destination];
            buffers(x, y, destination.AsSpan(Around + offset, length));
            CheckResult(expected, destination, before, Around + offset);
            destination = [.. before];
            scalar(x, value, destination.AsSpan(Around + offset, length));
            CheckResult(expectedOfScalar, destination, before, Around + offset);

            T[] leftToo = [.. left], rightToo = [.. right];
            buffers(leftToo.AsSpan(offset, length), y, leftToo.AsSpan(offset, length));
            CheckResult(expected, leftToo, left, offset);
            buffers(x, rightToo.AsSpan(5 - offset, length), rightToo.AsSpan(5 - offset, length));
            CheckResult(expected, rightToo, right, 5 - offset);
            leftToo = [.. left];
            scalar(leftToo.AsSpan(offset, length), value, leftToo.AsSpan(offset, length));
            CheckResult(expectedOfScalar, leftToo, left, offset);
        }
    }

    private static void CheckResult<T>(T[] expected, T[] destination, T[] before, int offset)
        where T : unmanaged, INumber<T>
    {
        for (int i = 0; i < destination.Length; i++)
        {
            bool inside = i >= offset && i < offset + expected.Length;
            T wanted = inside ? expected[i - offset] : before[i];
            if (!Samples.Same(wanted, destination[i]))
            {
                Assert.Fail($"{typeof(T).Name}, {expected.Length} elements, element {i - offset}: {destination[i]} and not {wanted}");
            }
        }
    }

    [Fact]
    public void a_sum_wraps_in_the_tail_as_in_the_body()
    {
        Add<sbyte>();
        Add<byte>();
        Add<short>();
        Add<ushort>();
        Add<int>();
        Add<uint>();
        Add<long>();
        Add<ulong>();
        Add<float>();
        Add<double>();

        static void Add<T>()
            where T : unmanaged, INumber<T>, IMinMaxValue<T> =>
            Check<T>((x, y) => unchecked(x + y), VectorMaths.Add, VectorMaths.Add);
    }

    [Fact]
    public void a_difference_wraps_in_the_tail_as_in_the_body()
    {
        Subtract<sbyte>();
        Subtract<byte>();
        Subtract<short>();
        Subtract<ushort>();
        Subtract<int>();
        Subtract<uint>();
        Subtract<long>();
        Subtract<ulong>();
        Subtract<float>();
        Subtract<double>();

        static void Subtract<T>()
            where T : unmanaged, INumber<T>, IMinMaxValue<T> =>
            Check<T>((x, y) => unchecked(x - y), VectorMaths.Subtract, VectorMaths.Subtract);
    }

    [Fact]
    public void a_product_wraps_in_the_tail_as_in_the_body()
    {
        Multiply<sbyte>();
        Multiply<byte>();
        Multiply<short>();
        Multiply<ushort>();
        Multiply<int>();
        Multiply<uint>();
        Multiply<long>();
        Multiply<ulong>();
        Multiply<float>();
        Multiply<double>();

        static void Multiply<T>()
            where T : unmanaged, INumber<T>, IMinMaxValue<T> =>
            Check<T>((x, y) => unchecked(x * y), VectorMaths.Multiply, VectorMaths.Multiply);
    }

    [Fact]
    public void a_quotient_is_cut_off_and_the_least_by_minus_one_is_itself()
    {
        Divide<sbyte>();
        Divide<byte>();
        Divide<short>();
        Divide<ushort>();
        Divide<int>();
        Divide<uint>();
        Divide<long>();
        Divide<ulong>();
        Divide<float>();
        Divide<double>();

        static void Divide<T>()
            where T : unmanaged, INumber<T>, IMinMaxValue<T> =>
            Check<T>((x, y) => Quotient(x, y), VectorMaths.Divide, VectorMaths.Divide, withoutZeros: !T.IsNaN(T.CreateTruncating(double.NaN)));
    }

    [Fact]
    public void the_lesser_of_two_is_NaN_if_one_is_and_minus_zero_is_less()
    {
        Minimum<sbyte>();
        Minimum<byte>();
        Minimum<short>();
        Minimum<ushort>();
        Minimum<int>();
        Minimum<uint>();
        Minimum<long>();
        Minimum<ulong>();
        Minimum<float>();
        Minimum<double>();

        static void Minimum<T>()
            where T : unmanaged, INumber<T>, IMinMaxValue<T> =>
            Check<T>((x, y) => T.Min(x, y), VectorMaths.Minimum, VectorMaths.Minimum);
    }

    [Fact]
    public void the_greater_of_two_is_NaN_if_one_is_and_plus_zero_is_more()
    {
        Maximum<sbyte>();
        Maximum<byte>();
        Maximum<short>();
        Maximum<ushort>();
        Maximum<int>();
        Maximum<uint>();
        Maximum<long>();
        Maximum<ulong>();
        Maximum<float>();
        Maximum<double>();

        static void Maximum<T>()
            where T : unmanaged, INumber<T>, IMinMaxValue<T> =>
            Check<T>((x, y) => T.Max(x, y), VectorMaths.Maximum, VectorMaths.Maximum);
    }

    private static T Quotient<T>(T left, T right)
        where T : unmanaged, INumber<T> =>
        !T.IsNaN(T.CreateTruncating(double.NaN)) && right == unchecked(T.Zero - T.One) && right < T.Zero
            ? unchecked(T.Zero - left)
            : left / right;

    [Fact]
    public void every_quotient_of_16_bits_is_right()
    {
        var left = new ushort[65536];
        var quotients = new ushort[65536];
        var signed = new short[65536];
        var signedQuotients = new short[65536];
        for (int i = 0; i < 65536; i++)
        {
            left[i] = (ushort)i;
            signed[i] = (short)i;
        }
        for (int divisor = 1; divisor < 65536; divisor += divisor < 300 ? 1 : 251)
        {
            VectorMaths.Divide(left, (ushort)divisor, quotients);
            VectorMaths.Divide(signed, (short)divisor, signedQuotients);
            for (int i = 0; i < 65536; i++)
            {
                if (quotients[i] != i / divisor || signedQuotients[i] != (short)((short)i / (short)divisor))
                {
                    Assert.Fail($"{i} by {divisor}: {quotients[i]}, {signedQuotients[i]}");
                }
            }
        }
    }

    [Fact]
    public void quotients_next_to_whole_numbers_are_right()
    {
        var random = new Random(7);
        for (int round = 0; round < 3000; round++)
        {
            uint divisor = (uint)random.NextInt64(1, 1L << random.Next(1, 33));
            ulong wide = (ulong)random.NextInt64(1, long.MaxValue) >> random.Next(0, 63) | 1;
            var left = new uint[64];
            var leftWide = new ulong[64];
            for (int i = 0; i < left.Length; i++)
            {
                left[i] = (divisor * (uint)random.NextInt64(0, (uint.MaxValue / divisor) + 1L)) - (uint)(i % 3);
                leftWide[i] = (wide * (ulong)random.NextInt64(0, (long)Math.Min(ulong.MaxValue / wide, long.MaxValue))) - (ulong)(i % 3);
            }
            var quotients = new uint[64];
            var quotientsWide = new ulong[64];
            var divisors = new uint[64];
            VectorMaths.Fill(divisors, divisor);
            VectorMaths.Divide(left, divisor, quotients);
            VectorMaths.Divide(leftWide, wide, quotientsWide);
            for (int i = 0; i < left.Length; i++)
            {
                Assert.Equal(left[i] / divisor, quotients[i]);
                Assert.Equal(leftWide[i] / wide, quotientsWide[i]);
            }
            VectorMaths.Divide(left, divisors, quotients);
            for (int i = 0; i < left.Length; i++)
            {
                Assert.Equal(left[i] / divisor, quotients[i]);
            }
        }
    }

    [Fact]
    public void a_division_by_zero_throws_and_writes_nothing()
    {
        int[] left = new int[100], right = new int[100], destination = new int[100];
        Array.Fill(left, 7);
        Array.Fill(right, 2);
        Array.Fill(destination, 5);
        right[99] = 0;
        Assert.Throws<DivideByZeroException>(() => VectorMaths.Divide(left, 0, destination));
        Assert.Throws<DivideByZeroException>(() => VectorMaths.Divide<int>(left, right, destination));
        Assert.All(destination, value => Assert.Equal(5, value));
        VectorMaths.Divide(new double[] { 1, -1, 0 }, 0, new double[3]);
    }

    [Fact]
    public void square_roots_of_integers_are_cut_off_and_of_floats_rounded()
    {
        ulong[] squares = [0, 1, 2, 3, 4, (1UL << 52) - 1, 1UL << 52, ulong.MaxValue, 18446744065119617025, 18446744065119617024];
        ulong[] roots = new ulong[squares.Length];
        VectorMaths.SquareRoot<ulong>(squares, roots);
        Assert.Equal([0, 1, 1, 1, 2, 67108863, 67108864, 4294967295, 4294967295, 4294967294], roots);
        sbyte[] signed = [-128, -1, 0, 127];
        VectorMaths.SquareRoot<sbyte>(signed, signed);
        Assert.Equal([0, 0, 0, 11], signed);
        foreach (int length in Samples.Lengths())
        {
            double[] values = Samples.Of<double>(length, length), found = new double[length];
            VectorMaths.SquareRoot<double>(values, found);
            for (int i = 0; i < length; i++)
            {
                Assert.True(Samples.Same(Math.Sqrt(values[i]), found[i]));
            }
        }
    }

    [Fact]
    public void a_fill_writes_every_element_and_no_other()
    {
        foreach (int length in Samples.Lengths())
        {
            var buffer = new ushort[length + 2];
            VectorMaths.Fill(buffer.AsSpan(1, length), (ushort)0xABCD);
            Assert.Equal(0, buffer[0]);
            Assert.Equal(0, buffer[^1]);
            Assert.True(buffer.AsSpan(1, length).IndexOfAnyExcept((ushort)0xABCD) < 0);
        }
    }

    [Fact]
    public void a_destination_that_overlaps_and_is_not_in_place_is_refused()
    {
        var buffer = new float[100];
        Assert.Throws<ArgumentException>(() => VectorMaths.Add(buffer.AsSpan(0, 50), 1, buffer.AsSpan(1, 50)));
        Assert.Throws<ArgumentException>(() => VectorMaths.Add(buffer.AsSpan(0, 50), buffer.AsSpan(50), buffer.AsSpan(49, 50)));
        VectorMaths.Add(buffer.AsSpan(0, 50), 1, buffer.AsSpan(50, 50));
        VectorMaths.Add(buffer.AsSpan(0, 50), 1, buffer);
    }

    [Fact]
    public void lengths_that_do_not_fit_are_refused()
    {
        var buffer = new float[100];
        Assert.Throws<ArgumentException>(() => VectorMaths.Add(buffer.AsSpan(0, 50), 1, new float[49]));
        Assert.Throws<ArgumentException>(() => VectorMaths.Add(buffer.AsSpan(0, 50), buffer.AsSpan(0, 49), buffer));
        Assert.Throws<ArgumentException>(() => VectorMaths.Dot(buffer.AsSpan(0, 50), buffer.AsSpan(0, 49)));
        Assert.Throws<ArgumentException>(() => VectorMaths.FindMatch(buffer.AsSpan(0, 5), Comparison.Less, buffer.AsSpan(0, 4)));
    }

    [Fact]
    public void another_type_is_refused_by_name()
    {
        var refused = Assert.Throws<NotSupportedException>(() => VectorMaths.Add(new decimal[4], 1, new decimal[4]));
        Assert.Contains("decimal", refused.Message, StringComparison.OrdinalIgnoreCase);
    }
}
