// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Globalization;
using System.Numerics;
using Xunit;

namespace Tenure.Tests;

public sealed class VectorMathsConversionTests
{
    [Fact]
    public void every_type_becomes_every_other()
    {
        From<sbyte>();
        From<byte>();
        From<short>();
        From<ushort>();
        From<int>();
        From<uint>();
        From<long>();
        From<ulong>();
        From<float>();
        From<double>();
    }

    private static void From<TFrom>()
        where TFrom : unmanaged, INumber<TFrom>, IMinMaxValue<TFrom>
    {
        FromTo<TFrom, sbyte>();
        FromTo<TFrom, byte>();
        FromTo<TFrom, short>();
        FromTo<TFrom, ushort>();
        FromTo<TFrom, int>();
        FromTo<TFrom, uint>();
        FromTo<TFrom, long>();
        FromTo<TFrom, ulong>();
        FromTo<TFrom, float>();
        FromTo<TFrom, double>();
    }

    private static void FromTo<TFrom, TTo>()
        where TFrom : unmanaged, INumber<TFrom>, IMinMaxValue<TFrom>
        where TTo : unmanaged, INumber<TTo>, IMinMaxValue<TTo>
    {
        foreach (int length in Samples.Lengths())
        {
            int offset = length % 3;
            TFrom[] from = Samples.Of<TFrom>(length + 3, length);
            TTo[] to = new TTo[length + 6];
            VectorMaths.Convert<TFrom, TTo>(from.AsSpan(offset, length), to.AsSpan(3, length));
            for (int i = 0; i < to.Length; i++)
            {
                TTo wanted = i >= 3 && i < length + 3 ? Converted<TFrom, TTo>(from[offset + i - 3]) : TTo.Zero;
                if (!Samples.Same(wanted, to[i]))
                {
                    Assert.Fail($"{typeof(TFrom).Name} {from[offset + i - 3]} to {typeof(TTo).Name}, {length} elements: {to[i]} and not {wanted}");
                }
            }
        }
    }

    /// <summary>Written out, because what C# does beyond the range has changed between versions.</summary>
    private static TTo Converted<TFrom, TTo>(TFrom value)
        where TFrom : unmanaged, INumber<TFrom>, IMinMaxValue<TFrom>
        where TTo : unmanaged, INumber<TTo>, IMinMaxValue<TTo>
    {
        bool fromFraction = typeof(TFrom) == typeof(float) || typeof(TFrom) == typeof(double);
        bool toFraction = typeof(TTo) == typeof(float) || typeof(TTo) == typeof(double);
        if (!fromFraction && toFraction)
        {
            // By way of text, which is rounded once on every version.
            string digits = value.ToString(null, CultureInfo.InvariantCulture);
            return TTo.Parse(digits, CultureInfo.InvariantCulture);
        }
        if (fromFraction == toFraction)
        {
            return TTo.CreateTruncating(value);
        }
        double wide = double.CreateTruncating(value);
        return double.IsNaN(wide) ? TTo.Zero
            : wide >= double.CreateTruncating(TTo.MaxValue) ? TTo.MaxValue
            : wide <= double.CreateTruncating(TTo.MinValue) ? TTo.MinValue
            : TTo.CreateTruncating(wide);
    }

    [Fact]
    public void sixty_four_bits_to_float_are_rounded_once()
    {
        // By way of double it would be exactly between two, and become the even one.
        long[] from = [(1L << 60) + (1L << 36) + 1, -(1L << 60) - (1L << 36) - 1];
        var to = new float[2];
        VectorMaths.Convert<long, float>(from, to);
        Assert.Equal([1152921641866067968f, -1152921641866067968f], to);
        ulong[] large = [(1UL << 63) + (1UL << 39) + 1];
        VectorMaths.Convert<ulong, float>(large, to);
        Assert.Equal(9223373136366403584f, to[0]);
    }

    [Fact]
    public void a_destination_that_overlaps_is_refused()
    {
        var buffer = new int[10];
        Assert.Throws<ArgumentException>(() => VectorMaths.Convert<int, int>(buffer.AsSpan(0, 5), buffer.AsSpan(4, 5)));
        Assert.Throws<ArgumentException>(() => VectorMaths.Convert<int, long>(buffer, new long[9]));
    }
}
