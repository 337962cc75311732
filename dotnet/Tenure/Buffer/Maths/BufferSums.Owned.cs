// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

public static partial class BufferSums
{
    /// <summary>Computes the sum of the elements in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="buffer">The elements to add.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public static long VectorSum(this OwnedBuffer<sbyte> buffer)
    {
        ArgumentNullException.ThrowIfNull(buffer);
        long sum = BufferViewMaths.Sum<sbyte, long>(buffer.View);
        GC.KeepAlive(buffer);
        return sum;
    }

    /// <summary>Computes the sum of the elements in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="buffer">The elements to add.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public static ulong VectorSum(this OwnedBuffer<byte> buffer)
    {
        ArgumentNullException.ThrowIfNull(buffer);
        ulong sum = BufferViewMaths.Sum<byte, ulong>(buffer.View);
        GC.KeepAlive(buffer);
        return sum;
    }

    /// <summary>Computes the sum of the elements in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="buffer">The elements to add.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public static long VectorSum(this OwnedBuffer<short> buffer)
    {
        ArgumentNullException.ThrowIfNull(buffer);
        long sum = BufferViewMaths.Sum<short, long>(buffer.View);
        GC.KeepAlive(buffer);
        return sum;
    }

    /// <summary>Computes the sum of the elements in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="buffer">The elements to add.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public static ulong VectorSum(this OwnedBuffer<ushort> buffer)
    {
        ArgumentNullException.ThrowIfNull(buffer);
        ulong sum = BufferViewMaths.Sum<ushort, ulong>(buffer.View);
        GC.KeepAlive(buffer);
        return sum;
    }

    /// <summary>Computes the sum of the elements in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="buffer">The elements to add.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public static long VectorSum(this OwnedBuffer<int> buffer)
    {
        ArgumentNullException.ThrowIfNull(buffer);
        long sum = BufferViewMaths.Sum<int, long>(buffer.View);
        GC.KeepAlive(buffer);
        return sum;
    }

    /// <summary>Computes the sum of the elements in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="buffer">The elements to add.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public static ulong VectorSum(this OwnedBuffer<uint> buffer)
    {
        ArgumentNullException.ThrowIfNull(buffer);
        ulong sum = BufferViewMaths.Sum<uint, ulong>(buffer.View);
        GC.KeepAlive(buffer);
        return sum;
    }

    /// <summary>Computes the sum of the elements in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="buffer">The elements to add.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public static long VectorSum(this OwnedBuffer<long> buffer)
    {
        ArgumentNullException.ThrowIfNull(buffer);
        long sum = BufferViewMaths.Sum<long, long>(buffer.View);
        GC.KeepAlive(buffer);
        return sum;
    }

    /// <summary>Computes the sum of the elements in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="buffer">The elements to add.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public static ulong VectorSum(this OwnedBuffer<ulong> buffer)
    {
        ArgumentNullException.ThrowIfNull(buffer);
        ulong sum = BufferViewMaths.Sum<ulong, ulong>(buffer.View);
        GC.KeepAlive(buffer);
        return sum;
    }

    /// <summary>Computes the sum of the elements in the order that <see cref="VectorMaths"/> defines; 0 when there are
    /// no elements.</summary>
    /// <param name="buffer">The elements to add.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public static float VectorSum(this OwnedBuffer<float> buffer)
    {
        ArgumentNullException.ThrowIfNull(buffer);
        float sum = BufferViewMaths.Sum<float, float>(buffer.View);
        GC.KeepAlive(buffer);
        return sum;
    }

    /// <summary>Computes the sum of the elements in the order that <see cref="VectorMaths"/> defines; 0 when there are
    /// no elements.</summary>
    /// <param name="buffer">The elements to add.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public static double VectorSum(this OwnedBuffer<double> buffer)
    {
        ArgumentNullException.ThrowIfNull(buffer);
        double sum = BufferViewMaths.Sum<double, double>(buffer.View);
        GC.KeepAlive(buffer);
        return sum;
    }

    /// <summary>Computes the dot product in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="buffer">The left operands.</param>
    /// <param name="right">The right operands, with the same length.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static long VectorDot(this OwnedBuffer<sbyte> buffer, OwnedBuffer<sbyte> right)
    {
        ArgumentNullException.ThrowIfNull(buffer);
        ArgumentNullException.ThrowIfNull(right);
        long sum = BufferViewMaths.Dot<sbyte, long>(buffer.View, right.View);
        GC.KeepAlive(right);
        GC.KeepAlive(buffer);
        return sum;
    }

    /// <summary>Computes the dot product in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="buffer">The left operands.</param>
    /// <param name="right">The right operands, with the same length.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static ulong VectorDot(this OwnedBuffer<byte> buffer, OwnedBuffer<byte> right)
    {
        ArgumentNullException.ThrowIfNull(buffer);
        ArgumentNullException.ThrowIfNull(right);
        ulong sum = BufferViewMaths.Dot<byte, ulong>(buffer.View, right.View);
        GC.KeepAlive(right);
        GC.KeepAlive(buffer);
        return sum;
    }

    /// <summary>Computes the dot product in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="buffer">The left operands.</param>
    /// <param name="right">The right operands, with the same length.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static long VectorDot(this OwnedBuffer<short> buffer, OwnedBuffer<short> right)
    {
        ArgumentNullException.ThrowIfNull(buffer);
        ArgumentNullException.ThrowIfNull(right);
        long sum = BufferViewMaths.Dot<short, long>(buffer.View, right.View);
        GC.KeepAlive(right);
        GC.KeepAlive(buffer);
        return sum;
    }

    /// <summary>Computes the dot product in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="buffer">The left operands.</param>
    /// <param name="right">The right operands, with the same length.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static ulong VectorDot(this OwnedBuffer<ushort> buffer, OwnedBuffer<ushort> right)
    {
        ArgumentNullException.ThrowIfNull(buffer);
        ArgumentNullException.ThrowIfNull(right);
        ulong sum = BufferViewMaths.Dot<ushort, ulong>(buffer.View, right.View);
        GC.KeepAlive(right);
        GC.KeepAlive(buffer);
        return sum;
    }

    /// <summary>Computes the dot product in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="buffer">The left operands.</param>
    /// <param name="right">The right operands, with the same length.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static long VectorDot(this OwnedBuffer<int> buffer, OwnedBuffer<int> right)
    {
        ArgumentNullException.ThrowIfNull(buffer);
        ArgumentNullException.ThrowIfNull(right);
        long sum = BufferViewMaths.Dot<int, long>(buffer.View, right.View);
        GC.KeepAlive(right);
        GC.KeepAlive(buffer);
        return sum;
    }

    /// <summary>Computes the dot product in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="buffer">The left operands.</param>
    /// <param name="right">The right operands, with the same length.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static ulong VectorDot(this OwnedBuffer<uint> buffer, OwnedBuffer<uint> right)
    {
        ArgumentNullException.ThrowIfNull(buffer);
        ArgumentNullException.ThrowIfNull(right);
        ulong sum = BufferViewMaths.Dot<uint, ulong>(buffer.View, right.View);
        GC.KeepAlive(right);
        GC.KeepAlive(buffer);
        return sum;
    }

    /// <summary>Computes the dot product in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="buffer">The left operands.</param>
    /// <param name="right">The right operands, with the same length.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static long VectorDot(this OwnedBuffer<long> buffer, OwnedBuffer<long> right)
    {
        ArgumentNullException.ThrowIfNull(buffer);
        ArgumentNullException.ThrowIfNull(right);
        long sum = BufferViewMaths.Dot<long, long>(buffer.View, right.View);
        GC.KeepAlive(right);
        GC.KeepAlive(buffer);
        return sum;
    }

    /// <summary>Computes the dot product in 64 bits, modulo 2^64; 0 when there are no elements.</summary>
    /// <param name="buffer">The left operands.</param>
    /// <param name="right">The right operands, with the same length.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static ulong VectorDot(this OwnedBuffer<ulong> buffer, OwnedBuffer<ulong> right)
    {
        ArgumentNullException.ThrowIfNull(buffer);
        ArgumentNullException.ThrowIfNull(right);
        ulong sum = BufferViewMaths.Dot<ulong, ulong>(buffer.View, right.View);
        GC.KeepAlive(right);
        GC.KeepAlive(buffer);
        return sum;
    }

    /// <summary>Computes the dot product in the order that <see cref="VectorMaths"/> defines; 0 when there are no
    /// elements.</summary>
    /// <param name="buffer">The left operands.</param>
    /// <param name="right">The right operands, with the same length.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static float VectorDot(this OwnedBuffer<float> buffer, OwnedBuffer<float> right)
    {
        ArgumentNullException.ThrowIfNull(buffer);
        ArgumentNullException.ThrowIfNull(right);
        float sum = BufferViewMaths.Dot<float, float>(buffer.View, right.View);
        GC.KeepAlive(right);
        GC.KeepAlive(buffer);
        return sum;
    }

    /// <summary>Computes the dot product in the order that <see cref="VectorMaths"/> defines; 0 when there are no
    /// elements.</summary>
    /// <param name="buffer">The left operands.</param>
    /// <param name="right">The right operands, with the same length.</param>
    /// <returns>The sum.</returns>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ.</exception>
    public static double VectorDot(this OwnedBuffer<double> buffer, OwnedBuffer<double> right)
    {
        ArgumentNullException.ThrowIfNull(buffer);
        ArgumentNullException.ThrowIfNull(right);
        double sum = BufferViewMaths.Dot<double, double>(buffer.View, right.View);
        GC.KeepAlive(right);
        GC.KeepAlive(buffer);
        return sum;
    }
}
