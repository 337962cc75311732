// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Numerics;

namespace Tenure;

/// <summary>Specifies the contents of newly allocated memory.</summary>
public enum AllocationFill
{
    /// <summary>Zeros.</summary>
    Zero,

    /// <summary>Undefined contents, for memory that is written completely before it is read. Saves the cost of one
    /// write.</summary>
    Unwritten,
}

/// <summary>Options for allocating a buffer. The default value: zeros, aligned to 64 bytes, persistent.</summary>
public readonly record struct BufferOptions
{
    /// <summary>The default alignment in bytes: a cache line and the widest vector.</summary>
    public const int DefaultAlignment = 64;

    private readonly uint _beforePersistent; // the distance to Persistent, which a default value has

    /// <summary>Gets the alignment of the first element in bytes: a power of two from 1 to 2^30. 0 means 64.</summary>
    public int Alignment { get; init; }

    /// <summary>Gets the contents of the memory.</summary>
    public AllocationFill Fill { get; init; }

    /// <summary>Gets how long the memory is held: <see cref="Tenure.Lifetime.Persistent"/>, the default, or
    /// <see cref="Tenure.Lifetime.TempJob"/>, which is reported as every block of TempJob if it is not freed within its
    /// frames.</summary>
    public Lifetime Lifetime
    {
        get => Lifetime.Persistent - _beforePersistent;
        init => _beforePersistent = Lifetime.Persistent - value;
    }

    internal int AlignmentOrDefault => Alignment == 0 ? DefaultAlignment : Alignment;

    internal void Check(string parameter)
    {
        if (Alignment < 0 || (Alignment != 0 && !BitOperations.IsPow2(Alignment)))
        {
            throw new ArgumentException($"The alignment is {Alignment} bytes, but must be a power of two.", parameter);
        }
        CollectionMemory.UnlessHeld(Lifetime, "Allocate a span with TempScope.Allocate.");
        if (Fill is not AllocationFill.Zero and not AllocationFill.Unwritten)
        {
            throw new ArgumentException("The fill must be Zero or Unwritten.", parameter);
        }
    }
}
