// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure;

/// <summary>A vector of some width. The loops of <see cref="VectorMaths"/> use this interface and are written once for
/// all widths.</summary>
/// <remarks>Each of the three implementing structs holds one hardware vector, and each member is one vector operation.
/// A loop over them compiles to the same code as one that names the vector type.</remarks>
internal interface ILanes<TSelf, T>
    where TSelf : struct, ILanes<TSelf, T>
    where T : unmanaged
{
    static abstract int Count { get; }
    static abstract TSelf All(T value);
    static abstract unsafe TSelf Load(T* source);
    static abstract unsafe void Store(TSelf value, T* destination);

    /// <summary>Stores past the caches. Requires an aligned destination.</summary>
    static abstract unsafe void Stream(TSelf value, T* destination);
    static abstract TSelf operator +(TSelf left, TSelf right);
    static abstract TSelf operator -(TSelf left, TSelf right);
    static abstract TSelf operator *(TSelf left, TSelf right);
    static abstract TSelf operator /(TSelf left, TSelf right);
    static abstract TSelf Min(TSelf left, TSelf right);
    static abstract TSelf Max(TSelf left, TSelf right);
    static abstract TSelf Sqrt(TSelf value);

    /// <summary>Sets all bits of a lane where the comparison is true, and none otherwise.</summary>
    static abstract TSelf Equal(TSelf left, TSelf right);
    static abstract TSelf Less(TSelf left, TSelf right);
    static abstract TSelf LessOrEqual(TSelf left, TSelf right);
    static abstract TSelf operator &(TSelf left, TSelf right);
    static abstract TSelf operator |(TSelf left, TSelf right);

    /// <summary>Returns one bit per byte of a comparison result, with the first byte in the lowest bit.</summary>
    static abstract ulong Bits(TSelf mask);

    /// <summary>Adds one to each lane, of four or eight bytes, for which the comparison is true.</summary>
    static abstract TSelf CountUp(TSelf counts, TSelf mask);

    /// <summary>Adds the counts of all lanes.</summary>
    static abstract ulong Total(TSelf counts);

    /// <summary>Adds the lanes as a tree: lane j plus lane j + half, halving until one lane is left.</summary>
    static abstract T Tree(TSelf value);
}
