// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System.Numerics;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>An operation on two values, defined for a single element and for a vector of any width.</summary>
internal interface IBinaryOperator<T>
    where T : unmanaged
{
    static abstract T Apply(T left, T right);

    static abstract TLanes Apply<TLanes>(TLanes left, TLanes right)
        where TLanes : struct, ILanes<TLanes, T>;
}

internal readonly struct AddOperator<T> : IBinaryOperator<T>
    where T : unmanaged, INumber<T>
{
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static T Apply(T left, T right) => unchecked(left + right);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static TLanes Apply<TLanes>(TLanes left, TLanes right)
        where TLanes : struct, ILanes<TLanes, T> => left + right;
}

internal readonly struct SubtractOperator<T> : IBinaryOperator<T>
    where T : unmanaged, INumber<T>
{
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static T Apply(T left, T right) => unchecked(left - right);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static TLanes Apply<TLanes>(TLanes left, TLanes right)
        where TLanes : struct, ILanes<TLanes, T> => left - right;
}

internal readonly struct MultiplyOperator<T> : IBinaryOperator<T>
    where T : unmanaged, INumber<T>
{
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static T Apply(T left, T right) => unchecked(left * right);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static TLanes Apply<TLanes>(TLanes left, TLanes right)
        where TLanes : struct, ILanes<TLanes, T> => left * right;
}

/// <summary>Divides float and double; VectorDivision.cs divides integers.</summary>
internal readonly struct DivideOperator<T> : IBinaryOperator<T>
    where T : unmanaged, INumber<T>
{
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static T Apply(T left, T right) => left / right;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static TLanes Apply<TLanes>(TLanes left, TLanes right)
        where TLanes : struct, ILanes<TLanes, T> => left / right;
}

/// <summary>IEEE 754-2019 minimum: NaN if either operand is NaN, and -0 is less than +0.</summary>
internal readonly struct MinOperator<T> : IBinaryOperator<T>
    where T : unmanaged, INumber<T>
{
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static T Apply(T left, T right) => T.Min(left, right);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static TLanes Apply<TLanes>(TLanes left, TLanes right)
        where TLanes : struct, ILanes<TLanes, T> => TLanes.Min(left, right);
}

/// <summary>IEEE 754-2019 maximum: NaN if either operand is NaN, and +0 is greater than -0.</summary>
internal readonly struct MaxOperator<T> : IBinaryOperator<T>
    where T : unmanaged, INumber<T>
{
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static T Apply(T left, T right) => T.Max(left, right);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static TLanes Apply<TLanes>(TLanes left, TLanes right)
        where TLanes : struct, ILanes<TLanes, T> => TLanes.Max(left, right);
}

/// <summary>Uses only the left value and ignores the right one.</summary>
internal readonly struct SqrtOperator<T> : IBinaryOperator<T>
    where T : unmanaged, IRootFunctions<T>
{
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static T Apply(T left, T right) => T.Sqrt(left);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static TLanes Apply<TLanes>(TLanes left, TLanes right)
        where TLanes : struct, ILanes<TLanes, T> => TLanes.Sqrt(left);
}
