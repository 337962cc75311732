// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System.Numerics;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>Conversions: widens a vector by halves, narrows several vectors in pairs, and changes the kind of number in
/// between.</summary>
/// <remarks>The recursion is over types: each step is a different method for the compiler, which inlines all of them
/// into the loop. Floating-point values are clamped to the range of the target before they are narrowed.</remarks>
internal static unsafe class VectorConversions
{
    internal static void Convert<TFrom, TTo>(TFrom* from, TTo* to, nuint count)
        where TFrom : unmanaged, INumber<TFrom>
        where TTo : unmanaged, INumber<TTo>
    {
        if (typeof(TFrom) == typeof(TTo) || (IsInteger<TFrom>() && IsInteger<TTo>() && sizeof(TFrom) == sizeof(TTo)))
        {
            System.Buffer.MemoryCopy(from, to, (ulong)count * (ulong)sizeof(TTo), (ulong)count * (ulong)sizeof(TTo));
            return;
        }
        nuint i = 0;
        if (sizeof(TTo) >= sizeof(TFrom))
        {
            nuint lanes = (nuint)Vector<TFrom>.Count;
            for (; sizeof(TTo) == sizeof(TFrom) && i + 4 * lanes <= count; i += 4 * lanes)
            {
                Spread(Vector.Load(from + i), to + i);
                Spread(Vector.Load(from + i + lanes), to + i + lanes);
                Spread(Vector.Load(from + i + 2 * lanes), to + i + 2 * lanes);
                Spread(Vector.Load(from + i + 3 * lanes), to + i + 3 * lanes);
            }
            for (; i + lanes <= count; i += lanes)
            {
                Spread(Vector.Load(from + i), to + i);
            }
        }
        else if (!IsInteger<TFrom>() || (typeof(TTo) != typeof(float) && sizeof(TFrom) < 8 * sizeof(TTo)))
        {
            // Exclude 64 bits to float, because converting by way of double rounds twice, and 64 bits to 8, where a
            // plain loop is as fast.
            Vector<TFrom> least = default, greatest = default;
            if (!IsInteger<TFrom>() && IsInteger<TTo>())
            {
                least = new Vector<TFrom>(TFrom.CreateTruncating(Least<TTo>()));
                greatest = new Vector<TFrom>(TFrom.CreateTruncating(Greatest<TTo>()));
            }
            for (nuint lanes = (nuint)Vector<TTo>.Count; i + lanes <= count; i += lanes)
            {
                Vector.Store(Gather<TFrom, TTo, TTo>(from + i, least, greatest), to + i);
            }
        }
        if (i < count)
        {
            OneByOne(from + i, to + i, count - i);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void OneByOne<TFrom, TTo>(TFrom* from, TTo* to, nuint count)
        where TFrom : unmanaged, INumber<TFrom>
        where TTo : unmanaged, INumber<TTo>
    {
        for (nuint i = 0; i < count; i++)
        {
            to[i] = One<TFrom, TTo>(from[i]);
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static TTo One<TFrom, TTo>(TFrom value)
        where TFrom : unmanaged, INumber<TFrom>
        where TTo : unmanaged, INumber<TTo>
    {
#if !NET9_0_OR_GREATER
        // .NET 8 converts NaN to the minimum int, and rounds a ulong twice on processors without an instruction for it.
        if (!IsInteger<TFrom>() && IsInteger<TTo>() && TFrom.IsNaN(value))
        {
            return TTo.Zero;
        }
        if (typeof(TFrom) == typeof(ulong) && typeof(TTo) == typeof(double))
        {
            ulong whole = (ulong)(object)value;
            return TTo.CreateTruncating(((uint)(whole >> 32) * 4294967296.0) + (uint)whole);
        }
        if (typeof(TFrom) == typeof(ulong) && typeof(TTo) == typeof(float))
        {
            ulong whole = (ulong)(object)value;
            // Convert half of the value. The lost bit is ORed into the lowest one, so that a value above the midpoint
            // does not round as a tie.
            float found = whole <= long.MaxValue ? (long)whole : (float)(long)((whole >> 1) | (whole & 1)) * 2;
            return TTo.CreateTruncating(found);
        }
#endif
        return IsInteger<TFrom>() || !IsInteger<TTo>() ? TTo.CreateTruncating(value) : TTo.CreateSaturating(value);
    }

    private static bool IsInteger<T>() => typeof(T) != typeof(float) && typeof(T) != typeof(double);

    /// <summary>Converts one vector to one or more vectors.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void Spread<TFrom, TTo>(Vector<TFrom> value, TTo* to)
        where TFrom : unmanaged, INumber<TFrom>
        where TTo : unmanaged, INumber<TTo>
    {
        if (sizeof(TFrom) == sizeof(TTo))
        {
            Vector.Store(Cast<TFrom, TTo, TTo>(value, default, default), to);
        }
        else if (typeof(TFrom) == typeof(sbyte))
        {
            Vector.Widen(value.As<TFrom, sbyte>(), out Vector<short> low, out Vector<short> high);
            Spread(low, to);
            Spread(high, to + Vector<short>.Count);
        }
        else if (typeof(TFrom) == typeof(byte))
        {
            Vector.Widen(value.As<TFrom, byte>(), out Vector<ushort> low, out Vector<ushort> high);
            Spread(low, to);
            Spread(high, to + Vector<ushort>.Count);
        }
        else if (typeof(TFrom) == typeof(short))
        {
            Vector.Widen(value.As<TFrom, short>(), out Vector<int> low, out Vector<int> high);
            Spread(low, to);
            Spread(high, to + Vector<int>.Count);
        }
        else if (typeof(TFrom) == typeof(ushort))
        {
            // Signed from here on: the values are small enough, and signed ones convert to floating point faster.
            Vector.Widen(value.As<TFrom, ushort>(), out Vector<uint> low, out Vector<uint> high);
            Spread(low.As<uint, int>(), to);
            Spread(high.As<uint, int>(), to + Vector<uint>.Count);
        }
        else if (typeof(TFrom) == typeof(int))
        {
            Vector.Widen(value.As<TFrom, int>(), out Vector<long> low, out Vector<long> high);
            Spread(low, to);
            Spread(high, to + Vector<long>.Count);
        }
        else if (typeof(TFrom) == typeof(uint))
        {
            Vector.Widen(value.As<TFrom, uint>(), out Vector<ulong> low, out Vector<ulong> high);
            Spread(low.As<ulong, long>(), to);
            Spread(high.As<ulong, long>(), to + Vector<ulong>.Count);
        }
        else
        {
            Vector.Widen(value.As<TFrom, float>(), out Vector<double> low, out Vector<double> high);
            Spread(low, to);
            Spread(high, to + Vector<double>.Count);
        }
    }

    /// <summary>Combines one or more vectors into one, on the way to <typeparamref name="TFinal"/>.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector<TTo> Gather<TFrom, TTo, TFinal>(TFrom* from, Vector<TFrom> least, Vector<TFrom> greatest)
        where TFrom : unmanaged, INumber<TFrom>
        where TTo : unmanaged, INumber<TTo>
        where TFinal : unmanaged, INumber<TFinal>
    {
        if (sizeof(TFrom) == sizeof(TTo))
        {
            return Cast<TFrom, TTo, TFinal>(Vector.Load(from), least, greatest);
        }
        nint half = Vector<TTo>.Count / 2;
        if (typeof(TTo) == typeof(float))
        {
            return Vector.Narrow(
                    Gather<TFrom, double, TFinal>(from, least, greatest),
                    Gather<TFrom, double, TFinal>(from + half, least, greatest))
                .As<float, TTo>();
        }
        if (sizeof(TTo) == 1)
        {
            return Vector.Narrow(
                    Gather<TFrom, ushort, TFinal>(from, least, greatest),
                    Gather<TFrom, ushort, TFinal>(from + half, least, greatest))
                .As<byte, TTo>();
        }
        if (sizeof(TTo) == 2)
        {
            return Vector.Narrow(
                    Gather<TFrom, uint, TFinal>(from, least, greatest),
                    Gather<TFrom, uint, TFinal>(from + half, least, greatest))
                .As<ushort, TTo>();
        }
        return Vector.Narrow(
                    Gather<TFrom, ulong, TFinal>(from, least, greatest),
                    Gather<TFrom, ulong, TFinal>(from + half, least, greatest))
            .As<uint, TTo>();
    }

    /// <summary>Converts between types of the same size. Integers that will be narrowed later may have either
    /// sign.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector<TTo> Cast<TFrom, TTo, TFinal>(
        Vector<TFrom> value, Vector<TFrom> least, Vector<TFrom> greatest)
        where TFrom : unmanaged, INumber<TFrom>
        where TTo : unmanaged, INumber<TTo>
        where TFinal : unmanaged, INumber<TFinal>
    {
        if (IsInteger<TFrom>() == IsInteger<TTo>())
        {
            return value.As<TFrom, TTo>();
        }
        if (IsInteger<TFrom>())
        {
            return typeof(TFrom) == typeof(int) ? Vector.ConvertToSingle(value.As<TFrom, int>()).As<float, TTo>()
                : typeof(TFrom) == typeof(uint) ? Vector.ConvertToSingle(value.As<TFrom, uint>()).As<float, TTo>()
                : typeof(TFrom) == typeof(long) ? Vector.ConvertToDouble(value.As<TFrom, long>()).As<double, TTo>()
                : Vector.ConvertToDouble(value.As<TFrom, ulong>()).As<double, TTo>();
        }
        if (sizeof(TFinal) < sizeof(TTo))
        {
            // The bounds are exact, and every value in range converts to the same result on every machine.
            Vector<TFrom> inside = Inside(value, least, greatest);
#if NET9_0_OR_GREATER
            return typeof(TFrom) == typeof(float) ? Vector.ConvertToInt32Native(inside.As<TFrom, float>()).As<int, TTo>()
                : Vector.ConvertToInt64Native(inside.As<TFrom, double>()).As<long, TTo>();
#else
            return typeof(TFrom) == typeof(float) ? Vector.ConvertToInt32(inside.As<TFrom, float>()).As<int, TTo>()
                : Vector.ConvertToInt64(inside.As<TFrom, double>()).As<long, TTo>();
#endif
        }
#if NET9_0_OR_GREATER
        // Since .NET 9, these return the minimum or the maximum for values out of range, and 0 for NaN, on every
        // machine.
        return typeof(TTo) == typeof(int) ? Vector.ConvertToInt32(value.As<TFrom, float>()).As<int, TTo>()
            : typeof(TTo) == typeof(uint) ? Vector.ConvertToUInt32(value.As<TFrom, float>()).As<uint, TTo>()
            : typeof(TTo) == typeof(long) ? Vector.ConvertToInt64(value.As<TFrom, double>()).As<long, TTo>()
            : Vector.ConvertToUInt64(value.As<TFrom, double>()).As<ulong, TTo>();
#else
        // The maximum is not exact, but the number after it is: values that reach that number are set afterwards.
        TFrom end = TFrom.CreateTruncating(TTo.IsNegative(Least<TTo>()) ? 2147483648.0 : 4294967296.0);
        end = sizeof(TTo) == 8 ? end * TFrom.CreateTruncating(4294967296.0) : end;
        Vector<TFrom> first = new(TFrom.CreateTruncating(Least<TTo>())), last = new(end);
        Vector<TFrom> number = Inside(value, first, last);
        Vector<TTo> beyond = Vector.GreaterThanOrEqual(number, last).As<TFrom, TTo>();
        Vector<TTo> found = typeof(TTo) == typeof(int) ? Vector.ConvertToInt32(number.As<TFrom, float>()).As<int, TTo>()
            : typeof(TTo) == typeof(uint) ? Vector.ConvertToUInt32(number.As<TFrom, float>()).As<uint, TTo>()
            : typeof(TTo) == typeof(long) ? Vector.ConvertToInt64(number.As<TFrom, double>()).As<long, TTo>()
            : Vector.ConvertToUInt64(number.As<TFrom, double>()).As<ulong, TTo>();
        return Vector.ConditionalSelect(beyond, new Vector<TTo>(Greatest<TTo>()), found);
#endif
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector<T> Inside<T>(Vector<T> value, Vector<T> least, Vector<T> greatest)
        where T : unmanaged
    {
        Vector<T> number = value & Vector.Equals(value, value);
        return Vector.Min(Vector.Max(number, least), greatest);
    }

    private static bool IsSigned<T>() =>
        typeof(T) == typeof(sbyte) || typeof(T) == typeof(short)
        || typeof(T) == typeof(int) || typeof(T) == typeof(long);

    private static T Least<T>()
        where T : unmanaged, INumber<T> =>
        IsSigned<T>() ? T.CreateTruncating(long.MinValue >> (64 - (8 * sizeof(T)))) : T.Zero;

    private static T Greatest<T>()
        where T : unmanaged, INumber<T> =>
        T.CreateTruncating(ulong.MaxValue >> (64 - (8 * sizeof(T)) + (IsSigned<T>() ? 1 : 0)));
}
