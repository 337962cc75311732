// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Tenure;

/// <summary>Division of integers. No divisor is zero: whoever calls has looked. The least divided by -1 is
/// itself.</summary>
/// <remarks>
/// Processors have no vector division of integers, and one of floating-point numbers that is exact here: with 8 and 16
/// bits in float, with 32 in double. Below an integer k a quotient is at least 1/divisor away from it, which is
/// 2^-16 or 2^-32 of the dividend, and rounding moves it by 2^-24 or 2^-53 at most: so cut off, it is right. By one
/// divisor for all, it is a multiplication by the reciprocal's next greater neighbour, whose error is as small.
/// 64 bits by one divisor are a multiplication too; by many, they are left to the processor.
/// </remarks>
internal static unsafe class VectorDivision
{
    internal static void By<T>(T* left, T divisor, T* destination, nuint count)
        where T : unmanaged, INumber<T>
    {
        if (typeof(T) == typeof(ulong))
        {
            new Reciprocal64((ulong)(object)divisor).Divide((ulong*)left, (ulong*)destination, count);
        }
        else if (typeof(T) == typeof(long))
        {
            DivideSigned64((long*)left, (long)(object)divisor, (long*)destination, count);
        }
        else if (sizeof(T) <= 2)
        {
            float reciprocal = 1 / float.CreateTruncating(divisor);
            InSingle<T, MultiplyOperator<float>>(left, &divisor, 0, NextGreater(reciprocal), destination, count);
        }
        else if (Avx.IsSupported && (typeof(T) == typeof(int) || typeof(T) == typeof(uint)))
        {
            double reciprocal = 1 / double.CreateTruncating(divisor);
            InDouble<T, MultiplyOperator<double>>(left, &divisor, 0, NextGreater(reciprocal), destination, count);
        }
        else
        {
            for (nuint i = 0; i < count; i++)
            {
                destination[i] = Quotient(left[i], divisor);
            }
        }
    }

    internal static void By<T>(T* left, T* divisors, T* destination, nuint count)
        where T : unmanaged, INumber<T>
    {
        if (sizeof(T) <= 2)
        {
            InSingle<T, DivideOperator<float>>(left, divisors, 1, 0, destination, count);
        }
        else if (Avx.IsSupported && (typeof(T) == typeof(int) || typeof(T) == typeof(uint)))
        {
            InDouble<T, DivideOperator<double>>(left, divisors, 1, 0, destination, count);
        }
        else
        {
            for (nuint i = 0; i < count; i++)
            {
                destination[i] = Quotient(left[i], divisors[i]);
            }
        }
    }

    /// <summary>C# throws where the least is divided by -1, as the processor does.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static T Quotient<T>(T left, T right)
        where T : unmanaged, INumber<T>
    {
        if (sizeof(T) == 8)
        {
            // Of what fits 32 bits the processor divides half of the time or less.
            ulong x = ulong.CreateTruncating(left), y = ulong.CreateTruncating(right);
            if ((x | y) <= uint.MaxValue)
            {
                return T.CreateTruncating((uint)x / (uint)y);
            }
        }
        return T.IsNegative(right) && right == -T.One ? unchecked(T.Zero - left) : left / right;
    }

    private static float NextGreater(float value) => MathF.CopySign(MathF.BitIncrement(MathF.Abs(value)), value);

    private static double NextGreater(double value) => Math.CopySign(Math.BitIncrement(Math.Abs(value)), value);

    /// <summary>8 and 16 bits. With step 0 the right side of the operator is <paramref name="value"/>.</summary>
    private static void InSingle<T, TOperator>(T* left, T* right, nuint step, float value, T* destination, nuint count)
        where T : unmanaged, INumber<T>
        where TOperator : struct, IBinaryOperator<float>
    {
        nuint lanes = (nuint)Vector<T>.Count, i = 0;
        Vector<float> all = new(value);
        for (; i + lanes <= count; i += lanes)
        {
            Vector<T> x = Vector.Load(left + i);
            Vector<T> y = step == 0 ? default : Vector.Load(right + i);
            if (sizeof(T) == 2)
            {
                Vector.Store(Pair<T, TOperator>(x, y, step, all), destination + i);
            }
            else if (typeof(T) == typeof(byte))
            {
                Vector.Widen(x.As<T, byte>(), out Vector<ushort> x0, out Vector<ushort> x1);
                Vector.Widen(y.As<T, byte>(), out Vector<ushort> y0, out Vector<ushort> y1);
                Vector<ushort> low = Pair<ushort, TOperator>(x0, y0, step, all), high = Pair<ushort, TOperator>(x1, y1, step, all);
                Vector.Store(Vector.Narrow(low, high), (byte*)destination + i);
            }
            else
            {
                Vector.Widen(x.As<T, sbyte>(), out Vector<short> x0, out Vector<short> x1);
                Vector.Widen(y.As<T, sbyte>(), out Vector<short> y0, out Vector<short> y1);
                Vector<short> low = Pair<short, TOperator>(x0, y0, step, all), high = Pair<short, TOperator>(x1, y1, step, all);
                Vector.Store(Vector.Narrow(low, high), (sbyte*)destination + i);
            }
        }
        for (; i < count; i++)
        {
            destination[i] = Quotient(left[i], right[i * step]);
        }
    }

    /// <summary>One vector of 16 bits, as two of float.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector<T> Pair<T, TOperator>(Vector<T> x, Vector<T> y, nuint step, Vector<float> all)
        where T : unmanaged
        where TOperator : struct, IBinaryOperator<float>
    {
        Widen(x, out Vector<int> x0, out Vector<int> x1);
        Widen(y, out Vector<int> y0, out Vector<int> y1);
        Vector<float> right0 = step == 0 ? all : Vector.ConvertToSingle(y0);
        Vector<float> right1 = step == 0 ? all : Vector.ConvertToSingle(y1);
        Vector<int> low = OfSingle<TOperator>(Vector.ConvertToSingle(x0), right0);
        Vector<int> high = OfSingle<TOperator>(Vector.ConvertToSingle(x1), right1);
        return Vector.Narrow(low, high).As<short, T>();
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void Widen<T>(Vector<T> value, out Vector<int> low, out Vector<int> high)
        where T : unmanaged
    {
        if (typeof(T) == typeof(ushort))
        {
            Vector.Widen(value.As<T, ushort>(), out Vector<uint> unsignedLow, out Vector<uint> unsignedHigh);
            low = unsignedLow.As<uint, int>();
            high = unsignedHigh.As<uint, int>();
        }
        else
        {
            Vector.Widen(value.As<T, short>(), out low, out high);
        }
    }

    /// <summary>The operator's result cut off; it is always in the range of an int.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector<int> OfSingle<TOperator>(Vector<float> x, Vector<float> y)
        where TOperator : struct, IBinaryOperator<float>
    {
        Vector<float> result = typeof(TOperator) == typeof(MultiplyOperator<float>) ? x * y : x / y;
        return Avx.IsSupported && Vector<float>.Count == 8
            ? Avx.ConvertToVector256Int32WithTruncation(result.AsVector256()).AsVector()
            : Vector.ConvertToInt32(result);
    }

    /// <summary>32 bits, four at a time. With step 0 the right side of the operator is
    /// <paramref name="value"/>.</summary>
    private static void InDouble<T, TOperator>(T* left, T* right, nuint step, double value, T* destination, nuint count)
        where T : unmanaged, INumber<T>
        where TOperator : struct, IBinaryOperator<double>
    {
        Vector256<double> all = Vector256.Create(value);
        nuint i = 0;
        for (; i + 4 <= count; i += 4)
        {
            Vector256<double> x = ToDouble(Vector128.Load(left + i));
            Vector256<double> y = step == 0 ? all : ToDouble(Vector128.Load(right + i));
            Vector256<double> quotient = typeof(TOperator) == typeof(MultiplyOperator<double>) ? x * y : x / y;
            FromDouble<T>(quotient).Store(destination + i);
        }
        for (; i < count; i++)
        {
            destination[i] = Quotient(left[i], right[i * step]);
        }
    }

    private const double TwoTo31 = 2147483648.0;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector256<double> ToDouble<T>(Vector128<T> value)
    {
        if (typeof(T) == typeof(int))
        {
            return Avx.ConvertToVector256Double(value.AsInt32());
        }
        // There is no conversion of unsigned ones: as signed ones that are 2^31 less.
        Vector128<int> less = value.AsInt32() ^ Vector128.Create(int.MinValue);
        return Avx.ConvertToVector256Double(less) + Vector256.Create(TwoTo31);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector128<T> FromDouble<T>(Vector256<double> value)
    {
        if (typeof(T) == typeof(int))
        {
            // What is out of range becomes the least: so the least by -1 is itself.
            return Avx.ConvertToVector128Int32WithTruncation(value).As<int, T>();
        }
        Vector256<double> less = Avx.RoundToZero(value) - Vector256.Create(TwoTo31);
        return (Avx.ConvertToVector128Int32WithTruncation(less) ^ Vector128.Create(int.MinValue)).As<int, T>();
    }

    private static void DivideSigned64(long* left, long divisor, long* destination, nuint count)
    {
        var reciprocal = new Reciprocal64(divisor < 0 ? 0 - (ulong)divisor : (ulong)divisor);
        long divisorSign = divisor >> 63;
        for (nuint i = 0; i < count; i++)
        {
            long sign = left[i] >> 63, resultSign = sign ^ divisorSign;
            ulong quotient = reciprocal.Divide((ulong)((left[i] ^ sign) - sign));
            destination[i] = ((long)quotient ^ resultSign) - resultSign;
        }
    }

    /// <summary>
    /// Division by a multiplication: Granlund and Montgomery, "Division by invariant integers using multiplication"
    /// (1994), with a factor of 65 bits, whose highest is always set and is added by hand.
    /// </summary>
    private readonly struct Reciprocal64
    {
        private readonly ulong _factor;
        private readonly int _firstShift, _secondShift;

        internal Reciprocal64(ulong divisor)
        {
            // 2^length is the least power of two that is not less than the divisor.
            int length = divisor == 1 ? 0 : 64 - BitOperations.LeadingZeroCount(divisor - 1);
            UInt128 power = length == 64 ? UInt128.Zero - divisor : ((UInt128)1 << length) - divisor;
            power &= ulong.MaxValue;
            _factor = (ulong)((power << 64) / divisor + 1);
            _firstShift = Math.Min(length, 1);
            _secondShift = Math.Max(length - 1, 0);
        }

        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        internal ulong Divide(ulong value)
        {
            ulong high = Math.BigMul(_factor, value, out _);
            return (high + ((value - high) >> _firstShift)) >> _secondShift;
        }

        internal void Divide(ulong* left, ulong* destination, nuint count)
        {
            Reciprocal64 self = this;
            for (nuint i = 0; i < count; i++)
            {
                destination[i] = self.Divide(left[i]);
            }
        }
    }
}
