// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

public abstract unsafe partial class OwnedBuffer<T>
{
    /// <summary>Sets every element to a value. Same as <see cref="Fill"/>.</summary>
    /// <param name="value">The value to write to every element.</param>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public void VectorFill(T value) => Fill(value);

    /// <summary>Adds a value to every element. Integers wrap.</summary>
    /// <param name="right">The right operand for every element.</param>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="NotSupportedException">The element type is not one of the ten types that
    /// <see cref="VectorMaths"/> supports.</exception>
    public void VectorAdd(T right)
    {
        BufferViewMaths.Run<AddOperation, T>(_view, right);
        GC.KeepAlive(this);
    }

    /// <summary>Adds the elements of another buffer to the elements of this one. Integers wrap.</summary>
    /// <param name="right">The right operands: a buffer of the same length, with the same elements or without any
    /// elements in common.</param>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ, or the operands overlap without starting at the same
    /// element.</exception>
    /// <exception cref="NotSupportedException">The element type is not one of the ten types that
    /// <see cref="VectorMaths"/> supports.</exception>
    public void VectorAdd(OwnedBuffer<T> right)
    {
        ArgumentNullException.ThrowIfNull(right);
        BufferViewMaths.Run<AddOperation, T>(_view, right._view);
        GC.KeepAlive(right);
        GC.KeepAlive(this);
    }

    /// <summary>Subtracts a value from every element. Integers wrap.</summary>
    /// <param name="right">The right operand for every element.</param>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="NotSupportedException">The element type is not one of the ten types that
    /// <see cref="VectorMaths"/> supports.</exception>
    public void VectorSubtract(T right)
    {
        BufferViewMaths.Run<SubtractOperation, T>(_view, right);
        GC.KeepAlive(this);
    }

    /// <summary>Subtracts the elements of another buffer from the elements of this one. Integers wrap.</summary>
    /// <param name="right">The right operands: a buffer of the same length, with the same elements or without any
    /// elements in common.</param>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ, or the operands overlap without starting at the same
    /// element.</exception>
    /// <exception cref="NotSupportedException">The element type is not one of the ten types that
    /// <see cref="VectorMaths"/> supports.</exception>
    public void VectorSubtract(OwnedBuffer<T> right)
    {
        ArgumentNullException.ThrowIfNull(right);
        BufferViewMaths.Run<SubtractOperation, T>(_view, right._view);
        GC.KeepAlive(right);
        GC.KeepAlive(this);
    }

    /// <summary>Multiplies every element by a value. Integers wrap.</summary>
    /// <param name="right">The right operand for every element.</param>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="NotSupportedException">The element type is not one of the ten types that
    /// <see cref="VectorMaths"/> supports.</exception>
    public void VectorMultiply(T right)
    {
        BufferViewMaths.Run<MultiplyOperation, T>(_view, right);
        GC.KeepAlive(this);
    }

    /// <summary>Multiplies the elements by the elements of another buffer. Integers wrap.</summary>
    /// <param name="right">The right operands: a buffer of the same length, with the same elements or without any
    /// elements in common.</param>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ, or the operands overlap without starting at the same
    /// element.</exception>
    /// <exception cref="NotSupportedException">The element type is not one of the ten types that
    /// <see cref="VectorMaths"/> supports.</exception>
    public void VectorMultiply(OwnedBuffer<T> right)
    {
        ArgumentNullException.ThrowIfNull(right);
        BufferViewMaths.Run<MultiplyOperation, T>(_view, right._view);
        GC.KeepAlive(right);
        GC.KeepAlive(this);
    }

    /// <summary>Divides every element by a value. Integer quotients are truncated toward zero; the minimum value
    /// divided by -1 stays unchanged.</summary>
    /// <param name="right">The right operand for every element.</param>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="NotSupportedException">The element type is not one of the ten types that
    /// <see cref="VectorMaths"/> supports.</exception>
    /// <exception cref="DivideByZeroException">An integer divisor is zero; nothing has changed.</exception>
    public void VectorDivide(T right)
    {
        BufferViewMaths.Run<DivideOperation, T>(_view, right);
        GC.KeepAlive(this);
    }

    /// <summary>Divides the elements by the elements of another buffer. Integer quotients are truncated toward zero;
    /// the minimum value divided by -1 stays unchanged.</summary>
    /// <param name="right">The right operands: a buffer of the same length, with the same elements or without any
    /// elements in common.</param>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ, or the operands overlap without starting at the same
    /// element.</exception>
    /// <exception cref="NotSupportedException">The element type is not one of the ten types that
    /// <see cref="VectorMaths"/> supports.</exception>
    /// <exception cref="DivideByZeroException">An integer divisor is zero; nothing has changed.</exception>
    public void VectorDivide(OwnedBuffer<T> right)
    {
        ArgumentNullException.ThrowIfNull(right);
        BufferViewMaths.Run<DivideOperation, T>(_view, right._view);
        GC.KeepAlive(right);
        GC.KeepAlive(this);
    }

    /// <summary>Sets every element to the minimum of itself and a value. The result is NaN if either operand is NaN; -0
    /// is less than +0.</summary>
    /// <param name="right">The right operand for every element.</param>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="NotSupportedException">The element type is not one of the ten types that
    /// <see cref="VectorMaths"/> supports.</exception>
    public void VectorMin(T right)
    {
        BufferViewMaths.Run<MinimumOperation, T>(_view, right);
        GC.KeepAlive(this);
    }

    /// <summary>Sets every element to the minimum of itself and the element of another buffer. The result is NaN if
    /// either operand is NaN; -0 is less than +0.</summary>
    /// <param name="right">The right operands: a buffer of the same length, with the same elements or without any
    /// elements in common.</param>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ, or the operands overlap without starting at the same
    /// element.</exception>
    /// <exception cref="NotSupportedException">The element type is not one of the ten types that
    /// <see cref="VectorMaths"/> supports.</exception>
    public void VectorMin(OwnedBuffer<T> right)
    {
        ArgumentNullException.ThrowIfNull(right);
        BufferViewMaths.Run<MinimumOperation, T>(_view, right._view);
        GC.KeepAlive(right);
        GC.KeepAlive(this);
    }

    /// <summary>Sets every element to the maximum of itself and a value. The result is NaN if either operand is NaN; +0
    /// is greater than -0.</summary>
    /// <param name="right">The right operand for every element.</param>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="NotSupportedException">The element type is not one of the ten types that
    /// <see cref="VectorMaths"/> supports.</exception>
    public void VectorMax(T right)
    {
        BufferViewMaths.Run<MaximumOperation, T>(_view, right);
        GC.KeepAlive(this);
    }

    /// <summary>Sets every element to the maximum of itself and the element of another buffer. The result is NaN if
    /// either operand is NaN; +0 is greater than -0.</summary>
    /// <param name="right">The right operands: a buffer of the same length, with the same elements or without any
    /// elements in common.</param>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ, or the operands overlap without starting at the same
    /// element.</exception>
    /// <exception cref="NotSupportedException">The element type is not one of the ten types that
    /// <see cref="VectorMaths"/> supports.</exception>
    public void VectorMax(OwnedBuffer<T> right)
    {
        ArgumentNullException.ThrowIfNull(right);
        BufferViewMaths.Run<MaximumOperation, T>(_view, right._view);
        GC.KeepAlive(right);
        GC.KeepAlive(this);
    }

    /// <summary>Replaces every element by its square root. For integers, the result is rounded down, and it is 0 for
    /// negative values.</summary>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="NotSupportedException">The element type is not one of the ten types that
    /// <see cref="VectorMaths"/> supports.</exception>
    public void VectorSqrt()
    {
        BufferViewMaths.Run<SquareRootOperation, T>(_view, default(T));
        GC.KeepAlive(this);
    }

    /// <summary>Finds the minimum element; NaN if any element is NaN.</summary>
    /// <returns>The element.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="InvalidOperationException">There are no elements.</exception>
    /// <exception cref="NotSupportedException">The element type is not one of the ten types that
    /// <see cref="VectorMaths"/> supports.</exception>
    public T VectorMin()
    {
        T result = BufferViewMaths.Best<LeastOperation, T>(_view);
        GC.KeepAlive(this);
        return result;
    }

    /// <summary>Finds the maximum element; NaN if any element is NaN.</summary>
    /// <returns>The element.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="InvalidOperationException">There are no elements.</exception>
    /// <exception cref="NotSupportedException">The element type is not one of the ten types that
    /// <see cref="VectorMaths"/> supports.</exception>
    public T VectorMax()
    {
        T result = BufferViewMaths.Best<GreatestOperation, T>(_view);
        GC.KeepAlive(this);
        return result;
    }
}
