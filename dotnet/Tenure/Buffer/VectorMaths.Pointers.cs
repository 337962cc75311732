// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Numerics;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>The operations over pointers, for counts that exceed a span. A written buffer is one of the read buffers or
/// overlaps none of them.</summary>
public static unsafe partial class VectorMaths
{
    internal static void Fill<T>(T* destination, T value, nuint count)
        where T : unmanaged, INumber<T>
    {
        CheckType<T>();
        VectorFills.Fill(destination, value, count);
    }

    internal static void Add<T>(T* left, T* right, T* destination, nuint count)
        where T : unmanaged, INumber<T>
    {
        CheckType<T>();
        VectorLoops.Run<T, AddOperator<T>, BufferRight<T>>(left, right, destination, count);
    }

    internal static void Add<T>(T* left, T right, T* destination, nuint count)
        where T : unmanaged, INumber<T>
    {
        CheckType<T>();
        VectorLoops.Run<T, AddOperator<T>, ScalarRight<T>>(left, &right, destination, count);
    }

    internal static void Subtract<T>(T* left, T* right, T* destination, nuint count)
        where T : unmanaged, INumber<T>
    {
        CheckType<T>();
        VectorLoops.Run<T, SubtractOperator<T>, BufferRight<T>>(left, right, destination, count);
    }

    internal static void Subtract<T>(T* left, T right, T* destination, nuint count)
        where T : unmanaged, INumber<T>
    {
        CheckType<T>();
        VectorLoops.Run<T, SubtractOperator<T>, ScalarRight<T>>(left, &right, destination, count);
    }

    internal static void Multiply<T>(T* left, T* right, T* destination, nuint count)
        where T : unmanaged, INumber<T>
    {
        CheckType<T>();
        VectorLoops.Run<T, MultiplyOperator<T>, BufferRight<T>>(left, right, destination, count);
    }

    internal static void Multiply<T>(T* left, T right, T* destination, nuint count)
        where T : unmanaged, INumber<T>
    {
        CheckType<T>();
        VectorLoops.Run<T, MultiplyOperator<T>, ScalarRight<T>>(left, &right, destination, count);
    }

    internal static void Minimum<T>(T* left, T* right, T* destination, nuint count)
        where T : unmanaged, INumber<T>
    {
        CheckType<T>();
        VectorLoops.Run<T, MinOperator<T>, BufferRight<T>>(left, right, destination, count);
    }

    internal static void Minimum<T>(T* left, T right, T* destination, nuint count)
        where T : unmanaged, INumber<T>
    {
        CheckType<T>();
        VectorLoops.Run<T, MinOperator<T>, ScalarRight<T>>(left, &right, destination, count);
    }

    internal static void Maximum<T>(T* left, T* right, T* destination, nuint count)
        where T : unmanaged, INumber<T>
    {
        CheckType<T>();
        VectorLoops.Run<T, MaxOperator<T>, BufferRight<T>>(left, right, destination, count);
    }

    internal static void Maximum<T>(T* left, T right, T* destination, nuint count)
        where T : unmanaged, INumber<T>
    {
        CheckType<T>();
        VectorLoops.Run<T, MaxOperator<T>, ScalarRight<T>>(left, &right, destination, count);
    }

    internal static void Divide<T>(T* left, T* right, T* destination, nuint count)
        where T : unmanaged, INumber<T>
    {
        CheckType<T>();
        if (IsFloatingPoint<T>())
        {
            VectorLoops.Run<T, DivideOperator<T>, BufferRight<T>>(left, right, destination, count);
            return;
        }
        T zero = T.Zero;
        if (VectorComparisons.Find<T, EqualOperator<T>, ScalarRight<T>>(right, &zero, count, holds: true) != count)
        {
            throw new DivideByZeroException();
        }
        VectorDivision.By(left, right, destination, count);
    }

    internal static void Divide<T>(T* left, T right, T* destination, nuint count)
        where T : unmanaged, INumber<T>
    {
        CheckType<T>();
        if (IsFloatingPoint<T>())
        {
            VectorLoops.Run<T, DivideOperator<T>, ScalarRight<T>>(left, &right, destination, count);
            return;
        }
        if (T.IsZero(right))
        {
            throw new DivideByZeroException();
        }
        VectorDivision.By(left, right, destination, count);
    }

    internal static void SquareRoot<T>(T* from, T* destination, nuint count)
        where T : unmanaged, INumber<T>
    {
        CheckType<T>();
        if (typeof(T) == typeof(float))
        {
            VectorLoops.Run<float, SqrtOperator<float>, BufferRight<float>>(
                (float*)from, (float*)from, (float*)destination, count);
        }
        else if (typeof(T) == typeof(double))
        {
            VectorLoops.Run<double, SqrtOperator<double>, BufferRight<double>>(
                (double*)from, (double*)from, (double*)destination, count);
        }
        else
        {
            for (nuint i = 0; i < count; i++)
            {
                destination[i] = T.CreateTruncating(T.IsNegative(from[i]) ? 0 : Root(ulong.CreateTruncating(from[i])));
            }
        }
    }

    internal static T Minimum<T>(T* from, nuint count)
        where T : unmanaged, INumber<T>
    {
        CheckType<T>();
        return VectorComparisons.Best<T, MinOperator<T>>(from, count);
    }

    internal static T Maximum<T>(T* from, nuint count)
        where T : unmanaged, INumber<T>
    {
        CheckType<T>();
        return VectorComparisons.Best<T, MaxOperator<T>>(from, count);
    }

    /// <summary>Computes a <typeparamref name="TSum"/>: T itself for float and double, long for signed integers, ulong
    /// for unsigned ones.</summary>
    internal static TSum Sum<T, TSum>(T* from, nuint count)
        where T : unmanaged, INumber<T>
        where TSum : unmanaged, INumber<TSum>
    {
        if (IsFloatingPoint<T>())
        {
            T sum = VectorSums.Sum<T, ElementSummand<T>>(from, from, count);
            return Unsafe.As<T, TSum>(ref sum);
        }
        ulong bits = VectorIntegerSums.Sum(from, count);
        return Unsafe.As<ulong, TSum>(ref bits);
    }

    /// <summary>Computes a <typeparamref name="TSum"/>: T itself for float and double, long for signed integers, ulong
    /// for unsigned ones.</summary>
    internal static TSum Dot<T, TSum>(T* left, T* right, nuint count)
        where T : unmanaged, INumber<T>
        where TSum : unmanaged, INumber<TSum>
    {
        if (IsFloatingPoint<T>())
        {
            T sum = VectorSums.Sum<T, ProductSummand<T>>(left, right, count);
            return Unsafe.As<T, TSum>(ref sum);
        }
        ulong bits = VectorIntegerSums.Dot(left, right, count);
        return Unsafe.As<ulong, TSum>(ref bits);
    }

    /// <summary>Finds the first index for which the comparison is true or, with <paramref name="holds"/> false, is
    /// false; the count when there is none.</summary>
    internal static nuint Find<T>(T* left, Comparison how, T* right, nuint count, bool holds)
        where T : unmanaged, INumber<T> => Find<T, BufferRight<T>>(left, how, right, count, holds);

    /// <summary>Finds the first index for which the comparison is true or, with <paramref name="holds"/> false, is
    /// false; the count when there is none.</summary>
    internal static nuint Find<T>(T* left, Comparison how, T right, nuint count, bool holds)
        where T : unmanaged, INumber<T> => Find<T, ScalarRight<T>>(left, how, &right, count, holds);

    internal static nuint CountMatches<T>(T* left, Comparison how, T* right, nuint count)
        where T : unmanaged, INumber<T> => CountMatches<T, BufferRight<T>>(left, how, right, count);

    internal static nuint CountMatches<T>(T* left, Comparison how, T right, nuint count)
        where T : unmanaged, INumber<T> => CountMatches<T, ScalarRight<T>>(left, how, &right, count);

    private static nuint Find<T, TRight>(T* left, Comparison how, T* right, nuint count, bool holds)
        where T : unmanaged, INumber<T>
        where TRight : struct, IRight<T>
    {
        CheckType<T>();
        return how switch
        {
            Comparison.Equal => VectorComparisons.Find<T, EqualOperator<T>, TRight>(left, right, count, holds),
            Comparison.NotEqual => VectorComparisons.Find<T, EqualOperator<T>, TRight>(left, right, count, !holds),
            Comparison.Less => VectorComparisons.Find<T, LessOperator<T>, TRight>(left, right, count, holds),
            Comparison.LessOrEqual =>
                VectorComparisons.Find<T, LessOrEqualOperator<T>, TRight>(left, right, count, holds),
            Comparison.Greater => VectorComparisons.Find<T, GreaterOperator<T>, TRight>(left, right, count, holds),
            Comparison.GreaterOrEqual =>
                VectorComparisons.Find<T, GreaterOrEqualOperator<T>, TRight>(left, right, count, holds),
            _ => throw new ArgumentOutOfRangeException(nameof(how), how, "The comparison must be a value of Comparison."),
        };
    }

    private static nuint CountMatches<T, TRight>(T* left, Comparison how, T* right, nuint count)
        where T : unmanaged, INumber<T>
        where TRight : struct, IRight<T>
    {
        CheckType<T>();
        return how switch
        {
            Comparison.Equal => VectorComparisons.Count<T, EqualOperator<T>, TRight>(left, right, count),
            Comparison.NotEqual => count - VectorComparisons.Count<T, EqualOperator<T>, TRight>(left, right, count),
            Comparison.Less => VectorComparisons.Count<T, LessOperator<T>, TRight>(left, right, count),
            Comparison.LessOrEqual => VectorComparisons.Count<T, LessOrEqualOperator<T>, TRight>(left, right, count),
            Comparison.Greater => VectorComparisons.Count<T, GreaterOperator<T>, TRight>(left, right, count),
            Comparison.GreaterOrEqual =>
                VectorComparisons.Count<T, GreaterOrEqualOperator<T>, TRight>(left, right, count),
            _ => throw new ArgumentOutOfRangeException(nameof(how), how, "The comparison must be a value of Comparison."),
        };
    }

    internal static void Convert<TFrom, TTo>(TFrom* from, TTo* to, nuint count)
        where TFrom : unmanaged, INumber<TFrom>
        where TTo : unmanaged, INumber<TTo>
    {
        CheckType<TFrom>();
        CheckType<TTo>();
        VectorConversions.Convert(from, to, count);
    }

    private static bool IsFloatingPoint<T>() => typeof(T) == typeof(float) || typeof(T) == typeof(double);

    /// <summary>Computes the integer square root, rounded down.</summary>
    private static ulong Root(ulong value)
    {
        // Exact below 2^52. Above, the double may have been rounded up to a square or truncated below one.
        ulong root = (ulong)Math.Sqrt((double)value);
        if (value < 1UL << 52)
        {
            return root;
        }
        root = Math.Min(root, uint.MaxValue);
        root -= root * root > value ? 1u : 0;
        return root < uint.MaxValue && (root + 1) * (root + 1) <= value ? root + 1 : root;
    }

    /// <summary>Compiles to nothing for a supported type, because the type is known at compile time.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void CheckType<T>()
    {
        if (typeof(T) != typeof(sbyte) && typeof(T) != typeof(byte) && typeof(T) != typeof(short)
            && typeof(T) != typeof(ushort) && typeof(T) != typeof(int) && typeof(T) != typeof(uint)
            && typeof(T) != typeof(long) && typeof(T) != typeof(ulong)
            && typeof(T) != typeof(float) && typeof(T) != typeof(double))
        {
            ThrowType(typeof(T));
        }
    }

    private static void ThrowType(Type type) => throw new NotSupportedException(
        $"Vector maths supports sbyte, byte, short, ushort, int, uint, long, ulong, float and double, but not {type}. "
        + "Convert the elements to one of these types, or process them in a loop.");
}
