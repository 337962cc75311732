// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

public readonly unsafe partial struct FixedBuffer<T>
{
    /// <summary>The same as <see cref="Fill"/>.</summary>
    /// <param name="value">What every element becomes.</param>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    public void VectorFill(T value) => Fill(value);

    /// <summary>Adds to every element one value. Integers wrap.</summary>
    /// <param name="right">The right side, for every element.</param>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    /// <exception cref="NotSupportedException">The element is none of the ten types that <see cref="VectorMaths"/>
    /// calculates with.</exception>
    public void VectorAdd(T right) => BufferViewMaths.Run<AddOperation, T>(View, right);

    /// <summary>Adds to every element that of another buffer. Integers wrap.</summary>
    /// <param name="right">The right side: as long, and the same elements or none in common.</param>
    /// <exception cref="ObjectDisposedException">One of them was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ, or the sides overlap elsewhere than in
    /// place.</exception>
    /// <exception cref="NotSupportedException">The element is none of the ten types that <see cref="VectorMaths"/>
    /// calculates with.</exception>
    public void VectorAdd(FixedBuffer<T> right) => BufferViewMaths.Run<AddOperation, T>(View, right.View);

    /// <summary>Takes from every element one value. Integers wrap.</summary>
    /// <param name="right">The right side, for every element.</param>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    /// <exception cref="NotSupportedException">The element is none of the ten types that <see cref="VectorMaths"/>
    /// calculates with.</exception>
    public void VectorSubtract(T right) => BufferViewMaths.Run<SubtractOperation, T>(View, right);

    /// <summary>Takes from every element that of another buffer. Integers wrap.</summary>
    /// <param name="right">The right side: as long, and the same elements or none in common.</param>
    /// <exception cref="ObjectDisposedException">One of them was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ, or the sides overlap elsewhere than in
    /// place.</exception>
    /// <exception cref="NotSupportedException">The element is none of the ten types that <see cref="VectorMaths"/>
    /// calculates with.</exception>
    public void VectorSubtract(FixedBuffer<T> right) => BufferViewMaths.Run<SubtractOperation, T>(View, right.View);

    /// <summary>Multiplies every element by one value. Integers wrap.</summary>
    /// <param name="right">The right side, for every element.</param>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    /// <exception cref="NotSupportedException">The element is none of the ten types that <see cref="VectorMaths"/>
    /// calculates with.</exception>
    public void VectorMultiply(T right) => BufferViewMaths.Run<MultiplyOperation, T>(View, right);

    /// <summary>Multiplies every element by that of another buffer. Integers wrap.</summary>
    /// <param name="right">The right side: as long, and the same elements or none in common.</param>
    /// <exception cref="ObjectDisposedException">One of them was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ, or the sides overlap elsewhere than in
    /// place.</exception>
    /// <exception cref="NotSupportedException">The element is none of the ten types that <see cref="VectorMaths"/>
    /// calculates with.</exception>
    public void VectorMultiply(FixedBuffer<T> right) => BufferViewMaths.Run<MultiplyOperation, T>(View, right.View);

    /// <summary>Divides every element by one value. Integers are cut off towards zero; the least by -1 stays.</summary>
    /// <param name="right">The right side, for every element.</param>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    /// <exception cref="NotSupportedException">The element is none of the ten types that <see cref="VectorMaths"/>
    /// calculates with.</exception>
    /// <exception cref="DivideByZeroException">An integer would be divided by zero; nothing has changed.</exception>
    public void VectorDivide(T right) => BufferViewMaths.Run<DivideOperation, T>(View, right);

    /// <summary>Divides every element by that of another buffer. Integers are cut off towards zero; the least by -1
    /// stays.</summary>
    /// <param name="right">The right side: as long, and the same elements or none in common.</param>
    /// <exception cref="ObjectDisposedException">One of them was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ, or the sides overlap elsewhere than in
    /// place.</exception>
    /// <exception cref="NotSupportedException">The element is none of the ten types that <see cref="VectorMaths"/>
    /// calculates with.</exception>
    /// <exception cref="DivideByZeroException">An integer would be divided by zero; nothing has changed.</exception>
    public void VectorDivide(FixedBuffer<T> right) => BufferViewMaths.Run<DivideOperation, T>(View, right.View);

    /// <summary>Every element becomes the lesser of itself and one value. NaN if one is NaN; -0 is less than
    /// +0.</summary>
    /// <param name="right">The right side, for every element.</param>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    /// <exception cref="NotSupportedException">The element is none of the ten types that <see cref="VectorMaths"/>
    /// calculates with.</exception>
    public void VectorMin(T right) => BufferViewMaths.Run<MinimumOperation, T>(View, right);

    /// <summary>Every element becomes the lesser of itself and that of another buffer. NaN if one is NaN; -0 is less
    /// than +0.</summary>
    /// <param name="right">The right side: as long, and the same elements or none in common.</param>
    /// <exception cref="ObjectDisposedException">One of them was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ, or the sides overlap elsewhere than in
    /// place.</exception>
    /// <exception cref="NotSupportedException">The element is none of the ten types that <see cref="VectorMaths"/>
    /// calculates with.</exception>
    public void VectorMin(FixedBuffer<T> right) => BufferViewMaths.Run<MinimumOperation, T>(View, right.View);

    /// <summary>Every element becomes the greater of itself and one value. NaN if one is NaN; +0 is more than
    /// -0.</summary>
    /// <param name="right">The right side, for every element.</param>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    /// <exception cref="NotSupportedException">The element is none of the ten types that <see cref="VectorMaths"/>
    /// calculates with.</exception>
    public void VectorMax(T right) => BufferViewMaths.Run<MaximumOperation, T>(View, right);

    /// <summary>Every element becomes the greater of itself and that of another buffer. NaN if one is NaN; +0 is more
    /// than -0.</summary>
    /// <param name="right">The right side: as long, and the same elements or none in common.</param>
    /// <exception cref="ObjectDisposedException">One of them was freed.</exception>
    /// <exception cref="ArgumentException">The lengths differ, or the sides overlap elsewhere than in
    /// place.</exception>
    /// <exception cref="NotSupportedException">The element is none of the ten types that <see cref="VectorMaths"/>
    /// calculates with.</exception>
    public void VectorMax(FixedBuffer<T> right) => BufferViewMaths.Run<MaximumOperation, T>(View, right.View);

    /// <summary>Every element becomes its square root. Integers: the greatest whose square is not more, and 0 of what
    /// is negative.</summary>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    /// <exception cref="NotSupportedException">The element is none of the ten types that <see cref="VectorMaths"/>
    /// calculates with.</exception>
    public void VectorSqrt() => BufferViewMaths.Run<SquareRootOperation, T>(View, default(T));

    /// <summary>The least element; NaN if one is NaN.</summary>
    /// <returns>The element.</returns>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    /// <exception cref="InvalidOperationException">There is no element.</exception>
    /// <exception cref="NotSupportedException">The element is none of the ten types that <see cref="VectorMaths"/>
    /// calculates with.</exception>
    public T VectorMin() => BufferViewMaths.Best<LeastOperation, T>(View);

    /// <summary>The greatest element; NaN if one is NaN.</summary>
    /// <returns>The element.</returns>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    /// <exception cref="InvalidOperationException">There is no element.</exception>
    /// <exception cref="NotSupportedException">The element is none of the ten types that <see cref="VectorMaths"/>
    /// calculates with.</exception>
    public T VectorMax() => BufferViewMaths.Best<GreatestOperation, T>(View);

    /// <summary>Whether every element is less than a bound; of nothing it is true.</summary>
    /// <param name="bound">What every element must be less than.</param>
    /// <param name="index">The first element that is not less, or is NaN; -1 when all are less.</param>
    /// <returns>Whether all are.</returns>
    /// <exception cref="ObjectDisposedException">It was freed, or never allocated.</exception>
    /// <exception cref="NotSupportedException">The element is none of the ten types that <see cref="VectorMaths"/>
    /// calculates with.</exception>
    public bool VectorLessThanAll(T bound, out int index)
    {
        bool all = BufferViewMaths.LessThanAll(View, bound, out long at);
        index = (int)at;
        return all;
    }
}
