// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics;

namespace Tenure;

/// <summary>A vector of 512 bits of <typeparamref name="T"/>.</summary>
internal readonly struct Lanes512<T>(Vector512<T> value) : ILanes<Lanes512<T>, T>
    where T : unmanaged
{
    private readonly Vector512<T> _value = value;

    public static int Count => Vector512<T>.Count;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes512<T> All(T value) => new(Vector512.Create(value));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static unsafe Lanes512<T> Load(T* source) => new(Vector512.Load(source));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static unsafe void Store(Lanes512<T> value, T* destination) => value._value.Store(destination);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static unsafe void Stream(Lanes512<T> value, T* destination) => value._value.StoreAlignedNonTemporal(destination);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes512<T> operator +(Lanes512<T> left, Lanes512<T> right) => new(left._value + right._value);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes512<T> operator -(Lanes512<T> left, Lanes512<T> right) => new(left._value - right._value);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes512<T> operator *(Lanes512<T> left, Lanes512<T> right) => new(left._value * right._value);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes512<T> operator /(Lanes512<T> left, Lanes512<T> right) => new(left._value / right._value);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes512<T> Min(Lanes512<T> left, Lanes512<T> right)
    {
#if NET9_0_OR_GREATER
        return new(Vector512.Min(left._value, right._value));
#else
        // For two zeros, and when either operand is NaN, the instruction returns the right operand. So compute both
        // orders and OR the results: -0 | +0 is -0, and a NaN stays a NaN with any bits added.
        Vector512<T> first = Vector512.Min(left._value, right._value);
        return typeof(T) == typeof(float) || typeof(T) == typeof(double)
            ? new(first | Vector512.Min(right._value, left._value))
            : new(first);
#endif
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes512<T> Max(Lanes512<T> left, Lanes512<T> right)
    {
#if NET9_0_OR_GREATER
        return new(Vector512.Max(left._value, right._value));
#else
        // As above, but for zeros AND the bits, and set all bits where either operand is NaN.
        Vector512<T> first = Vector512.Max(left._value, right._value);
        return typeof(T) == typeof(float) || typeof(T) == typeof(double)
            ? new((first & Vector512.Max(right._value, left._value))
                | ~(Vector512.Equals(left._value, left._value) & Vector512.Equals(right._value, right._value)))
            : new(first);
#endif
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes512<T> Sqrt(Lanes512<T> value) => new(Vector512.Sqrt(value._value));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes512<T> Equal(Lanes512<T> left, Lanes512<T> right) =>
        new(Vector512.Equals(left._value, right._value));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes512<T> Less(Lanes512<T> left, Lanes512<T> right) =>
        new(Vector512.LessThan(left._value, right._value));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes512<T> LessOrEqual(Lanes512<T> left, Lanes512<T> right) =>
        new(Vector512.LessThanOrEqual(left._value, right._value));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes512<T> operator &(Lanes512<T> left, Lanes512<T> right) => new(left._value & right._value);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes512<T> operator |(Lanes512<T> left, Lanes512<T> right) => new(left._value | right._value);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong Bits(Lanes512<T> mask) => mask._value.AsByte().ExtractMostSignificantBits();

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static unsafe Lanes512<T> CountUp(Lanes512<T> counts, Lanes512<T> mask) => new(sizeof(T) == 8
        ? (counts._value.AsUInt64() - mask._value.AsUInt64()).As<ulong, T>()
        : (counts._value.AsUInt32() - mask._value.AsUInt32()).As<uint, T>());

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static unsafe ulong Total(Lanes512<T> counts)
    {
        if (sizeof(T) == 8)
        {
            return Vector512.Sum(counts._value.AsUInt64());
        }
        (Vector512<ulong> low, Vector512<ulong> high) = Vector512.Widen(counts._value.AsUInt32());
        return Vector512.Sum(low + high);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static T Tree(Lanes512<T> value) =>
        Lanes256<T>.Tree(new Lanes256<T>(value._value.GetLower() + value._value.GetUpper()));
}
