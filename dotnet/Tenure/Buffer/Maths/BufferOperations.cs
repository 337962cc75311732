// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System.Numerics;

namespace Tenure;

internal readonly unsafe struct AddOperation : IBufferOperation
{
    public static nuint Run<T>(T* left, T* right, nuint count, RightSide side)
        where T : unmanaged, INumber<T>
    {
        if (side == RightSide.Value)
        {
            VectorMaths.Add(left, *right, left, count);
        }
        else
        {
            VectorMaths.Add(left, right, left, count);
        }
        return 0;
    }
}

internal readonly unsafe struct SubtractOperation : IBufferOperation
{
    public static nuint Run<T>(T* left, T* right, nuint count, RightSide side)
        where T : unmanaged, INumber<T>
    {
        if (side == RightSide.Value)
        {
            VectorMaths.Subtract(left, *right, left, count);
        }
        else
        {
            VectorMaths.Subtract(left, right, left, count);
        }
        return 0;
    }
}

internal readonly unsafe struct MultiplyOperation : IBufferOperation
{
    public static nuint Run<T>(T* left, T* right, nuint count, RightSide side)
        where T : unmanaged, INumber<T>
    {
        if (side == RightSide.Value)
        {
            VectorMaths.Multiply(left, *right, left, count);
        }
        else
        {
            VectorMaths.Multiply(left, right, left, count);
        }
        return 0;
    }
}

internal readonly unsafe struct DivideOperation : IBufferOperation
{
    public static nuint Run<T>(T* left, T* right, nuint count, RightSide side)
        where T : unmanaged, INumber<T>
    {
        if (side == RightSide.Value)
        {
            VectorMaths.Divide(left, *right, left, count);
        }
        else
        {
            VectorMaths.Divide(left, right, left, count);
        }
        return 0;
    }
}

internal readonly unsafe struct MinimumOperation : IBufferOperation
{
    public static nuint Run<T>(T* left, T* right, nuint count, RightSide side)
        where T : unmanaged, INumber<T>
    {
        if (side == RightSide.Value)
        {
            VectorMaths.Minimum(left, *right, left, count);
        }
        else
        {
            VectorMaths.Minimum(left, right, left, count);
        }
        return 0;
    }
}

internal readonly unsafe struct MaximumOperation : IBufferOperation
{
    public static nuint Run<T>(T* left, T* right, nuint count, RightSide side)
        where T : unmanaged, INumber<T>
    {
        if (side == RightSide.Value)
        {
            VectorMaths.Maximum(left, *right, left, count);
        }
        else
        {
            VectorMaths.Maximum(left, right, left, count);
        }
        return 0;
    }
}

/// <summary>Uses only the left operand and ignores the right one.</summary>
internal readonly unsafe struct SquareRootOperation : IBufferOperation
{
    public static nuint Run<T>(T* left, T* right, nuint count, RightSide side)
        where T : unmanaged, INumber<T>
    {
        VectorMaths.SquareRoot(left, left, count);
        return 0;
    }
}

/// <summary>Writes the minimum element to the address of the right operand.</summary>
internal readonly unsafe struct LeastOperation : IBufferOperation
{
    public static nuint Run<T>(T* left, T* right, nuint count, RightSide side)
        where T : unmanaged, INumber<T>
    {
        *right = VectorMaths.Minimum(left, count);
        return 0;
    }
}

/// <summary>Writes the maximum element to the address of the right operand.</summary>
internal readonly unsafe struct GreatestOperation : IBufferOperation
{
    public static nuint Run<T>(T* left, T* right, nuint count, RightSide side)
        where T : unmanaged, INumber<T>
    {
        *right = VectorMaths.Maximum(left, count);
        return 0;
    }
}

/// <summary>Finds the first element that is not less than the bound; the count when all are less.</summary>
internal readonly unsafe struct NotLessOperation : IBufferOperation
{
    public static nuint Run<T>(T* left, T* right, nuint count, RightSide side)
        where T : unmanaged, INumber<T>
    {
        return VectorMaths.Find(left, Comparison.Less, *right, count, holds: false);
    }
}
