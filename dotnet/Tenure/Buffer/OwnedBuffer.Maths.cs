// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

public abstract unsafe partial class OwnedBuffer<T>
{
    /// <summary>The same as <see cref="Fill"/>.</summary>
    /// <param name="value">What every element becomes.</param>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public void VectorFill(T value) => Fill(value);

    /// <summary>Adds to every element one value. Integers wrap.</summary>
    /// <param name="right">The right side, for every element.</param>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="NotSupportedException">The element is none of the ten types that <see cref="VectorMaths"/>
    /// calculates with.</exception>
    public void VectorAdd(T right)
    {
        BufferViewMaths.Run<AddOperation, T>(_view, right);
        GC.KeepAlive(this);
    }

    /// <summary>Adds to every element that of another buffer. Integers wrap.</summary>
    /// <param name="right">The right side: as long, and the same elements or none in common.</param>
    /// <exception cref="ObjectDisposedException">One of them was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ, or the sides overlap elsewhere than in
    /// place.</exception>
    /// <exception cref="NotSupportedException">The element is none of the ten types that <see cref="VectorMaths"/>
    /// calculates with.</exception>
    public void VectorAdd(OwnedBuffer<T> right)
    {
        ArgumentNullException.ThrowIfNull(right);
        BufferViewMaths.Run<AddOperation, T>(_view, right._view);
        GC.KeepAlive(right);
        GC.KeepAlive(this);
    }

    /// <summary>Takes from every element one value. Integers wrap.</summary>
    /// <param name="right">The right side, for every element.</param>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="NotSupportedException">The element is none of the ten types that <see cref="VectorMaths"/>
    /// calculates with.</exception>
    public void VectorSubtract(T right)
    {
        BufferViewMaths.Run<SubtractOperation, T>(_view, right);
        GC.KeepAlive(this);
    }

    /// <summary>Takes from every element that of another buffer. Integers wrap.</summary>
    /// <param name="right">The right side: as long, and the same elements or none in common.</param>
    /// <exception cref="ObjectDisposedException">One of them was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ, or the sides overlap elsewhere than in
    /// place.</exception>
    /// <exception cref="NotSupportedException">The element is none of the ten types that <see cref="VectorMaths"/>
    /// calculates with.</exception>
    public void VectorSubtract(OwnedBuffer<T> right)
    {
        ArgumentNullException.ThrowIfNull(right);
        BufferViewMaths.Run<SubtractOperation, T>(_view, right._view);
        GC.KeepAlive(right);
        GC.KeepAlive(this);
    }

    /// <summary>Multiplies every element by one value. Integers wrap.</summary>
    /// <param name="right">The right side, for every element.</param>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="NotSupportedException">The element is none of the ten types that <see cref="VectorMaths"/>
    /// calculates with.</exception>
    public void VectorMultiply(T right)
    {
        BufferViewMaths.Run<MultiplyOperation, T>(_view, right);
        GC.KeepAlive(this);
    }

    /// <summary>Multiplies every element by that of another buffer. Integers wrap.</summary>
    /// <param name="right">The right side: as long, and the same elements or none in common.</param>
    /// <exception cref="ObjectDisposedException">One of them was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ, or the sides overlap elsewhere than in
    /// place.</exception>
    /// <exception cref="NotSupportedException">The element is none of the ten types that <see cref="VectorMaths"/>
    /// calculates with.</exception>
    public void VectorMultiply(OwnedBuffer<T> right)
    {
        ArgumentNullException.ThrowIfNull(right);
        BufferViewMaths.Run<MultiplyOperation, T>(_view, right._view);
        GC.KeepAlive(right);
        GC.KeepAlive(this);
    }

    /// <summary>Divides every element by one value. Integers are cut off towards zero; the least by -1 stays.</summary>
    /// <param name="right">The right side, for every element.</param>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="NotSupportedException">The element is none of the ten types that <see cref="VectorMaths"/>
    /// calculates with.</exception>
    /// <exception cref="DivideByZeroException">An integer would be divided by zero; nothing has changed.</exception>
    public void VectorDivide(T right)
    {
        BufferViewMaths.Run<DivideOperation, T>(_view, right);
        GC.KeepAlive(this);
    }

    /// <summary>Divides every element by that of another buffer. Integers are cut off towards zero; the least by -1
    /// stays.</summary>
    /// <param name="right">The right side: as long, and the same elements or none in common.</param>
    /// <exception cref="ObjectDisposedException">One of them was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ, or the sides overlap elsewhere than in
    /// place.</exception>
    /// <exception cref="NotSupportedException">The element is none of the ten types that <see cref="VectorMaths"/>
    /// calculates with.</exception>
    /// <exception cref="DivideByZeroException">An integer would be divided by zero; nothing has changed.</exception>
    public void VectorDivide(OwnedBuffer<T> right)
    {
        ArgumentNullException.ThrowIfNull(right);
        BufferViewMaths.Run<DivideOperation, T>(_view, right._view);
        GC.KeepAlive(right);
        GC.KeepAlive(this);
    }

    /// <summary>Every element becomes the lesser of itself and one value. NaN if one is NaN; -0 is less than
    /// +0.</summary>
    /// <param name="right">The right side, for every element.</param>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="NotSupportedException">The element is none of the ten types that <see cref="VectorMaths"/>
    /// calculates with.</exception>
    public void VectorMin(T right)
    {
        BufferViewMaths.Run<MinimumOperation, T>(_view, right);
        GC.KeepAlive(this);
    }

    /// <summary>Every element becomes the lesser of itself and that of another buffer. NaN if one is NaN; -0 is less
    /// than +0.</summary>
    /// <param name="right">The right side: as long, and the same elements or none in common.</param>
    /// <exception cref="ObjectDisposedException">One of them was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ, or the sides overlap elsewhere than in
    /// place.</exception>
    /// <exception cref="NotSupportedException">The element is none of the ten types that <see cref="VectorMaths"/>
    /// calculates with.</exception>
    public void VectorMin(OwnedBuffer<T> right)
    {
        ArgumentNullException.ThrowIfNull(right);
        BufferViewMaths.Run<MinimumOperation, T>(_view, right._view);
        GC.KeepAlive(right);
        GC.KeepAlive(this);
    }

    /// <summary>Every element becomes the greater of itself and one value. NaN if one is NaN; +0 is more than
    /// -0.</summary>
    /// <param name="right">The right side, for every element.</param>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="NotSupportedException">The element is none of the ten types that <see cref="VectorMaths"/>
    /// calculates with.</exception>
    public void VectorMax(T right)
    {
        BufferViewMaths.Run<MaximumOperation, T>(_view, right);
        GC.KeepAlive(this);
    }

    /// <summary>Every element becomes the greater of itself and that of another buffer. NaN if one is NaN; +0 is more
    /// than -0.</summary>
    /// <param name="right">The right side: as long, and the same elements or none in common.</param>
    /// <exception cref="ObjectDisposedException">One of them was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ, or the sides overlap elsewhere than in
    /// place.</exception>
    /// <exception cref="NotSupportedException">The element is none of the ten types that <see cref="VectorMaths"/>
    /// calculates with.</exception>
    public void VectorMax(OwnedBuffer<T> right)
    {
        ArgumentNullException.ThrowIfNull(right);
        BufferViewMaths.Run<MaximumOperation, T>(_view, right._view);
        GC.KeepAlive(right);
        GC.KeepAlive(this);
    }

    /// <summary>Every element becomes its square root. Integers: the greatest whose square is not more, and 0 of what
    /// is negative.</summary>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="NotSupportedException">The element is none of the ten types that <see cref="VectorMaths"/>
    /// calculates with.</exception>
    public void VectorSqrt()
    {
        BufferViewMaths.Run<SquareRootOperation, T>(_view, default(T));
        GC.KeepAlive(this);
    }

    /// <summary>The least element; NaN if one is NaN.</summary>
    /// <returns>The element.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="InvalidOperationException">There is no element.</exception>
    /// <exception cref="NotSupportedException">The element is none of the ten types that <see cref="VectorMaths"/>
    /// calculates with.</exception>
    public T VectorMin()
    {
        T result = BufferViewMaths.Best<LeastOperation, T>(_view);
        GC.KeepAlive(this);
        return result;
    }

    /// <summary>The greatest element; NaN if one is NaN.</summary>
    /// <returns>The element.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="InvalidOperationException">There is no element.</exception>
    /// <exception cref="NotSupportedException">The element is none of the ten types that <see cref="VectorMaths"/>
    /// calculates with.</exception>
    public T VectorMax()
    {
        T result = BufferViewMaths.Best<GreatestOperation, T>(_view);
        GC.KeepAlive(this);
        return result;
    }
}
