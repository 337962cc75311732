// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Globalization;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>Writes a number with a fixed number of decimals, rounded from its exact value, ties to the even digit: as
/// text/format.hpp does (decision 0024).</summary>
internal static class FixedDecimals
{
    private const int MaxDigits = 9;
    private const ulong MaxScaled = 1_000_000_000_000_000_000; // far enough below 2^64 for the carry

    /// <summary>Writes the number.</summary>
    /// <returns>The number of bytes; -1 if there is not enough room, or if the number is too large, is not finite, or
    /// has more decimals than this method writes.</returns>
    internal static int TryWrite(Span<byte> room, double value, int digits)
    {
        if ((uint)digits > MaxDigits)
        {
            return -1;
        }
        ulong bits = BitConverter.DoubleToUInt64Bits(value);
        int exponent = (int)(bits >> 52) & 0x7ff;
        int shift = 1075 - Math.Max(exponent, 1); // the value is significand / 2^shift
        if (shift <= 0)
        {
            return -1;
        }
        ulong significand = bits & ((1UL << 52) - 1) | (exponent != 0 ? 1UL << 52 : 0);
        uint power = PowerOfTen(digits);
        if (!TryScale(significand, power, shift, out ulong scaled))
        {
            return -1;
        }
        ulong whole = scaled / power;
        int at = 0;
        if ((long)bits < 0)
        {
            if (room.IsEmpty)
            {
                return -1;
            }
            room[at++] = (byte)'-';
        }
        if (whole < 10 && at < room.Length)
        {
            room[at++] = (byte)('0' + whole);
        }
        else if (whole.TryFormat(room[at..], out int written, default, CultureInfo.InvariantCulture))
        {
            at += written;
        }
        else
        {
            return -1;
        }
        return digits == 0 ? at : TryWriteDecimals(room, at, (uint)(scaled - whole * power), digits);
    }

    /// <summary>Not a table: on .NET 8, one of numbers is a managed array each time.</summary>
    private static uint PowerOfTen(int digits) => digits switch
    {
        0 => 1,
        1 => 10,
        2 => 100,
        3 => 1000,
        4 => 10_000,
        5 => 100_000,
        6 => 1_000_000,
        7 => 10_000_000,
        8 => 100_000_000,
        _ => 1_000_000_000,
    };

    private static int TryWriteDecimals(Span<byte> room, int at, uint decimals, int digits)
    {
        if (room.Length - at <= digits)
        {
            return -1;
        }
        room[at] = (byte)'.';
        for (int place = at + digits; place > at; place--)
        {
            uint rest = decimals / 10;
            room[place] = (byte)('0' + (decimals - rest * 10));
            decimals = rest;
        }
        return at + digits + 1;
    }

    /// <summary>Computes significand * power / 2^shift, rounded. The product is exact: at most 53 + 30 bits.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static bool TryScale(ulong significand, uint power, int shift, out ulong scaled)
    {
        ulong high = Math.BigMul(significand, power, out ulong low);
        ulong rest, half; // what the shift drops, and the half of its unit, both in 64 bits
        if (shift < 64)
        {
            if (high >> shift != 0)
            {
                scaled = 0;
                return false;
            }
            scaled = low >> shift | high << 1 << (63 - shift);
            rest = low & ((1UL << shift) - 1);
            half = 1UL << (shift - 1);
        }
        else if (shift < 128)
        {
            int above = shift - 64;
            scaled = high >> above;
            // The low word only tells whether there is something below the high word: as one bit.
            rest = (high & ((1UL << above) - 1)) << 1 | (low != 0 ? 1UL : 0);
            half = 1UL << above;
            if (above == 0)
            {
                rest = low;
                half = 1UL << 63;
            }
        }
        else
        {
            scaled = 0; // the product has at most 83 bits: less than a half
            return true;
        }
        if (scaled >= MaxScaled)
        {
            return false;
        }
        if (rest > half || (rest == half && (scaled & 1) != 0))
        {
            scaled++;
        }
        return true;
    }
}
