// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;

namespace Tenure;

/// <summary>Converts short ASCII text from UTF-16: the literals and words of records, for which a call of the runtime's
/// conversion takes longer than its work.</summary>
internal static class AsciiText
{
    private const int MaxChars = 64; // beyond it, the runtime's wider vectors are faster
    private const ulong NotAscii = 0xFF80_FF80_FF80_FF80;

    /// <summary>Converts the text. Requires as much room as the text has characters.</summary>
    /// <returns>False if the text is too long or not ASCII; some of the room was then written.</returns>
    internal static bool TryNarrow(ReadOnlySpan<char> text, Span<byte> room)
    {
        ref ushort from = ref Unsafe.As<char, ushort>(ref MemoryMarshal.GetReference(text));
        ref byte to = ref MemoryMarshal.GetReference(room);
        nuint length = (uint)text.Length;
        if (length > MaxChars)
        {
            return false;
        }
        if (length >= 8)
        {
            Vector128<ushort> all = default;
            for (nuint i = 0; i < length - 8; i += 8)
            {
                all |= NarrowEight(ref from, ref to, i);
            }
            all |= NarrowEight(ref from, ref to, length - 8); // may write some characters again
            return (all & Vector128.Create((ushort)0xFF80)) == Vector128<ushort>.Zero;
        }
        if (length >= 4)
        {
            ulong first = Four(ref from, 0), last = Four(ref from, length - 4);
            Unsafe.WriteUnaligned(ref to, NarrowFour(first));
            Unsafe.WriteUnaligned(ref Unsafe.Add(ref to, length - 4), NarrowFour(last));
            return ((first | last) & NotAscii) == 0;
        }
        uint seen = 0;
        for (nuint i = 0; i < length; i++)
        {
            uint letter = Unsafe.Add(ref from, i);
            Unsafe.Add(ref to, i) = (byte)letter;
            seen |= letter;
        }
        return seen < 0x80;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector128<ushort> NarrowEight(ref ushort from, ref byte to, nuint at)
    {
        Vector128<ushort> letters = Vector128.LoadUnsafe(ref from, at);
        Vector128.Narrow(letters, letters).GetLower().StoreUnsafe(ref to, at);
        return letters;
    }

    private static ulong Four(ref ushort from, nuint at) =>
        Unsafe.ReadUnaligned<ulong>(ref Unsafe.As<ushort, byte>(ref Unsafe.Add(ref from, at)));

    /// <summary>Keeps the low byte of each of four characters.</summary>
    private static uint NarrowFour(ulong letters)
    {
        letters &= 0x00FF_00FF_00FF_00FF;
        letters = (letters | letters >> 8) & 0x0000_FFFF_0000_FFFF;
        return (uint)(letters | letters >> 16);
    }
}
