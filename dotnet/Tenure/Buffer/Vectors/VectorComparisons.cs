// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics;

namespace Tenure;

/// <summary>A comparison, defined for a single element and for a vector of any width.</summary>
internal interface IComparisonOperator<T>
    where T : unmanaged
{
    static abstract bool Apply(T left, T right);

    static abstract TLanes Apply<TLanes>(TLanes left, TLanes right)
        where TLanes : struct, ILanes<TLanes, T>;
}

internal readonly struct EqualOperator<T> : IComparisonOperator<T>
    where T : unmanaged, INumber<T>
{
    public static bool Apply(T left, T right) => left == right;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static TLanes Apply<TLanes>(TLanes left, TLanes right)
        where TLanes : struct, ILanes<TLanes, T> => TLanes.Equal(left, right);
}

internal readonly struct LessOperator<T> : IComparisonOperator<T>
    where T : unmanaged, INumber<T>
{
    public static bool Apply(T left, T right) => left < right;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static TLanes Apply<TLanes>(TLanes left, TLanes right)
        where TLanes : struct, ILanes<TLanes, T> => TLanes.Less(left, right);
}

internal readonly struct LessOrEqualOperator<T> : IComparisonOperator<T>
    where T : unmanaged, INumber<T>
{
    public static bool Apply(T left, T right) => left <= right;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static TLanes Apply<TLanes>(TLanes left, TLanes right)
        where TLanes : struct, ILanes<TLanes, T> => TLanes.LessOrEqual(left, right);
}

internal readonly struct GreaterOperator<T> : IComparisonOperator<T>
    where T : unmanaged, INumber<T>
{
    public static bool Apply(T left, T right) => left > right;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static TLanes Apply<TLanes>(TLanes left, TLanes right)
        where TLanes : struct, ILanes<TLanes, T> => TLanes.Less(right, left);
}

internal readonly struct GreaterOrEqualOperator<T> : IComparisonOperator<T>
    where T : unmanaged, INumber<T>
{
    public static bool Apply(T left, T right) => left >= right;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static TLanes Apply<TLanes>(TLanes left, TLanes right)
        where TLanes : struct, ILanes<TLanes, T> => TLanes.LessOrEqual(right, left);
}

/// <summary>The loops of <see cref="VectorMaths"/> that read and do not write.</summary>
internal static unsafe class VectorComparisons
{
    /// <summary>Finds the first index for which the comparison is true or, with <paramref name="holds"/> false, is
    /// false; the count when there is none.</summary>
    internal static nuint Find<T, TOperator, TRight>(T* left, T* right, nuint count, bool holds)
        where T : unmanaged, INumber<T>
        where TOperator : struct, IComparisonOperator<T>
        where TRight : struct, IRight<T>
    {
        if (Vector512.IsHardwareAccelerated && Vector512<T>.IsSupported && count >= (nuint)Vector512<T>.Count)
        {
            return Find<T, TOperator, TRight, Lanes512<T>>(left, right, count, holds);
        }
        if (Vector256.IsHardwareAccelerated && Vector256<T>.IsSupported && count >= (nuint)Vector256<T>.Count)
        {
            return Find<T, TOperator, TRight, Lanes256<T>>(left, right, count, holds);
        }
        if (Vector128<T>.IsSupported && count >= (nuint)Vector128<T>.Count)
        {
            return Find<T, TOperator, TRight, Lanes128<T>>(left, right, count, holds);
        }
        for (nuint i = 0; i < count; i++)
        {
            if (TOperator.Apply(left[i], TRight.At(right, i)) == holds)
            {
                return i;
            }
        }
        return count;
    }

    private static nuint Find<T, TOperator, TRight, TLanes>(T* left, T* right, nuint count, bool holds)
        where T : unmanaged, INumber<T>
        where TOperator : struct, IComparisonOperator<T>
        where TRight : struct, IRight<T>
        where TLanes : struct, ILanes<TLanes, T>
    {
        nuint lanes = (nuint)TLanes.Count, last = count - lanes, i = 0;
        ulong whole = ulong.MaxValue >> (64 - TLanes.Count * sizeof(T)), uninteresting = holds ? 0 : whole;
        TLanes all = TLanes.All(*right);
        T* x = left, y = right;
        for (nuint fours = count / (4 * lanes); fours != 0; fours--, i += 4 * lanes, x += 4 * lanes, y += 4 * lanes)
        {
            TLanes a = TOperator.Apply(TLanes.Load(x), TRight.Load(y, all));
            TLanes b = TOperator.Apply(TLanes.Load(x + lanes), TRight.Load(y + lanes, all));
            TLanes c = TOperator.Apply(TLanes.Load(x + 2 * lanes), TRight.Load(y + 2 * lanes, all));
            TLanes d = TOperator.Apply(TLanes.Load(x + 3 * lanes), TRight.Load(y + 3 * lanes, all));
            if (TLanes.Bits(holds ? (a | b) | (c | d) : (a & b) & (c & d)) != uninteresting)
            {
                break;
            }
        }
        for (; i < last; i += lanes)
        {
            TLanes mask = TOperator.Apply(TLanes.Load(left + i), TRight.Load(right + i, all));
            ulong bits = TLanes.Bits(mask) ^ uninteresting;
            if (bits != 0)
            {
                return i + (nuint)BitOperations.TrailingZeroCount(bits) / (nuint)sizeof(T);
            }
        }
        // The last vector overlaps elements that were already checked without a match.
        TLanes lastMask = TOperator.Apply(TLanes.Load(left + last), TRight.Load(right + last, all));
        ulong ending = TLanes.Bits(lastMask) ^ uninteresting;
        return ending == 0 ? count : last + (nuint)BitOperations.TrailingZeroCount(ending) / (nuint)sizeof(T);
    }

    /// <summary>Counts the elements for which the comparison is true.</summary>
    internal static nuint Count<T, TOperator, TRight>(T* left, T* right, nuint count)
        where T : unmanaged, INumber<T>
        where TOperator : struct, IComparisonOperator<T>
        where TRight : struct, IRight<T>
    {
        nuint done = 0, found = 0;
        if (Vector512.IsHardwareAccelerated && Vector512<T>.IsSupported)
        {
            found = Count<T, TOperator, TRight, Lanes512<T>>(left, right, count, out done);
        }
        else if (Vector256.IsHardwareAccelerated && Vector256<T>.IsSupported)
        {
            found = Count<T, TOperator, TRight, Lanes256<T>>(left, right, count, out done);
        }
        else if (Vector128<T>.IsSupported)
        {
            found = Count<T, TOperator, TRight, Lanes128<T>>(left, right, count, out done);
        }
        for (; done < count; done++)
        {
            found += TOperator.Apply(left[done], TRight.At(right, done)) ? 1u : 0;
        }
        return found;
    }

    private static nuint Count<T, TOperator, TRight, TLanes>(T* left, T* right, nuint count, out nuint done)
        where T : unmanaged, INumber<T>
        where TOperator : struct, IComparisonOperator<T>
        where TRight : struct, IRight<T>
        where TLanes : struct, ILanes<TLanes, T>
    {
        nuint lanes = (nuint)TLanes.Count, a = 0, b = 0;
        done = 0;
        if (count == 0)
        {
            return 0;
        }
        TLanes all = TLanes.All(*right);
        T* x = left, y = right;
        nuint rest = count % (2 * lanes);
        if (sizeof(T) >= 4)
        {
            // Count in the lanes. 32-bit lanes are flushed before they can overflow.
            for (nuint twos = count / (2 * lanes); twos != 0;)
            {
                TLanes c = TLanes.All(default), d = c;
                nuint taken = nuint.Min(twos, uint.MaxValue);
                for (nuint i = taken; i != 0; i--, x += 2 * lanes, y += 2 * lanes)
                {
                    c = TLanes.CountUp(c, TOperator.Apply(TLanes.Load(x), TRight.Load(y, all)));
                    d = TLanes.CountUp(d, TOperator.Apply(TLanes.Load(x + lanes), TRight.Load(y + lanes, all)));
                }
                twos -= taken;
                a += (nuint)(TLanes.Total(c) + TLanes.Total(d)) * (nuint)sizeof(T);
            }
        }
        for (nuint twos = sizeof(T) >= 4 ? 0 : count / (2 * lanes); twos != 0; twos--, x += 2 * lanes, y += 2 * lanes)
        {
            a += (nuint)BitOperations.PopCount(TLanes.Bits(TOperator.Apply(TLanes.Load(x), TRight.Load(y, all))));
            TLanes second = TOperator.Apply(TLanes.Load(x + lanes), TRight.Load(y + lanes, all));
            b += (nuint)BitOperations.PopCount(TLanes.Bits(second));
        }
        if (rest >= lanes)
        {
            a += (nuint)BitOperations.PopCount(TLanes.Bits(TOperator.Apply(TLanes.Load(x), TRight.Load(y, all))));
            x += lanes;
            y += lanes;
            rest -= lanes;
        }
        if (rest != 0 && count >= lanes)
        {
            // The last vector: shift out the elements that were already counted.
            x -= lanes - rest;
            y -= lanes - rest;
            ulong bits = TLanes.Bits(TOperator.Apply(TLanes.Load(x), TRight.Load(y, all)));
            b += (nuint)BitOperations.PopCount(bits >> (int)((lanes - rest) * (nuint)sizeof(T)));
            x += lanes;
        }
        done = (nuint)(x - left);
        return (a + b) / (nuint)sizeof(T);
    }

    /// <summary>Finds the minimum or the maximum of at least one element; the operator is Min or Max.</summary>
    internal static T Best<T, TOperator>(T* from, nuint count)
        where T : unmanaged, INumber<T>
        where TOperator : struct, IBinaryOperator<T>
    {
        if (Vector512.IsHardwareAccelerated && Vector512<T>.IsSupported && count >= (nuint)Vector512<T>.Count)
        {
            return Best<T, TOperator, Lanes512<T>>(from, count);
        }
        if (Vector256.IsHardwareAccelerated && Vector256<T>.IsSupported && count >= (nuint)Vector256<T>.Count)
        {
            return Best<T, TOperator, Lanes256<T>>(from, count);
        }
        if (Vector128<T>.IsSupported && count >= (nuint)Vector128<T>.Count)
        {
            return Best<T, TOperator, Lanes128<T>>(from, count);
        }
        return BestOfFew<T, TOperator>(from, count);
    }

    private static T Best<T, TOperator, TLanes>(T* from, nuint count)
        where T : unmanaged, INumber<T>
        where TOperator : struct, IBinaryOperator<T>
        where TLanes : struct, ILanes<TLanes, T>
    {
        nuint lanes = (nuint)TLanes.Count;
        T* x = from, last = from + (count - lanes);
        // Reading an element twice does not change the result.
        TLanes a = TLanes.Load(last), b = a, c = a, d = a;
        for (nuint fours = count / (4 * lanes); fours != 0; fours--, x += 4 * lanes)
        {
            a = TOperator.Apply(a, TLanes.Load(x));
            b = TOperator.Apply(b, TLanes.Load(x + lanes));
            c = TOperator.Apply(c, TLanes.Load(x + 2 * lanes));
            d = TOperator.Apply(d, TLanes.Load(x + 3 * lanes));
        }
        for (; x < last; x += lanes)
        {
            a = TOperator.Apply(a, TLanes.Load(x));
        }
        T* found = stackalloc T[TLanes.Count];
        TLanes.Store(TOperator.Apply(TOperator.Apply(a, b), TOperator.Apply(c, d)), found);
        nuint few = (nuint)Vector128<T>.Count;
        Lanes128<T> best = Lanes128<T>.Load(found);
        for (nuint k = few; k < lanes; k += few)
        {
            best = TOperator.Apply(best, Lanes128<T>.Load(found + k));
        }
        return BestOfSixteenBytes<T, TOperator>(best);
    }

    /// <summary>Combines each lane with the one half the remaining lanes above it, until the first lane has combined
    /// all.</summary>
    private static T BestOfSixteenBytes<T, TOperator>(Lanes128<T> best)
        where T : unmanaged, INumber<T>
        where TOperator : struct, IBinaryOperator<T>
    {
        for (int bytes = 8; bytes >= sizeof(T); bytes /= 2)
        {
            best = TOperator.Apply(best, Lanes128<T>.ShiftedDown(best, bytes));
        }
        return best.First;
    }

    private static T BestOfFew<T, TOperator>(T* from, nuint count)
        where T : unmanaged, INumber<T>
        where TOperator : struct, IBinaryOperator<T>
    {
        T best = *from;
        for (nuint i = 1; i < count; i++)
        {
            best = TOperator.Apply(best, from[i]);
        }
        return best;
    }
}
