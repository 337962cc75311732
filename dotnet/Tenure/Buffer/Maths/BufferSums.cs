// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

/// <summary>Sums and dot products of buffers, by <see cref="VectorMaths"/>.</summary>
/// <remarks>
/// One for each of the ten types, because a sum has another type than its elements: integers are added in 64 bits. The
/// memory is held meanwhile. Threads: the caller's alone. Allocates nothing.
/// </remarks>
public static partial class BufferSums
{
    /// <summary>The sum, in 64 bits, modulo 2^64; 0 of nothing.</summary>
    /// <param name="buffer">What is added.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public static long VectorSum(this FixedBuffer<sbyte> buffer) =>
        BufferViewMaths.Sum<sbyte, long>(buffer.View);

    /// <summary>The sum, in 64 bits, modulo 2^64; 0 of nothing.</summary>
    /// <param name="buffer">What is added.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public static ulong VectorSum(this FixedBuffer<byte> buffer) =>
        BufferViewMaths.Sum<byte, ulong>(buffer.View);

    /// <summary>The sum, in 64 bits, modulo 2^64; 0 of nothing.</summary>
    /// <param name="buffer">What is added.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public static long VectorSum(this FixedBuffer<short> buffer) =>
        BufferViewMaths.Sum<short, long>(buffer.View);

    /// <summary>The sum, in 64 bits, modulo 2^64; 0 of nothing.</summary>
    /// <param name="buffer">What is added.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public static ulong VectorSum(this FixedBuffer<ushort> buffer) =>
        BufferViewMaths.Sum<ushort, ulong>(buffer.View);

    /// <summary>The sum, in 64 bits, modulo 2^64; 0 of nothing.</summary>
    /// <param name="buffer">What is added.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public static long VectorSum(this FixedBuffer<int> buffer) =>
        BufferViewMaths.Sum<int, long>(buffer.View);

    /// <summary>The sum, in 64 bits, modulo 2^64; 0 of nothing.</summary>
    /// <param name="buffer">What is added.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public static ulong VectorSum(this FixedBuffer<uint> buffer) =>
        BufferViewMaths.Sum<uint, ulong>(buffer.View);

    /// <summary>The sum, in 64 bits, modulo 2^64; 0 of nothing.</summary>
    /// <param name="buffer">What is added.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public static long VectorSum(this FixedBuffer<long> buffer) =>
        BufferViewMaths.Sum<long, long>(buffer.View);

    /// <summary>The sum, in 64 bits, modulo 2^64; 0 of nothing.</summary>
    /// <param name="buffer">What is added.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public static ulong VectorSum(this FixedBuffer<ulong> buffer) =>
        BufferViewMaths.Sum<ulong, ulong>(buffer.View);

    /// <summary>The sum, in the order that <see cref="VectorMaths"/> tells; 0 of nothing.</summary>
    /// <param name="buffer">What is added.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public static float VectorSum(this FixedBuffer<float> buffer) =>
        BufferViewMaths.Sum<float, float>(buffer.View);

    /// <summary>The sum, in the order that <see cref="VectorMaths"/> tells; 0 of nothing.</summary>
    /// <param name="buffer">What is added.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public static double VectorSum(this FixedBuffer<double> buffer) =>
        BufferViewMaths.Sum<double, double>(buffer.View);

    /// <summary>The sum of the products of elements, in 64 bits, modulo 2^64; 0 of nothing.</summary>
    /// <param name="buffer">One side.</param>
    /// <param name="right">The other, as long.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">One of them was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static long VectorDot(this FixedBuffer<sbyte> buffer, FixedBuffer<sbyte> right) =>
        BufferViewMaths.Dot<sbyte, long>(buffer.View, right.View);

    /// <summary>The sum of the products of elements, in 64 bits, modulo 2^64; 0 of nothing.</summary>
    /// <param name="buffer">One side.</param>
    /// <param name="right">The other, as long.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">One of them was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static ulong VectorDot(this FixedBuffer<byte> buffer, FixedBuffer<byte> right) =>
        BufferViewMaths.Dot<byte, ulong>(buffer.View, right.View);

    /// <summary>The sum of the products of elements, in 64 bits, modulo 2^64; 0 of nothing.</summary>
    /// <param name="buffer">One side.</param>
    /// <param name="right">The other, as long.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">One of them was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static long VectorDot(this FixedBuffer<short> buffer, FixedBuffer<short> right) =>
        BufferViewMaths.Dot<short, long>(buffer.View, right.View);

    /// <summary>The sum of the products of elements, in 64 bits, modulo 2^64; 0 of nothing.</summary>
    /// <param name="buffer">One side.</param>
    /// <param name="right">The other, as long.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">One of them was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static ulong VectorDot(this FixedBuffer<ushort> buffer, FixedBuffer<ushort> right) =>
        BufferViewMaths.Dot<ushort, ulong>(buffer.View, right.View);

    /// <summary>The sum of the products of elements, in 64 bits, modulo 2^64; 0 of nothing.</summary>
    /// <param name="buffer">One side.</param>
    /// <param name="right">The other, as long.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">One of them was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static long VectorDot(this FixedBuffer<int> buffer, FixedBuffer<int> right) =>
        BufferViewMaths.Dot<int, long>(buffer.View, right.View);

    /// <summary>The sum of the products of elements, in 64 bits, modulo 2^64; 0 of nothing.</summary>
    /// <param name="buffer">One side.</param>
    /// <param name="right">The other, as long.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">One of them was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static ulong VectorDot(this FixedBuffer<uint> buffer, FixedBuffer<uint> right) =>
        BufferViewMaths.Dot<uint, ulong>(buffer.View, right.View);

    /// <summary>The sum of the products of elements, in 64 bits, modulo 2^64; 0 of nothing.</summary>
    /// <param name="buffer">One side.</param>
    /// <param name="right">The other, as long.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">One of them was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static long VectorDot(this FixedBuffer<long> buffer, FixedBuffer<long> right) =>
        BufferViewMaths.Dot<long, long>(buffer.View, right.View);

    /// <summary>The sum of the products of elements, in 64 bits, modulo 2^64; 0 of nothing.</summary>
    /// <param name="buffer">One side.</param>
    /// <param name="right">The other, as long.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">One of them was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static ulong VectorDot(this FixedBuffer<ulong> buffer, FixedBuffer<ulong> right) =>
        BufferViewMaths.Dot<ulong, ulong>(buffer.View, right.View);

    /// <summary>The sum of the products of elements, in the order that <see cref="VectorMaths"/> tells; 0 of
    /// nothing.</summary>
    /// <param name="buffer">One side.</param>
    /// <param name="right">The other, as long.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">One of them was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static float VectorDot(this FixedBuffer<float> buffer, FixedBuffer<float> right) =>
        BufferViewMaths.Dot<float, float>(buffer.View, right.View);

    /// <summary>The sum of the products of elements, in the order that <see cref="VectorMaths"/> tells; 0 of
    /// nothing.</summary>
    /// <param name="buffer">One side.</param>
    /// <param name="right">The other, as long.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">One of them was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static double VectorDot(this FixedBuffer<double> buffer, FixedBuffer<double> right) =>
        BufferViewMaths.Dot<double, double>(buffer.View, right.View);
}
