// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tenure;

/// <summary>A type's alignment, in bytes: a constant to the compiler.</summary>
internal static unsafe class AlignmentOf<T>
    where T : unmanaged
{
    internal static nuint Bytes
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => (nuint)(sizeof(Pair) - sizeof(T));
    }

#pragma warning disable CS0649, CA1823 // only its size is looked at
    [StructLayout(LayoutKind.Sequential)]
    private struct Pair
    {
        internal byte Before;
        internal T Value;
    }
#pragma warning restore CS0649, CA1823
}
