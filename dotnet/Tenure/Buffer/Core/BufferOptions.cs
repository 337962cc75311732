// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Numerics;

namespace Tenure;

/// <summary>What fresh memory contains.</summary>
public enum AllocationFill
{
    /// <summary>Zeros.</summary>
    Zero,

    /// <summary>Whatever it is: for what is written in full before it is read. Saves the cost of one write.</summary>
    Unwritten,
}

/// <summary>How a buffer gets its memory. A default one: zeros, at multiples of 64.</summary>
public readonly record struct BufferOptions
{
    /// <summary>What a buffer is aligned to when nothing is said: a cache line, and the widest vector.</summary>
    public const int DefaultAlignment = 64;

    /// <summary>Bytes that the first element's address is a multiple of: a power of two, 1 to 2^30. 0 stands for
    /// 64.</summary>
    public int Alignment { get; init; }

    /// <summary>What the memory contains.</summary>
    public AllocationFill Fill { get; init; }

    internal int AlignmentOrDefault => Alignment == 0 ? DefaultAlignment : Alignment;

    internal void Check(string parameter)
    {
        if (Alignment < 0 || (Alignment != 0 && !BitOperations.IsPow2(Alignment)))
        {
            throw new ArgumentException($"An alignment is a power of two, in bytes; this is {Alignment}.", parameter);
        }
        if (Fill is not AllocationFill.Zero and not AllocationFill.Unwritten)
        {
            throw new ArgumentException("Memory is filled with zeros or unwritten.", parameter);
        }
    }
}
