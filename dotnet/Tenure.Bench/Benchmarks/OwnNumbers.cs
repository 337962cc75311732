// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System.Numerics;

namespace Tenure.Bench;

/// <summary>The multiplication of one of our arrays.</summary>
/// <typeparam name="TArray">The array type.</typeparam>
/// <typeparam name="T">The element type.</typeparam>
public interface IMultiply<TArray, T>
    where T : unmanaged, INumber<T>
{
    /// <summary>Multiplies every element, in place.</summary>
    static abstract void Multiply(TArray array, T by);
}

/// <summary>FixedBuffer's multiplication.</summary>
/// <typeparam name="T">The element type.</typeparam>
public readonly struct FixedBufferMultiply<T> : IMultiply<OwnFixedBuffer<T>, T>
    where T : unmanaged, INumber<T>
{
    /// <inheritdoc/>
    public static void Multiply(OwnFixedBuffer<T> array, T by) => array.Buffer.VectorMultiply(by);
}

/// <summary>SafeArray's multiplication.</summary>
/// <typeparam name="T">The element type.</typeparam>
public readonly struct SafeArrayMultiply<T> : IMultiply<OwnSafeArray<T>, T>
    where T : unmanaged, INumber<T>
{
    /// <inheritdoc/>
    public static void Multiply(OwnSafeArray<T> array, T by) => array.Array.VectorMultiply(by);
}

/// <summary>HugeArray's multiplication.</summary>
/// <typeparam name="T">The element type.</typeparam>
public readonly struct HugeArrayMultiply<T> : IMultiply<OwnHugeArray<T>, T>
    where T : unmanaged, INumber<T>
{
    /// <inheritdoc/>
    public static void Multiply(OwnHugeArray<T> array, T by) => array.Array.VectorMultiply(by);
}
