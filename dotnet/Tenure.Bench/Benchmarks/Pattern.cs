// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tenure.Bench;

/// <summary>Writes and checks the fill pattern: every byte is 0x5A, which no allocator writes.</summary>
internal static unsafe class Pattern
{
    private const byte Byte = 0x5A;

    /// <summary>The maximum number of elements per span; longer memory needs several spans.</summary>
    private const int MaxOfSpan = 1 << 30;

    internal static T Of<T>()
        where T : unmanaged
    {
        T value;
        Unsafe.InitBlock(&value, Byte, (uint)sizeof(T));
        return value;
    }

    /// <summary>Fills memory of any length with plain spans.</summary>
    internal static void Fill<T>(T* begin, long count, T value)
        where T : unmanaged
    {
        while (count > 0)
        {
            int taken = (int)long.Min(count, MaxOfSpan);
            new Span<T>(begin, taken).Fill(value);
            begin += taken;
            count -= taken;
        }
    }

    /// <summary>Checks the last element, which also prevents the compiler from removing the writes.</summary>
    internal static void CheckLast<T>(T last)
        where T : unmanaged
    {
        if (*(byte*)&last != Byte)
        {
            Fail();
        }
    }

    /// <summary>Checks about a thousand positions and both ends; throws if one of them is not
    /// <paramref name="value"/>.</summary>
    internal static void Check<T>(T* begin, long count, T value)
        where T : unmanaged
    {
        long step = long.Max(1, count / 1021);
        ReadOnlySpan<byte> wanted = new(&value, sizeof(T));
        for (long i = 0; i < count; i += step)
        {
            CheckOne(begin + i, wanted);
        }
        CheckOne(begin + count - 1, wanted);
    }

    internal static void Check<T>(T[] values, T value)
        where T : unmanaged
    {
        fixed (T* begin = values)
        {
            Check(begin, values.Length, value);
        }
    }

    internal static T* Allocate<T>(long count)
        where T : unmanaged => (T*)NativeMemory.Alloc((nuint)count, (nuint)sizeof(T));

    /// <summary>Allocates at a multiple of 64, as buffers do. Free it with NativeMemory.AlignedFree.</summary>
    internal static T* AllocateAligned<T>(long count)
        where T : unmanaged => (T*)NativeMemory.AlignedAlloc((nuint)count * (nuint)sizeof(T), BufferOptions.DefaultAlignment);

    private static void CheckOne<T>(T* element, ReadOnlySpan<byte> wanted)
        where T : unmanaged
    {
        if (!wanted.SequenceEqual(new ReadOnlySpan<byte>(element, sizeof(T))))
        {
            Fail();
        }
    }

    private static void Fail() => throw new InvalidOperationException("The memory does not contain the written values.");
}
