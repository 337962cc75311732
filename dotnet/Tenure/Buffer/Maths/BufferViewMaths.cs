// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Numerics;

namespace Tenure;

/// <summary>Specifies the right operand of an operation.</summary>
internal enum RightSide
{
    /// <summary>One value for every element.</summary>
    Value,

    /// <summary>As many elements as the left operand.</summary>
    Elements,
}

/// <summary>An operation of <see cref="VectorMaths"/> over elements of any type.</summary>
internal unsafe interface IBufferOperation
{
    static abstract nuint Run<T>(T* left, T* right, nuint count, RightSide side)
        where T : unmanaged, INumber<T>;
}

/// <summary>Applies <see cref="VectorMaths"/> to the elements of buffers and holds the buffers meanwhile. Results
/// replace the left operands.</summary>
/// <remarks>The element type of a buffer is any unmanaged type. The JIT compiler selects the code for one of the ten
/// supported types; any other type throws.</remarks>
internal static unsafe class BufferViewMaths
{
    internal static void Run<TOperation, T>(BufferView<T> left, T right)
        where TOperation : struct, IBufferOperation
        where T : unmanaged
    {
        using Hold hold = left.Held();
        Run<TOperation, T>(left.Pointer, &right, (nuint)left.Length, RightSide.Value);
    }

    internal static void Run<TOperation, T>(BufferView<T> left, BufferView<T> right)
        where TOperation : struct, IBufferOperation
        where T : unmanaged
    {
        using Hold hold = left.Held(), other = right.Held();
        Check(left, right);
        Run<TOperation, T>(left.Pointer, right.Pointer, (nuint)left.Length, RightSide.Elements);
    }

    internal static T Best<TOperation, T>(BufferView<T> view)
        where TOperation : struct, IBufferOperation
        where T : unmanaged
    {
        using Hold hold = view.Held();
        if (view.Length == 0)
        {
            throw new InvalidOperationException("The buffer has no elements, so it has no minimum or maximum. Check its length first.");
        }
        T best = default;
        Run<TOperation, T>(view.Pointer, &best, (nuint)view.Length, RightSide.Value);
        return best;
    }

    internal static bool LessThanAll<T>(BufferView<T> view, T bound, out long index)
        where T : unmanaged
    {
        using Hold hold = view.Held();
        nuint at = Run<NotLessOperation, T>(view.Pointer, &bound, (nuint)view.Length, RightSide.Value);
        bool all = at == (nuint)view.Length;
        index = all ? -1 : (long)at;
        return all;
    }

    internal static TSum Sum<T, TSum>(BufferView<T> view)
        where T : unmanaged, INumber<T>
        where TSum : unmanaged, INumber<TSum>
    {
        using Hold hold = view.Held();
        return VectorMaths.Sum<T, TSum>(view.Pointer, (nuint)view.Length);
    }

    internal static TSum Dot<T, TSum>(BufferView<T> left, BufferView<T> right)
        where T : unmanaged, INumber<T>
        where TSum : unmanaged, INumber<TSum>
    {
        using Hold hold = left.Held(), other = right.Held();
        if (left.Length != right.Length)
        {
            BufferErrors.ThrowUnlikeLengths(left.Length, right.Length, nameof(right));
        }
        return VectorMaths.Dot<T, TSum>(left.Pointer, right.Pointer, (nuint)left.Length);
    }

    private static nuint Run<TOperation, T>(T* left, T* right, nuint count, RightSide side)
        where TOperation : struct, IBufferOperation
        where T : unmanaged
    {
        if (typeof(T) == typeof(sbyte))
        {
            return TOperation.Run((sbyte*)left, (sbyte*)right, count, side);
        }
        if (typeof(T) == typeof(byte))
        {
            return TOperation.Run((byte*)left, (byte*)right, count, side);
        }
        if (typeof(T) == typeof(short))
        {
            return TOperation.Run((short*)left, (short*)right, count, side);
        }
        if (typeof(T) == typeof(ushort))
        {
            return TOperation.Run((ushort*)left, (ushort*)right, count, side);
        }
        if (typeof(T) == typeof(int))
        {
            return TOperation.Run((int*)left, (int*)right, count, side);
        }
        if (typeof(T) == typeof(uint))
        {
            return TOperation.Run((uint*)left, (uint*)right, count, side);
        }
        if (typeof(T) == typeof(long))
        {
            return TOperation.Run((long*)left, (long*)right, count, side);
        }
        if (typeof(T) == typeof(ulong))
        {
            return TOperation.Run((ulong*)left, (ulong*)right, count, side);
        }
        if (typeof(T) == typeof(float))
        {
            return TOperation.Run((float*)left, (float*)right, count, side);
        }
        if (typeof(T) == typeof(double))
        {
            return TOperation.Run((double*)left, (double*)right, count, side);
        }
        throw new NotSupportedException(
            $"Vector maths supports sbyte, byte, short, ushort, int, uint, long, ulong, float and double, but not {typeof(T)}. "
            + "Copy the elements into a buffer of one of these types, or process them in a loop.");
    }

    /// <summary>Checks that the lengths are equal, and that both sides have the same elements or none in common, so
    /// that no written element is read again.</summary>
    private static void Check<T>(BufferView<T> left, BufferView<T> right)
        where T : unmanaged
    {
        if (left.Length != right.Length)
        {
            BufferErrors.ThrowUnlikeLengths(left.Length, right.Length, nameof(right));
        }
        if (left.Pointer != right.Pointer && left.Pointer < right.Pointer + right.Length && right.Pointer < left.Pointer + left.Length)
        {
            throw new ArgumentException("The operands overlap. Pass separate memory, or let both start at the same element.", nameof(right));
        }
    }
}
