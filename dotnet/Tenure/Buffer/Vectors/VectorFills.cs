// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.InteropServices;

namespace Tenure;

/// <summary>Fills memory of any length, with elements of any type.</summary>
/// <remarks>Two ways, each where it is the faster one: the runtime's loop, and the C library's memset, if all bytes of
/// the value are equal and the memory may be in a cache. Stores past the caches are a third faster for memory that was
/// written before, and a sixth slower for new pages, which the system has just zeroed in a cache: so they are not
/// used.</remarks>
internal static unsafe class VectorFills
{
    private const nuint MemsetBytes = 4096;
    private const nuint MaxMemsetBytes = 16 << 20;
    private const nuint SpanCount = 1 << 30;

    internal static void Fill<T>(T* destination, T value, nuint count)
        where T : unmanaged
    {
        nuint size = (nuint)sizeof(T);
        if (count - MemsetBytes / size < (MaxMemsetBytes - MemsetBytes) / size && IsOneByte(&value, size))
        {
            NativeMemory.Fill(destination, count * size, *(byte*)&value);
        }
        else
        {
            FillSpans(destination, value, count);
        }
    }

    private static void FillSpans<T>(T* destination, T value, nuint count)
        where T : unmanaged
    {
        for (; count > SpanCount; count -= SpanCount, destination += SpanCount)
        {
            new Span<T>(destination, (int)SpanCount).Fill(value);
        }
        new Span<T>(destination, (int)count).Fill(value);
    }

    private static bool IsOneByte(void* value, nuint size) =>
        size == 1 || new ReadOnlySpan<byte>(value, (int)size).IndexOfAnyExcept(*(byte*)value) < 0;
}
