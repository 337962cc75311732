// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tenure;

/// <summary>The alignment of a type in bytes, which the compiler treats as a constant.</summary>
internal static unsafe class AlignmentOf<T>
    where T : unmanaged
{
    internal static nuint Bytes
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => (nuint)(sizeof(Pair) - sizeof(T));
    }

#pragma warning disable CS0649, CA1823 // only the size is used
    [StructLayout(LayoutKind.Sequential)]
    private struct Pair
    {
        internal byte Before;
        internal T Value;
    }
#pragma warning restore CS0649, CA1823
}
