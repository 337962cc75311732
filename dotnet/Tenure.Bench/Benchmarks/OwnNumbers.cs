// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System.Numerics;

namespace Tenure.Bench;

/// <summary>How each of our arrays multiplies.</summary>
/// <typeparam name="TArray">The array.</typeparam>
/// <typeparam name="T">The element.</typeparam>
public interface IMultiply<TArray, T>
    where T : unmanaged, INumber<T>
{
    /// <summary>Every element, in place.</summary>
    static abstract void Multiply(TArray array, T by);
}

/// <summary>FixedBuffer's.</summary>
/// <typeparam name="T">The element.</typeparam>
public readonly struct FixedBufferMultiply<T> : IMultiply<OwnFixedBuffer<T>, T>
    where T : unmanaged, INumber<T>
{
    /// <inheritdoc/>
    public static void Multiply(OwnFixedBuffer<T> array, T by) => array.Buffer.VectorMultiply(by);
}

/// <summary>SafeArray's.</summary>
/// <typeparam name="T">The element.</typeparam>
public readonly struct SafeArrayMultiply<T> : IMultiply<OwnSafeArray<T>, T>
    where T : unmanaged, INumber<T>
{
    /// <inheritdoc/>
    public static void Multiply(OwnSafeArray<T> array, T by) => array.Array.VectorMultiply(by);
}

/// <summary>HugeArray's.</summary>
/// <typeparam name="T">The element.</typeparam>
public readonly struct HugeArrayMultiply<T> : IMultiply<OwnHugeArray<T>, T>
    where T : unmanaged, INumber<T>
{
    /// <inheritdoc/>
    public static void Multiply(OwnHugeArray<T> array, T by) => array.Array.VectorMultiply(by);
}
