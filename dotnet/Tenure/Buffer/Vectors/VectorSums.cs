// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics;

namespace Tenure;

/// <summary>The summands: element i of one buffer, or the product of elements i of two buffers.</summary>
internal unsafe interface ISummand<T>
    where T : unmanaged
{
    static abstract TLanes Load<TLanes>(T* left, T* right)
        where TLanes : struct, ILanes<TLanes, T>;
}

internal readonly unsafe struct ElementSummand<T> : ISummand<T>
    where T : unmanaged
{
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static TLanes Load<TLanes>(T* left, T* right)
        where TLanes : struct, ILanes<TLanes, T> => TLanes.Load(left);
}

/// <summary>The product is rounded before it is added: a fused multiply-add would give other sums on other
/// machines.</summary>
internal readonly unsafe struct ProductSummand<T> : ISummand<T>
    where T : unmanaged
{
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static TLanes Load<TLanes>(T* left, T* right)
        where TLanes : struct, ILanes<TLanes, T> => TLanes.Load(left) * TLanes.Load(right);
}

/// <summary>Sums of float and double in one order on every machine, the same as on the C++ side.</summary>
/// <remarks>A block of at most <see cref="BlockCount"/> elements is summed in 256 bytes of lanes that start at +0.
/// Element i is added to lane i modulo the number of lanes. Then lane j + half is added to lane j, halving until one
/// lane is left.</remarks>
internal static unsafe class VectorSums
{
    internal const int BlockCount = 4096;
    private const int LaneBytes = 256;

    /// <summary>The sum of n blocks is the sum of the first p blocks plus the sum of the others, where p is the
    /// greatest power of two that is less than n. Sums of 1, 2, 4… blocks wait until a second sum of the same size
    /// exists; the bits of the number of blocks summed so far tell which ones wait.</summary>
    internal static T Sum<T, TSummand>(T* left, T* right, nuint count)
        where T : unmanaged, INumber<T>
        where TSummand : struct, ISummand<T>
    {
        if (count <= BlockCount)
        {
            return Block<T, TSummand>(left, right, count);
        }
        T* waiting = stackalloc T[64];
        int depth = 0;
        for (nuint blocks = 1; count != 0; blocks++)
        {
            nuint taken = nuint.Min(count, BlockCount);
            T sum = Block<T, TSummand>(left, right, taken);
            for (nuint bit = blocks; (bit & 1) == 0; bit >>= 1)
            {
                sum = waiting[--depth] + sum;
            }
            waiting[depth++] = sum;
            left += taken;
            right += taken;
            count -= taken;
        }
        T whole = waiting[--depth];
        while (depth != 0)
        {
            whole = waiting[--depth] + whole;
        }
        return whole;
    }

    private static T Block<T, TSummand>(T* left, T* right, nuint count)
        where T : unmanaged
        where TSummand : struct, ISummand<T>
    {
        return Vector512.IsHardwareAccelerated ? Block<T, TSummand, Lanes512<T>>(left, right, count)
            : Vector256.IsHardwareAccelerated ? Block<T, TSummand, Lanes256<T>>(left, right, count)
            : Block<T, TSummand, Lanes128<T>>(left, right, count);
    }

    private static T Block<T, TSummand, TLanes>(T* left, T* right, nuint count)
        where T : unmanaged
        where TSummand : struct, ISummand<T>
        where TLanes : struct, ILanes<TLanes, T>
    {
        Part<T, TSummand, TLanes>(left, right, count, 0, out TLanes a, out TLanes b, out TLanes c, out TLanes d);
        if (TLanes.Count * sizeof(T) == 16)
        {
            // With 16-byte vectors there are sixteen of them: this is the other half.
            nuint four = 4 * (nuint)TLanes.Count;
            Part<T, TSummand, TLanes>(left, right, count, four, out TLanes e, out TLanes f, out TLanes g, out TLanes h);
            a += e;
            b += f;
            c += g;
            d += h;
        }
        return TLanes.Count * sizeof(T) == 64 ? TLanes.Tree(a + b) : TLanes.Tree((a + c) + (b + d));
    }

    /// <summary>Adds the vectors from lane <paramref name="first"/> on, in pairs with those half the lanes further on:
    /// all eight vectors of 32 bytes, all four of 64 bytes (then only a and b), or eight of the sixteen of 16
    /// bytes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void Part<T, TSummand, TLanes>(
        T* left, T* right, nuint count, nuint first, out TLanes a, out TLanes b, out TLanes c, out TLanes d)
        where T : unmanaged
        where TSummand : struct, ISummand<T>
        where TLanes : struct, ILanes<TLanes, T>
    {
        nuint n = (nuint)TLanes.Count, lanes = (nuint)(LaneBytes / sizeof(T)), half = lanes / 2;
        TLanes e, f, g, h;
        a = b = c = d = e = f = g = h = TLanes.All(default);
        T* x = left + first, y = right + first;
        nuint rest = count % lanes;
        for (nuint chunks = count / lanes; chunks != 0; chunks--, x += lanes, y += lanes)
        {
            a += TSummand.Load<TLanes>(x, y);
            b += TSummand.Load<TLanes>(x + n, y + n);
            e += TSummand.Load<TLanes>(x + half, y + half);
            f += TSummand.Load<TLanes>(x + half + n, y + half + n);
            if (TLanes.Count * sizeof(T) != 64)
            {
                c += TSummand.Load<TLanes>(x + 2 * n, y + 2 * n);
                d += TSummand.Load<TLanes>(x + 3 * n, y + 3 * n);
                g += TSummand.Load<TLanes>(x + half + 2 * n, y + half + 2 * n);
                h += TSummand.Load<TLanes>(x + half + 3 * n, y + half + 3 * n);
            }
        }
        if (rest > first)
        {
            rest -= first;
            a += AtEnd<T, TSummand, TLanes>(x, y, rest, 0);
            b += AtEnd<T, TSummand, TLanes>(x, y, rest, n);
            if (TLanes.Count * sizeof(T) != 64)
            {
                c += AtEnd<T, TSummand, TLanes>(x, y, rest, 2 * n);
                d += AtEnd<T, TSummand, TLanes>(x, y, rest, 3 * n);
            }
            if (rest > half)
            {
                e += AtEnd<T, TSummand, TLanes>(x, y, rest, half);
                f += AtEnd<T, TSummand, TLanes>(x, y, rest, half + n);
                if (TLanes.Count * sizeof(T) != 64)
                {
                    g += AtEnd<T, TSummand, TLanes>(x, y, rest, half + 2 * n);
                    h += AtEnd<T, TSummand, TLanes>(x, y, rest, half + 3 * n);
                }
            }
        }
        a += e;
        b += f;
        c += g;
        d += h;
    }

    /// <summary>Loads the vector at <paramref name="index"/> of the <paramref name="rest"/>, padded with +0 past its
    /// end. Adding +0 changes nothing: no lane is -0, because all start at +0.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static TLanes AtEnd<T, TSummand, TLanes>(T* left, T* right, nuint rest, nuint index)
        where T : unmanaged
        where TSummand : struct, ISummand<T>
        where TLanes : struct, ILanes<TLanes, T> =>
        rest >= index + (nuint)TLanes.Count ? TSummand.Load<TLanes>(left + index, right + index)
        : rest > index ? OfFew<T, TSummand, TLanes>(left + index, right + index, rest - index)
        : TLanes.All(default);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static TLanes OfFew<T, TSummand, TLanes>(T* left, T* right, nuint count)
        where T : unmanaged
        where TSummand : struct, ISummand<T>
        where TLanes : struct, ILanes<TLanes, T>
    {
        T* x = stackalloc T[TLanes.Count], y = stackalloc T[TLanes.Count];
        TLanes.Store(TLanes.All(default), x);
        TLanes.Store(TLanes.All(default), y);
        for (nuint i = 0; i < count; i++)
        {
            (x[i], y[i]) = (left[i], right[i]);
        }
        return TSummand.Load<TLanes>(x, y);
    }
}
