// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure;

/// <summary>A position in an <see cref="Arena"/>: <see cref="Arena.Rewind"/> frees everything allocated after it. The
/// default value is not a valid position.</summary>
public readonly struct ArenaMarker
{
    internal readonly Arena? Owner;
    internal readonly NativeArenaMarker Place;
    internal readonly ulong Serial;

    internal ArenaMarker(Arena owner, in NativeArenaMarker place, ulong serial)
    {
        Owner = owner;
        Place = place;
        Serial = serial;
    }
}
