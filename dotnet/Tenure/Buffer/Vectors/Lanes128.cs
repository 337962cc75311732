// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics;

namespace Tenure;

/// <summary>A vector of 128 bits of <typeparamref name="T"/>.</summary>
internal readonly struct Lanes128<T>(Vector128<T> value) : ILanes<Lanes128<T>, T>
    where T : unmanaged
{
    private readonly Vector128<T> _value = value;

    public static int Count => Vector128<T>.Count;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes128<T> All(T value) => new(Vector128.Create(value));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static unsafe Lanes128<T> Load(T* source) => new(Vector128.Load(source));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static unsafe void Store(Lanes128<T> value, T* destination) => value._value.Store(destination);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static unsafe void Stream(Lanes128<T> value, T* destination) => value._value.StoreAlignedNonTemporal(destination);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes128<T> operator +(Lanes128<T> left, Lanes128<T> right) => new(left._value + right._value);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes128<T> operator -(Lanes128<T> left, Lanes128<T> right) => new(left._value - right._value);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes128<T> operator *(Lanes128<T> left, Lanes128<T> right) => new(left._value * right._value);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes128<T> operator /(Lanes128<T> left, Lanes128<T> right) => new(left._value / right._value);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes128<T> Min(Lanes128<T> left, Lanes128<T> right)
    {
#if NET9_0_OR_GREATER
        return new(Vector128.Min(left._value, right._value));
#else
        // For two zeros, and when either operand is NaN, the instruction returns the right operand. So compute both
        // orders and OR the results: -0 | +0 is -0, and a NaN stays a NaN with any bits added.
        Vector128<T> first = Vector128.Min(left._value, right._value);
        return typeof(T) == typeof(float) || typeof(T) == typeof(double)
            ? new(first | Vector128.Min(right._value, left._value))
            : new(first);
#endif
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes128<T> Max(Lanes128<T> left, Lanes128<T> right)
    {
#if NET9_0_OR_GREATER
        return new(Vector128.Max(left._value, right._value));
#else
        // As above, but for zeros AND the bits, and set all bits where either operand is NaN.
        Vector128<T> first = Vector128.Max(left._value, right._value);
        return typeof(T) == typeof(float) || typeof(T) == typeof(double)
            ? new((first & Vector128.Max(right._value, left._value))
                | ~(Vector128.Equals(left._value, left._value) & Vector128.Equals(right._value, right._value)))
            : new(first);
#endif
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes128<T> Sqrt(Lanes128<T> value) => new(Vector128.Sqrt(value._value));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes128<T> Equal(Lanes128<T> left, Lanes128<T> right) =>
        new(Vector128.Equals(left._value, right._value));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes128<T> Less(Lanes128<T> left, Lanes128<T> right) =>
        new(Vector128.LessThan(left._value, right._value));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes128<T> LessOrEqual(Lanes128<T> left, Lanes128<T> right) =>
        new(Vector128.LessThanOrEqual(left._value, right._value));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes128<T> operator &(Lanes128<T> left, Lanes128<T> right) => new(left._value & right._value);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes128<T> operator |(Lanes128<T> left, Lanes128<T> right) => new(left._value | right._value);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong Bits(Lanes128<T> mask) => mask._value.AsByte().ExtractMostSignificantBits();

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static unsafe Lanes128<T> CountUp(Lanes128<T> counts, Lanes128<T> mask) => new(sizeof(T) == 8
        ? (counts._value.AsUInt64() - mask._value.AsUInt64()).As<ulong, T>()
        : (counts._value.AsUInt32() - mask._value.AsUInt32()).As<uint, T>());

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static unsafe ulong Total(Lanes128<T> counts)
    {
        if (sizeof(T) == 8)
        {
            return Vector128.Sum(counts._value.AsUInt64());
        }
        (Vector128<ulong> low, Vector128<ulong> high) = Vector128.Widen(counts._value.AsUInt32());
        return Vector128.Sum(low + high);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static T Tree(Lanes128<T> value)
    {
        // Shift down by half: the upper half is then in the lower lanes.
        Vector128<T> whole = value._value;
        if (typeof(T) == typeof(float))
        {
            Vector128<float> shifted = Vector128.Shuffle(whole.AsSingle(), Vector128.Create(2, 3, 0, 1));
            Vector128<float> pairs = whole.AsSingle() + shifted;
            return (T)(object)(pairs.GetElement(0) + pairs.GetElement(1));
        }
        return (T)(object)(whole.AsDouble().GetElement(0) + whole.AsDouble().GetElement(1));
    }

    /// <summary>Returns the lanes from byte offset <paramref name="bytes"/> on, at most half of the vector. The lanes
    /// after them are unspecified.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Lanes128<T> ShiftedDown(Lanes128<T> value, int bytes) => new((bytes switch
    {
        8 => Vector128.Shuffle(value._value.AsUInt64(), Vector128.Create(1UL, 1UL)).AsByte(),
        4 => (value._value.AsUInt64() >> 32).AsByte(),
        2 => (value._value.AsUInt32() >> 16).AsByte(),
        _ => (value._value.AsUInt16() >> 8).AsByte(),
    }).As<byte, T>());

    public T First => _value.ToScalar();
}
