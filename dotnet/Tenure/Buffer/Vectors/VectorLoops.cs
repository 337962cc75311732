// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics;
using System.Threading;

namespace Tenure;

/// <summary>The right operand of an operation: a buffer, or one value for every element.</summary>
internal unsafe interface IRight<T>
    where T : unmanaged
{
    static abstract T At(T* right, nuint index);

    static abstract TLanes Load<TLanes>(T* right, TLanes all)
        where TLanes : struct, ILanes<TLanes, T>;
}

internal readonly unsafe struct BufferRight<T> : IRight<T>
    where T : unmanaged
{
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static T At(T* right, nuint index) => right[index];

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static TLanes Load<TLanes>(T* right, TLanes all)
        where TLanes : struct, ILanes<TLanes, T> => TLanes.Load(right);
}

internal readonly unsafe struct ScalarRight<T> : IRight<T>
    where T : unmanaged
{
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static T At(T* right, nuint index) => *right;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static TLanes Load<TLanes>(T* right, TLanes all)
        where TLanes : struct, ILanes<TLanes, T> => all;
}

/// <summary>The loops of <see cref="VectorMaths"/> that compute one element from each element.</summary>
/// <remarks>The destination is the left source or the right one, or overlaps neither. The first and the last vector are
/// computed before anything is written and are written last. So no element is read after it was written, and neither
/// end needs a loop over single elements. A buffer shorter than one vector uses a narrower vector. A large destination
/// is written past the caches, unless it is a source too: then its lines are in a cache already (decision
/// 0029).</remarks>
internal static unsafe class VectorLoops
{
    /// <summary>The size from which a destination that is not a source is written past the caches. Below it, the caller
    /// may find the result in a cache.</summary>
    internal const nuint StreamedBytes = 16 << 20;

    /// <summary>destination[i] = left[i] op right[i], or left[i] op *right for a single value.</summary>
    internal static void Run<T, TOperator, TRight>(T* left, T* right, T* destination, nuint count)
        where T : unmanaged
        where TOperator : struct, IBinaryOperator<T>
        where TRight : struct, IRight<T>
    {
        if (Vector512.IsHardwareAccelerated && Vector512<T>.IsSupported && count >= (nuint)Vector512<T>.Count)
        {
            Run<T, TOperator, TRight, Lanes512<T>>(left, right, destination, count);
        }
        else if (Vector256.IsHardwareAccelerated && Vector256<T>.IsSupported && count >= (nuint)Vector256<T>.Count)
        {
            Run<T, TOperator, TRight, Lanes256<T>>(left, right, destination, count);
        }
        else if (Vector128<T>.IsSupported && count >= (nuint)Vector128<T>.Count)
        {
            Run<T, TOperator, TRight, Lanes128<T>>(left, right, destination, count);
        }
        else
        {
            for (nuint i = 0; i < count; i++)
            {
                destination[i] = TOperator.Apply(left[i], TRight.At(right, i));
            }
        }
    }

    private static void Run<T, TOperator, TRight, TLanes>(T* left, T* right, T* destination, nuint count)
        where T : unmanaged
        where TOperator : struct, IBinaryOperator<T>
        where TRight : struct, IRight<T>
        where TLanes : struct, ILanes<TLanes, T>
    {
        nuint lanes = (nuint)TLanes.Count, last = count - lanes;
        TLanes all = TLanes.All(*right);
        TLanes atStart = TOperator.Apply(TLanes.Load(left), TRight.Load(right, all));
        TLanes atEnd = TOperator.Apply(TLanes.Load(left + last), TRight.Load(right + last, all));
        nuint i = UpToAlignment<T, TLanes>(destination);
        T* x = left + i, y = right + i, to = destination + i, end = destination + last;
        if (last >= StreamedBytes / (nuint)sizeof(T) && destination != left && destination != right && IsAligned<T, TLanes>(to))
        {
            for (nuint fours = (count - i) / (4 * lanes); fours != 0; fours--, to += 4 * lanes, x += 4 * lanes, y += 4 * lanes)
            {
                TLanes a = TOperator.Apply(TLanes.Load(x), TRight.Load(y, all));
                TLanes b = TOperator.Apply(TLanes.Load(x + lanes), TRight.Load(y + lanes, all));
                TLanes c = TOperator.Apply(TLanes.Load(x + 2 * lanes), TRight.Load(y + 2 * lanes, all));
                TLanes d = TOperator.Apply(TLanes.Load(x + 3 * lanes), TRight.Load(y + 3 * lanes, all));
                TLanes.Stream(a, to);
                TLanes.Stream(b, to + lanes);
                TLanes.Stream(c, to + 2 * lanes);
                TLanes.Stream(d, to + 3 * lanes);
            }
            Thread.MemoryBarrier(); // such stores are ordered by a barrier only, and the caller may hand the memory on
        }
        for (nuint eights = (count - (nuint)(to - destination)) / (8 * lanes); eights != 0; eights--, to += 8 * lanes, x += 8 * lanes, y += 8 * lanes)
        {
            TLanes a = TOperator.Apply(TLanes.Load(x), TRight.Load(y, all));
            TLanes b = TOperator.Apply(TLanes.Load(x + lanes), TRight.Load(y + lanes, all));
            TLanes c = TOperator.Apply(TLanes.Load(x + 2 * lanes), TRight.Load(y + 2 * lanes, all));
            TLanes d = TOperator.Apply(TLanes.Load(x + 3 * lanes), TRight.Load(y + 3 * lanes, all));
            TLanes.Store(a, to);
            TLanes.Store(b, to + lanes);
            TLanes.Store(c, to + 2 * lanes);
            TLanes.Store(d, to + 3 * lanes);
            a = TOperator.Apply(TLanes.Load(x + 4 * lanes), TRight.Load(y + 4 * lanes, all));
            b = TOperator.Apply(TLanes.Load(x + 5 * lanes), TRight.Load(y + 5 * lanes, all));
            c = TOperator.Apply(TLanes.Load(x + 6 * lanes), TRight.Load(y + 6 * lanes, all));
            d = TOperator.Apply(TLanes.Load(x + 7 * lanes), TRight.Load(y + 7 * lanes, all));
            TLanes.Store(a, to + 4 * lanes);
            TLanes.Store(b, to + 5 * lanes);
            TLanes.Store(c, to + 6 * lanes);
            TLanes.Store(d, to + 7 * lanes);
        }
        for (; to < end; to += lanes, x += lanes, y += lanes)
        {
            TLanes.Store(TOperator.Apply(TLanes.Load(x), TRight.Load(y, all)), to);
        }
        TLanes.Store(atStart, destination);
        TLanes.Store(atEnd, destination + last);
    }

    /// <summary>Returns the first index at which a vector is aligned. It is at most one vector from the start, and the
    /// first vector covers the elements before it.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static nuint UpToAlignment<T, TLanes>(T* destination)
        where T : unmanaged
        where TLanes : struct, ILanes<TLanes, T>
    {
        nuint bytes = (nuint)(TLanes.Count * sizeof(T));
        return (0 - (nuint)destination & (bytes - 1)) / (nuint)sizeof(T);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static bool IsAligned<T, TLanes>(T* place)
        where T : unmanaged
        where TLanes : struct, ILanes<TLanes, T> => ((nuint)place & (nuint)(TLanes.Count * sizeof(T) - 1)) == 0;
}
