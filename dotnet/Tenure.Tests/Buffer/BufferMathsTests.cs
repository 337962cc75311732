// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Linq;
using System.Numerics;
using Xunit;

namespace Tenure.Tests;

/// <summary>That each method of a buffer calls the operation that it is named for; the operations have tests of their
/// own.</summary>
public sealed class BufferMathsTests
{
    private static void Check<T>()
        where T : unmanaged, INumber<T>
    {
        T[] left = [.. Enumerable.Range(1, 100).Select(i => T.CreateTruncating(i))], right = [.. left.Reverse()];
        T two = T.CreateTruncating(2), fifty = T.CreateTruncating(50);
        using FixedBuffer<T> buffer = new(left), other = new(right);
        using SafeArray<T> array = new(left), otherArray = new(right);
        using var huge = new HugeArray<T>(100, left);

        Both((b, o) => b.VectorAdd(o), (b, o) => b.VectorAdd(o), (x, y) => unchecked(x + y));
        Both((b, _) => b.VectorAdd(two), (b, _) => b.VectorAdd(two), (x, _) => unchecked(x + two));
        Both((b, o) => b.VectorSubtract(o), (b, o) => b.VectorSubtract(o), (x, y) => unchecked(x - y));
        Both((b, _) => b.VectorSubtract(two), (b, _) => b.VectorSubtract(two), (x, _) => unchecked(x - two));
        Both((b, o) => b.VectorMultiply(o), (b, o) => b.VectorMultiply(o), (x, y) => unchecked(x * y));
        Both((b, _) => b.VectorMultiply(two), (b, _) => b.VectorMultiply(two), (x, _) => unchecked(x * two));
        Both((b, o) => b.VectorDivide(o), (b, o) => b.VectorDivide(o), (x, y) => x / y);
        Both((b, _) => b.VectorDivide(two), (b, _) => b.VectorDivide(two), (x, _) => x / two);
        Both((b, o) => b.VectorMin(o), (b, o) => b.VectorMin(o), T.Min);
        Both((b, _) => b.VectorMin(fifty), (b, _) => b.VectorMin(fifty), (x, _) => T.Min(x, fifty));
        Both((b, o) => b.VectorMax(o), (b, o) => b.VectorMax(o), T.Max);
        Both((b, _) => b.VectorMax(fifty), (b, _) => b.VectorMax(fifty), (x, _) => T.Max(x, fifty));
        Both((b, _) => b.VectorFill(two), (b, _) => b.VectorFill(two), (_, _) => two);
        buffer.Fill(T.CreateTruncating(100));
        buffer.VectorSqrt();
        Assert.Equal(T.CreateTruncating(10), buffer[99]);
        Assert.Equal(T.One, huge.VectorMin());
        Assert.Equal(left[99], huge.VectorMax());
        Assert.False(huge.VectorLessThanAll(fifty, out long at));
        Assert.Equal(49, at);
        array.CopyFrom(left);
        Assert.True(array.VectorLessThanAll(T.CreateTruncating(101), out int index));
        Assert.Equal(-1, index);

        void Both(Action<FixedBuffer<T>, FixedBuffer<T>> ofFixed, Action<OwnedBuffer<T>, OwnedBuffer<T>> ofOwned, Func<T, T, T> definition)
        {
            T[] expected = [.. left.Zip(right, definition)];
            buffer.CopyFrom(left);
            array.CopyFrom(left);
            ofFixed(buffer, other);
            ofOwned(array, otherArray);
            Assert.Equal(expected, buffer.CopyToArray());
            Assert.Equal(expected, array.CopyToArray());
            Assert.Equal(0, buffer.RefCount + other.RefCount + array.RefCount + otherArray.RefCount);
        }
    }

    [Fact]
    public void each_method_calls_its_operation_for_each_of_the_ten_types()
    {
        Check<sbyte>();
        Check<byte>();
        Check<short>();
        Check<ushort>();
        Check<int>();
        Check<uint>();
        Check<long>();
        Check<ulong>();
        Check<float>();
        Check<double>();
    }

    [Fact]
    public void sums_of_integers_are_added_in_64_bits()
    {
        using FixedBuffer<byte> bytes = [255, 255, 1];
        using SafeArray<sbyte> signed = [-128, -128, 1];
        using HugeArray<int> ints = [int.MaxValue, int.MaxValue];
        using FixedBuffer<float> floats = [0.5f, 0.25f];
        Assert.Equal(511ul, bytes.VectorSum());
        Assert.Equal(-255L, signed.VectorSum());
        Assert.Equal(2L * int.MaxValue, ints.VectorSum());
        Assert.Equal(0.75f, floats.VectorSum());
        Assert.Equal((255ul * 255 * 2) + 1, bytes.VectorDot(bytes));
        Assert.Equal(32769L, signed.VectorDot(signed));
        Assert.Equal(2L * int.MaxValue * int.MaxValue, ints.VectorDot(ints));
        Assert.Equal(0.3125f, floats.VectorDot(floats));
    }

    [Fact]
    public void a_buffer_may_be_both_sides()
    {
        using FixedBuffer<int> buffer = [1, 2, 3];
        buffer.VectorAdd(buffer);
        buffer.VectorMultiply(buffer);
        Assert.Equal([4, 16, 36], buffer.CopyToArray());
    }
}
