// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure;

/// <summary>A vector of some width: what the loops of <see cref="VectorMaths"/> are written in, once for all
/// widths.</summary>
/// <remarks>
/// The three structs below hold one hardware vector each, and every member is one of its operations, so that a loop
/// over them compiles to what it would be if it named the vector itself.
/// </remarks>
internal interface ILanes<TSelf, T>
    where TSelf : struct, ILanes<TSelf, T>
    where T : unmanaged
{
    static abstract int Count { get; }
    static abstract TSelf All(T value);
    static abstract unsafe TSelf Load(T* source);
    static abstract unsafe void Store(TSelf value, T* destination);
    static abstract TSelf operator +(TSelf left, TSelf right);
    static abstract TSelf operator -(TSelf left, TSelf right);
    static abstract TSelf operator *(TSelf left, TSelf right);
    static abstract TSelf operator /(TSelf left, TSelf right);
    static abstract TSelf Min(TSelf left, TSelf right);
    static abstract TSelf Max(TSelf left, TSelf right);
    static abstract TSelf Sqrt(TSelf value);

    /// <summary>A lane's bits are all set where it holds, else none.</summary>
    static abstract TSelf Equal(TSelf left, TSelf right);
    static abstract TSelf Less(TSelf left, TSelf right);
    static abstract TSelf LessOrEqual(TSelf left, TSelf right);
    static abstract TSelf operator &(TSelf left, TSelf right);
    static abstract TSelf operator |(TSelf left, TSelf right);

    /// <summary>One bit for each byte of what a comparison gave, the first byte lowest.</summary>
    static abstract ulong Bits(TSelf mask);

    /// <summary>One more in each lane, of four or eight bytes, that the comparison holds for.</summary>
    static abstract TSelf CountUp(TSelf counts, TSelf mask);

    /// <summary>The counts of all lanes.</summary>
    static abstract ulong Total(TSelf counts);

    /// <summary>The lanes added as a tree: lane j and lane j + half, halving until one is left.</summary>
    static abstract T Tree(TSelf value);
}
