// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Tenure;

/// <summary>Division of integers. The caller has checked that no divisor is zero. The minimum value divided by -1 is
/// itself.</summary>
/// <remarks>Processors have no vector instruction for integer division, but their floating-point division is exact
/// here: float for 8 and 16 bits, double for 32 bits. A quotient below an integer k is at least 1/divisor away from k,
/// which is 2^-16 or 2^-32 relative to the dividend, and rounding moves it by at most 2^-24 or 2^-53. The truncated
/// result is therefore correct. Division by a single divisor multiplies by the next greater neighbour of the
/// reciprocal, whose error is as small. 64-bit division by a single divisor is a multiplication too; with many
/// divisors, it uses the processor's division.</remarks>
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

    /// <summary>C# throws for the minimum value divided by -1, because the processor does.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static T Quotient<T>(T left, T right)
        where T : unmanaged, INumber<T>
    {
        if (sizeof(T) == 8)
        {
            // Division of operands that fit in 32 bits takes the processor at most half the time.
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

    /// <summary>Divides 8- and 16-bit integers. With step 0, the right operand is <paramref name="value"/>.</summary>
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

    /// <summary>Divides one vector of 16-bit integers as two vectors of float.</summary>
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

    /// <summary>Returns the truncated result of the operator, which always fits in an int.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector<int> OfSingle<TOperator>(Vector<float> x, Vector<float> y)
        where TOperator : struct, IBinaryOperator<float>
    {
        Vector<float> result = typeof(TOperator) == typeof(MultiplyOperator<float>) ? x * y : x / y;
        return Avx.IsSupported && Vector<float>.Count == 8
            ? Avx.ConvertToVector256Int32WithTruncation(result.AsVector256()).AsVector()
            : Vector.ConvertToInt32(result);
    }

    /// <summary>Divides 32-bit integers, eight or four at a time. With step 0, the right operand is
    /// <paramref name="value"/>.</summary>
    private static void InDouble<T, TOperator>(T* left, T* right, nuint step, double value, T* destination, nuint count)
        where T : unmanaged, INumber<T>
        where TOperator : struct, IBinaryOperator<double>
    {
        nuint i = 0;
        if (Avx512F.IsSupported && Vector512.IsHardwareAccelerated)
        {
            Vector512<double> wide = Vector512.Create(value);
            for (; i + 8 <= count; i += 8)
            {
                Vector512<double> x = ToDouble(Vector256.Load(left + i));
                Vector512<double> y = step == 0 ? wide : ToDouble(Vector256.Load(right + i));
                FromDouble<T>(typeof(TOperator) == typeof(MultiplyOperator<double>) ? x * y : x / y).Store(destination + i);
            }
        }
        Vector256<double> all = Vector256.Create(value);
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
        // There is no conversion from unsigned integers: convert them as signed ones that are 2^31 less.
        Vector128<int> less = value.AsInt32() ^ Vector128.Create(int.MinValue);
        return Avx.ConvertToVector256Double(less) + Vector256.Create(TwoTo31);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector128<T> FromDouble<T>(Vector256<double> value)
    {
        if (typeof(T) == typeof(int))
        {
            // Values out of range become the minimum, so the minimum value divided by -1 is itself.
            return Avx.ConvertToVector128Int32WithTruncation(value).As<int, T>();
        }
        Vector256<double> less = Avx.RoundToZero(value) - Vector256.Create(TwoTo31);
        return (Avx.ConvertToVector128Int32WithTruncation(less) ^ Vector128.Create(int.MinValue)).As<int, T>();
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector512<double> ToDouble<T>(Vector256<T> value) => typeof(T) == typeof(int)
        ? Avx512F.ConvertToVector512Double(value.AsInt32())
        : Avx512F.ConvertToVector512Double(value.AsUInt32());

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector256<T> FromDouble<T>(Vector512<double> value) => typeof(T) == typeof(int)
        ? Avx512F.ConvertToVector256Int32WithTruncation(value).As<int, T>()
        : Avx512F.ConvertToVector256UInt32WithTruncation(value).As<uint, T>();

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

    /// <summary>Division by multiplication, after Granlund and Montgomery, "Division by invariant integers using
    /// multiplication" (1994). The factor has 65 bits; the highest one is always set and is added separately.</summary>
    private readonly struct Reciprocal64
    {
        private readonly ulong _factor;
        private readonly int _firstShift, _secondShift;

        internal Reciprocal64(ulong divisor)
        {
            // 2^length is the smallest power of two that is not less than the divisor.
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
