// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure;

/// <summary>What an <see cref="OffsetAllocator"/> returns; give it back as it is. The default one is none.</summary>
public readonly record struct OffsetRange
{
    private readonly uint _number; // one more than the id, so that zero is none

    /// <summary>A range as somebody kept it.</summary>
    /// <param name="offset">Where it begins.</param>
    /// <param name="id">The number of its record.</param>
    public OffsetRange(ulong offset, uint id)
    {
        Offset = offset;
        _number = unchecked(id + 1);
    }

    /// <summary>The range that is none.</summary>
    public static OffsetRange None => default;

    /// <summary>Where it begins, in the allocator's unit.</summary>
    public ulong Offset { get; }

    /// <summary>The number of its record; the largest number for none.</summary>
    public uint Id => unchecked(_number - 1);

    /// <summary>Whether it is none: what a refused request returns.</summary>
    public bool IsNone => _number == 0;
}
