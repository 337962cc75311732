// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics;

namespace Tenure;

/// <summary>A vector of 256 bits of <typeparamref name="T"/>.</summary>
internal readonly struct Lanes256<T>(Vector256<T> value) : ILanes<Lanes256<T>, T>
    where T : unmanaged
{
    private readonly Vector256<T> _value = value;

    public static int Count => Vector256<T>.Count;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes256<T> All(T value) => new(Vector256.Create(value));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static unsafe Lanes256<T> Load(T* source) => new(Vector256.Load(source));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static unsafe void Store(Lanes256<T> value, T* destination) => value._value.Store(destination);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static unsafe void Stream(Lanes256<T> value, T* destination) => value._value.StoreAlignedNonTemporal(destination);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes256<T> operator +(Lanes256<T> left, Lanes256<T> right) => new(left._value + right._value);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes256<T> operator -(Lanes256<T> left, Lanes256<T> right) => new(left._value - right._value);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes256<T> operator *(Lanes256<T> left, Lanes256<T> right) => new(left._value * right._value);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes256<T> operator /(Lanes256<T> left, Lanes256<T> right) => new(left._value / right._value);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes256<T> Min(Lanes256<T> left, Lanes256<T> right)
    {
#if NET9_0_OR_GREATER
        return new(Vector256.Min(left._value, right._value));
#else
        // For two zeros, and when either operand is NaN, the instruction returns the right operand. So compute both
        // orders and OR the results: -0 | +0 is -0, and a NaN stays a NaN with any bits added.
        Vector256<T> first = Vector256.Min(left._value, right._value);
        return typeof(T) == typeof(float) || typeof(T) == typeof(double)
            ? new(first | Vector256.Min(right._value, left._value))
            : new(first);
#endif
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes256<T> Max(Lanes256<T> left, Lanes256<T> right)
    {
#if NET9_0_OR_GREATER
        return new(Vector256.Max(left._value, right._value));
#else
        // As above, but for zeros AND the bits, and set all bits where either operand is NaN.
        Vector256<T> first = Vector256.Max(left._value, right._value);
        return typeof(T) == typeof(float) || typeof(T) == typeof(double)
            ? new((first & Vector256.Max(right._value, left._value))
                | ~(Vector256.Equals(left._value, left._value) & Vector256.Equals(right._value, right._value)))
            : new(first);
#endif
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes256<T> Sqrt(Lanes256<T> value) => new(Vector256.Sqrt(value._value));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes256<T> Equal(Lanes256<T> left, Lanes256<T> right) =>
        new(Vector256.Equals(left._value, right._value));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes256<T> Less(Lanes256<T> left, Lanes256<T> right) =>
        new(Vector256.LessThan(left._value, right._value));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes256<T> LessOrEqual(Lanes256<T> left, Lanes256<T> right) =>
        new(Vector256.LessThanOrEqual(left._value, right._value));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes256<T> operator &(Lanes256<T> left, Lanes256<T> right) => new(left._value & right._value);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes256<T> operator |(Lanes256<T> left, Lanes256<T> right) => new(left._value | right._value);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong Bits(Lanes256<T> mask) => mask._value.AsByte().ExtractMostSignificantBits();

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static unsafe Lanes256<T> CountUp(Lanes256<T> counts, Lanes256<T> mask) => new(sizeof(T) == 8
        ? (counts._value.AsUInt64() - mask._value.AsUInt64()).As<ulong, T>()
        : (counts._value.AsUInt32() - mask._value.AsUInt32()).As<uint, T>());

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static unsafe ulong Total(Lanes256<T> counts)
    {
        if (sizeof(T) == 8)
        {
            return Vector256.Sum(counts._value.AsUInt64());
        }
        (Vector256<ulong> low, Vector256<ulong> high) = Vector256.Widen(counts._value.AsUInt32());
        return Vector256.Sum(low + high);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static T Tree(Lanes256<T> value) =>
        Lanes128<T>.Tree(new Lanes128<T>(value._value.GetLower() + value._value.GetUpper()));
}
