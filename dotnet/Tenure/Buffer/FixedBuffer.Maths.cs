// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

public readonly unsafe partial struct FixedBuffer<T>
{
    /// <summary>Sets every element to a value. Same as <see cref="Fill"/>.</summary>
    /// <param name="value">The value to write to every element.</param>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    public void VectorFill(T value) => Fill(value);

    /// <summary>Adds a value to every element. Integers wrap.</summary>
    /// <param name="right">The right operand for every element.</param>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    /// <exception cref="NotSupportedException">The element type is not one of the ten types that
    /// <see cref="VectorMaths"/> supports.</exception>
    public void VectorAdd(T right) => BufferViewMaths.Run<AddOperation, T>(View, right);

    /// <summary>Adds the elements of another buffer to the elements of this one. Integers wrap.</summary>
    /// <param name="right">The right operands: a buffer of the same length, with the same elements or without any
    /// elements in common.</param>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ, or the operands overlap without starting at the same
    /// element.</exception>
    /// <exception cref="NotSupportedException">The element type is not one of the ten types that
    /// <see cref="VectorMaths"/> supports.</exception>
    public void VectorAdd(FixedBuffer<T> right) => BufferViewMaths.Run<AddOperation, T>(View, right.View);

    /// <summary>Subtracts a value from every element. Integers wrap.</summary>
    /// <param name="right">The right operand for every element.</param>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    /// <exception cref="NotSupportedException">The element type is not one of the ten types that
    /// <see cref="VectorMaths"/> supports.</exception>
    public void VectorSubtract(T right) => BufferViewMaths.Run<SubtractOperation, T>(View, right);

    /// <summary>Subtracts the elements of another buffer from the elements of this one. Integers wrap.</summary>
    /// <param name="right">The right operands: a buffer of the same length, with the same elements or without any
    /// elements in common.</param>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ, or the operands overlap without starting at the same
    /// element.</exception>
    /// <exception cref="NotSupportedException">The element type is not one of the ten types that
    /// <see cref="VectorMaths"/> supports.</exception>
    public void VectorSubtract(FixedBuffer<T> right) => BufferViewMaths.Run<SubtractOperation, T>(View, right.View);

    /// <summary>Multiplies every element by a value. Integers wrap.</summary>
    /// <param name="right">The right operand for every element.</param>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    /// <exception cref="NotSupportedException">The element type is not one of the ten types that
    /// <see cref="VectorMaths"/> supports.</exception>
    public void VectorMultiply(T right) => BufferViewMaths.Run<MultiplyOperation, T>(View, right);

    /// <summary>Multiplies the elements by the elements of another buffer. Integers wrap.</summary>
    /// <param name="right">The right operands: a buffer of the same length, with the same elements or without any
    /// elements in common.</param>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ, or the operands overlap without starting at the same
    /// element.</exception>
    /// <exception cref="NotSupportedException">The element type is not one of the ten types that
    /// <see cref="VectorMaths"/> supports.</exception>
    public void VectorMultiply(FixedBuffer<T> right) => BufferViewMaths.Run<MultiplyOperation, T>(View, right.View);

    /// <summary>Divides every element by a value. Integer quotients are truncated toward zero; the minimum value
    /// divided by -1 stays unchanged.</summary>
    /// <param name="right">The right operand for every element.</param>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    /// <exception cref="NotSupportedException">The element type is not one of the ten types that
    /// <see cref="VectorMaths"/> supports.</exception>
    /// <exception cref="DivideByZeroException">An integer divisor is zero; nothing has changed.</exception>
    public void VectorDivide(T right) => BufferViewMaths.Run<DivideOperation, T>(View, right);

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
    public void VectorDivide(FixedBuffer<T> right) => BufferViewMaths.Run<DivideOperation, T>(View, right.View);

    /// <summary>Sets every element to the minimum of itself and a value. The result is NaN if either operand is NaN; -0
    /// is less than +0.</summary>
    /// <param name="right">The right operand for every element.</param>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    /// <exception cref="NotSupportedException">The element type is not one of the ten types that
    /// <see cref="VectorMaths"/> supports.</exception>
    public void VectorMin(T right) => BufferViewMaths.Run<MinimumOperation, T>(View, right);

    /// <summary>Sets every element to the minimum of itself and the element of another buffer. The result is NaN if
    /// either operand is NaN; -0 is less than +0.</summary>
    /// <param name="right">The right operands: a buffer of the same length, with the same elements or without any
    /// elements in common.</param>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ, or the operands overlap without starting at the same
    /// element.</exception>
    /// <exception cref="NotSupportedException">The element type is not one of the ten types that
    /// <see cref="VectorMaths"/> supports.</exception>
    public void VectorMin(FixedBuffer<T> right) => BufferViewMaths.Run<MinimumOperation, T>(View, right.View);

    /// <summary>Sets every element to the maximum of itself and a value. The result is NaN if either operand is NaN; +0
    /// is greater than -0.</summary>
    /// <param name="right">The right operand for every element.</param>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    /// <exception cref="NotSupportedException">The element type is not one of the ten types that
    /// <see cref="VectorMaths"/> supports.</exception>
    public void VectorMax(T right) => BufferViewMaths.Run<MaximumOperation, T>(View, right);

    /// <summary>Sets every element to the maximum of itself and the element of another buffer. The result is NaN if
    /// either operand is NaN; +0 is greater than -0.</summary>
    /// <param name="right">The right operands: a buffer of the same length, with the same elements or without any
    /// elements in common.</param>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ, or the operands overlap without starting at the same
    /// element.</exception>
    /// <exception cref="NotSupportedException">The element type is not one of the ten types that
    /// <see cref="VectorMaths"/> supports.</exception>
    public void VectorMax(FixedBuffer<T> right) => BufferViewMaths.Run<MaximumOperation, T>(View, right.View);

    /// <summary>Replaces every element by its square root. For integers, the result is rounded down, and it is 0 for
    /// negative values.</summary>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    /// <exception cref="NotSupportedException">The element type is not one of the ten types that
    /// <see cref="VectorMaths"/> supports.</exception>
    public void VectorSqrt() => BufferViewMaths.Run<SquareRootOperation, T>(View, default(T));

    /// <summary>Finds the minimum element; NaN if any element is NaN.</summary>
    /// <returns>The element.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    /// <exception cref="InvalidOperationException">There are no elements.</exception>
    /// <exception cref="NotSupportedException">The element type is not one of the ten types that
    /// <see cref="VectorMaths"/> supports.</exception>
    public T VectorMin() => BufferViewMaths.Best<LeastOperation, T>(View);

    /// <summary>Finds the maximum element; NaN if any element is NaN.</summary>
    /// <returns>The element.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    /// <exception cref="InvalidOperationException">There are no elements.</exception>
    /// <exception cref="NotSupportedException">The element type is not one of the ten types that
    /// <see cref="VectorMaths"/> supports.</exception>
    public T VectorMax() => BufferViewMaths.Best<GreatestOperation, T>(View);

    /// <summary>Determines whether every element is less than a bound. True when there are no elements.</summary>
    /// <param name="bound">The exclusive upper bound.</param>
    /// <param name="index">The index of the first element that is not less than the bound or is NaN; -1 when all
    /// elements are less.</param>
    /// <returns>True if all elements are less; otherwise, false.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed or never allocated.</exception>
    /// <exception cref="NotSupportedException">The element type is not one of the ten types that
    /// <see cref="VectorMaths"/> supports.</exception>
    public bool VectorLessThanAll(T bound, out int index)
    {
        bool all = BufferViewMaths.LessThanAll(View, bound, out long at);
        index = (int)at;
        return all;
    }
}
