// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

/// <summary>Computes sums and dot products of buffers with <see cref="VectorMaths"/>.</summary>
/// <remarks>There is one overload for each of the ten types, because the type of a sum differs from that of the
/// elements: integers are added in 64 bits. The memory is held meanwhile. Threads: uses only the calling thread.
/// Allocates nothing.</remarks>
public static partial class BufferSums
{
    /// <summary>Computes the sum of the elements in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="buffer">The elements to add.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public static long VectorSum(this FixedBuffer<sbyte> buffer) =>
        BufferViewMaths.Sum<sbyte, long>(buffer.View);

    /// <summary>Computes the sum of the elements in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="buffer">The elements to add.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public static ulong VectorSum(this FixedBuffer<byte> buffer) =>
        BufferViewMaths.Sum<byte, ulong>(buffer.View);

    /// <summary>Computes the sum of the elements in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="buffer">The elements to add.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public static long VectorSum(this FixedBuffer<short> buffer) =>
        BufferViewMaths.Sum<short, long>(buffer.View);

    /// <summary>Computes the sum of the elements in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="buffer">The elements to add.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public static ulong VectorSum(this FixedBuffer<ushort> buffer) =>
        BufferViewMaths.Sum<ushort, ulong>(buffer.View);

    /// <summary>Computes the sum of the elements in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="buffer">The elements to add.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public static long VectorSum(this FixedBuffer<int> buffer) =>
        BufferViewMaths.Sum<int, long>(buffer.View);

    /// <summary>Computes the sum of the elements in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="buffer">The elements to add.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public static ulong VectorSum(this FixedBuffer<uint> buffer) =>
        BufferViewMaths.Sum<uint, ulong>(buffer.View);

    /// <summary>Computes the sum of the elements in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="buffer">The elements to add.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public static long VectorSum(this FixedBuffer<long> buffer) =>
        BufferViewMaths.Sum<long, long>(buffer.View);

    /// <summary>Computes the sum of the elements in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="buffer">The elements to add.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public static ulong VectorSum(this FixedBuffer<ulong> buffer) =>
        BufferViewMaths.Sum<ulong, ulong>(buffer.View);

    /// <summary>Computes the sum of the elements in the order that <see cref="VectorMaths"/> defines; 0 when there are
    /// no elements.</summary>
    /// <param name="buffer">The elements to add.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public static float VectorSum(this FixedBuffer<float> buffer) =>
        BufferViewMaths.Sum<float, float>(buffer.View);

    /// <summary>Computes the sum of the elements in the order that <see cref="VectorMaths"/> defines; 0 when there are
    /// no elements.</summary>
    /// <param name="buffer">The elements to add.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public static double VectorSum(this FixedBuffer<double> buffer) =>
        BufferViewMaths.Sum<double, double>(buffer.View);

    /// <summary>Computes the dot product in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="buffer">The left operands.</param>
    /// <param name="right">The right operands, with the same length.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static long VectorDot(this FixedBuffer<sbyte> buffer, FixedBuffer<sbyte> right) =>
        BufferViewMaths.Dot<sbyte, long>(buffer.View, right.View);

    /// <summary>Computes the dot product in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="buffer">The left operands.</param>
    /// <param name="right">The right operands, with the same length.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static ulong VectorDot(this FixedBuffer<byte> buffer, FixedBuffer<byte> right) =>
        BufferViewMaths.Dot<byte, ulong>(buffer.View, right.View);

    /// <summary>Computes the dot product in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="buffer">The left operands.</param>
    /// <param name="right">The right operands, with the same length.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static long VectorDot(this FixedBuffer<short> buffer, FixedBuffer<short> right) =>
        BufferViewMaths.Dot<short, long>(buffer.View, right.View);

    /// <summary>Computes the dot product in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="buffer">The left operands.</param>
    /// <param name="right">The right operands, with the same length.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static ulong VectorDot(this FixedBuffer<ushort> buffer, FixedBuffer<ushort> right) =>
        BufferViewMaths.Dot<ushort, ulong>(buffer.View, right.View);

    /// <summary>Computes the dot product in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="buffer">The left operands.</param>
    /// <param name="right">The right operands, with the same length.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static long VectorDot(this FixedBuffer<int> buffer, FixedBuffer<int> right) =>
        BufferViewMaths.Dot<int, long>(buffer.View, right.View);

    /// <summary>Computes the dot product in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="buffer">The left operands.</param>
    /// <param name="right">The right operands, with the same length.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static ulong VectorDot(this FixedBuffer<uint> buffer, FixedBuffer<uint> right) =>
        BufferViewMaths.Dot<uint, ulong>(buffer.View, right.View);

    /// <summary>Computes the dot product in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="buffer">The left operands.</param>
    /// <param name="right">The right operands, with the same length.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static long VectorDot(this FixedBuffer<long> buffer, FixedBuffer<long> right) =>
        BufferViewMaths.Dot<long, long>(buffer.View, right.View);

    /// <summary>Computes the dot product in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="buffer">The left operands.</param>
    /// <param name="right">The right operands, with the same length.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static ulong VectorDot(this FixedBuffer<ulong> buffer, FixedBuffer<ulong> right) =>
        BufferViewMaths.Dot<ulong, ulong>(buffer.View, right.View);

    /// <summary>Computes the dot product in the order that <see cref="VectorMaths"/> defines; 0 when there are no
    /// elements.</summary>
    /// <param name="buffer">The left operands.</param>
    /// <param name="right">The right operands, with the same length.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static float VectorDot(this FixedBuffer<float> buffer, FixedBuffer<float> right) =>
        BufferViewMaths.Dot<float, float>(buffer.View, right.View);

    /// <summary>Computes the dot product in the order that <see cref="VectorMaths"/> defines; 0 when there are no
    /// elements.</summary>
    /// <param name="buffer">The left operands.</param>
    /// <param name="right">The right operands, with the same length.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static double VectorDot(this FixedBuffer<double> buffer, FixedBuffer<double> right) =>
        BufferViewMaths.Dot<double, double>(buffer.View, right.View);
}
