// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure;

/// <summary>A range allocated by an <see cref="OffsetAllocator"/>; deallocate it unchanged. The default value is no
/// range.</summary>
public readonly record struct OffsetRange
{
    private readonly uint _number; // one more than the id, so that zero means no range

    /// <summary>Initializes a range from a stored offset and id.</summary>
    /// <param name="offset">The start of the range.</param>
    /// <param name="id">The number of its record.</param>
    public OffsetRange(ulong offset, uint id)
    {
        Offset = offset;
        _number = unchecked(id + 1);
    }

    /// <summary>Gets the value that is no range.</summary>
    public static OffsetRange None => default;

    /// <summary>Gets the start of the range, in the allocator's unit.</summary>
    public ulong Offset { get; }

    /// <summary>Gets the number of its record; the largest number if it is no range.</summary>
    public uint Id => unchecked(_number - 1);

    /// <summary>Gets a value indicating whether this is no range, as returned when there is no room.</summary>
    public bool IsNone => _number == 0;
}
