// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Numerics;
using System.Runtime.CompilerServices;

namespace Tenure;

// Memory: jemalloc's own calls, with flags.
public static unsafe partial class Jem
{
    /// <summary>A flag: the memory, or what a larger block has beyond the earlier one, is all zero.</summary>
    public const int MallocxZero = 0x40;

    /// <summary>A flag: past the thread's cache. Over Tenure's heap a wish that changes nothing.</summary>
    public const int MallocxTcacheNone = 1 << 8;

    /// <summary>A flag: at multiples of an alignment.</summary>
    /// <param name="alignment">A power of two, in bytes.</param>
    /// <returns>To be combined with others by <c>|</c>.</returns>
    /// <exception cref="ArgumentOutOfRangeException">It is no power of two.</exception>
    public static int MallocxAlign(ulong alignment)
    {
        IfNoPowerOfTwo(alignment);
        return BitOperations.TrailingZeroCount(alignment);
    }

    /// <summary>A flag: at multiples of 2 to the power of <paramref name="exponent"/>.</summary>
    /// <param name="exponent">0 to 62.</param>
    /// <returns>To be combined with others by <c>|</c>.</returns>
    /// <exception cref="ArgumentOutOfRangeException">It is out of range.</exception>
    public static int MallocxLgAlign(int exponent)
    {
        IfOutside(exponent, 62);
        return exponent;
    }

    /// <summary>A flag: through a cache that was made by <c>tcache.create</c>. jemalloc only.</summary>
    /// <param name="cache">Its number.</param>
    /// <returns>To be combined with others by <c>|</c>.</returns>
    /// <exception cref="ArgumentOutOfRangeException">It is out of range.</exception>
    public static int MallocxTcache(int cache)
    {
        IfOutside(cache, 0xfff - 2);
        return (cache + 2) << 8;
    }

    /// <summary>A flag: from an arena, such as one that was made by <c>arenas.create</c>. jemalloc only.</summary>
    /// <param name="arena">Its number.</param>
    /// <returns>To be combined with others by <c>|</c>.</returns>
    /// <exception cref="ArgumentOutOfRangeException">It is out of range.</exception>
    public static int MallocxArena(int arena)
    {
        IfOutside(arena, 4094);
        return (arena + 1) << 20;
    }

    /// <summary>Allocates memory as the flags say.</summary>
    /// <param name="size">Bytes, at least one.</param>
    /// <param name="flags">Zero, or <c>Mallocx…</c> combined by <c>|</c>.</param>
    /// <returns>The memory.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The size is zero.</exception>
    /// <exception cref="JemallocUnavailableException">The flags name what only jemalloc has, and it is not there.</exception>
    /// <exception cref="OutOfMemoryException">Refused; nothing has changed.</exception>
    public static nint Mallocx(ulong size, int flags)
    {
        ArgumentOutOfRangeException.ThrowIfZero(size);
        return Made(
            JemallocSymbols.AreThere ? JemallocMethods.Mallocx((nuint)size, flags) : TenureMemory.Mallocx((nuint)size, flags), size);
    }

    /// <summary>Makes a block larger or smaller, perhaps elsewhere, as the flags say.</summary>
    /// <param name="ptr">Of this class.</param>
    /// <param name="size">Bytes, at least one.</param>
    /// <param name="flags">Zero, or <c>Mallocx…</c> combined by <c>|</c>.</param>
    /// <returns>The block; <paramref name="ptr"/> is no longer valid.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="ptr"/> is zero.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The size is zero.</exception>
    /// <exception cref="InvalidOperationException">The ledger is on, and the block is held or not in it.</exception>
    /// <exception cref="JemallocUnavailableException">The flags name what only jemalloc has, and it is not there.</exception>
    /// <exception cref="OutOfMemoryException">Refused; the block is as it was.</exception>
    public static nint Rallocx(nint ptr, ulong size, int flags)
    {
        IfZero(ptr);
        ArgumentOutOfRangeException.ThrowIfZero(size);
        if (JemLedger.WasUsed)
        {
            return JemLedger.Replace(ptr, size, flags);
        }
        return Made(
            JemallocSymbols.AreThere
                ? JemallocMethods.Rallocx((void*)ptr, (nuint)size, flags)
                : TenureMemory.Rallocx((void*)ptr, (nuint)size, flags),
            size);
    }

    /// <summary>Makes a block larger or smaller where it is, as far as that goes. Tenure's heap leaves it as it is.</summary>
    /// <param name="ptr">Of this class.</param>
    /// <param name="size">Bytes, at least one.</param>
    /// <param name="extra">So many more, if there is room.</param>
    /// <param name="flags">Zero, or <c>Mallocx…</c> combined by <c>|</c>.</param>
    /// <returns>How many bytes may be used now; less than <paramref name="size"/> when it could not grow.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="ptr"/> is zero.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The size is zero, or both together overflow.</exception>
    /// <exception cref="InvalidOperationException">The ledger is on, and the block is held or not in it.</exception>
    public static ulong Xallocx(nint ptr, ulong size, ulong extra, int flags)
    {
        IfZero(ptr);
        ArgumentOutOfRangeException.ThrowIfZero(size);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(extra, ulong.MaxValue - size);
        if (JemLedger.WasUsed)
        {
            JemLedger.IfHeld(ptr);
        }
        return JemallocSymbols.AreThere
            ? JemallocMethods.Xallocx((void*)ptr, (nuint)size, (nuint)extra, flags)
            : TenureMemory.Xallocx((void*)ptr, flags);
    }

    /// <summary>How many bytes of a block may be used.</summary>
    /// <param name="ptr">Of this class.</param>
    /// <param name="flags">Zero, or <c>Mallocx…</c> combined by <c>|</c>.</param>
    /// <returns>What was asked for, or more.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="ptr"/> is zero.</exception>
    public static ulong Sallocx(nint ptr, int flags)
    {
        IfZero(ptr);
        return JemallocSymbols.AreThere ? JemallocMethods.Sallocx((void*)ptr, flags) : TenureMemory.UsableSize((void*)ptr);
    }

    /// <summary>Gives a block back, as the flags say.</summary>
    /// <param name="ptr">Of this class.</param>
    /// <param name="flags">Zero, or <c>Mallocx…</c> combined by <c>|</c>.</param>
    /// <exception cref="ArgumentNullException"><paramref name="ptr"/> is zero.</exception>
    /// <exception cref="InvalidOperationException">The ledger is on, and the block is held or not in it.</exception>
    public static void Dallocx(nint ptr, int flags)
    {
        IfZero(ptr);
        if (JemLedger.WasUsed || !JemallocSymbols.AreThere)
        {
            Free(ptr);
        }
        else
        {
            JemallocMethods.Dallocx((void*)ptr, flags);
        }
    }

    /// <summary>Gives a block back whose size is known.</summary>
    /// <param name="ptr">Of this class.</param>
    /// <param name="size">Between what was asked for and <see cref="Sallocx"/>. jemalloc takes the caller's word for it;
    /// Tenure's heap and the ledger look.</param>
    /// <param name="flags">Zero, or <c>Mallocx…</c> combined by <c>|</c>.</param>
    /// <exception cref="ArgumentNullException"><paramref name="ptr"/> is zero.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The block has not so many bytes; nothing has changed.</exception>
    /// <exception cref="InvalidOperationException">The ledger is on, and the block is held or not in it.</exception>
    public static void Sdallocx(nint ptr, ulong size, int flags)
    {
        IfZero(ptr);
        if (!JemLedger.WasUsed && JemallocSymbols.AreThere)
        {
            JemallocMethods.Sdallocx((void*)ptr, (nuint)size, flags);
            return;
        }
        if (JemLedger.WasUsed)
        {
            JemLedger.IfHeld(ptr);
        }
        ArgumentOutOfRangeException.ThrowIfGreaterThan(size, MallocUsableSize(ptr));
        Free(ptr);
    }

    /// <summary>How many bytes could be used of a block that <see cref="Mallocx"/> would make. Tenure's heap makes one to see.</summary>
    /// <param name="size">Bytes, at least one.</param>
    /// <param name="flags">Zero, or <c>Mallocx…</c> combined by <c>|</c>.</param>
    /// <returns>Zero when no such block can be.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The size is zero.</exception>
    public static ulong Nallocx(ulong size, int flags)
    {
        ArgumentOutOfRangeException.ThrowIfZero(size);
        return JemallocSymbols.AreThere ? JemallocMethods.Nallocx((nuint)size, flags) : TenureMemory.Nallocx((nuint)size, flags);
    }

    private static void IfZero(nint ptr, [CallerArgumentExpression(nameof(ptr))] string name = "") =>
        ArgumentNullException.ThrowIfNull((void*)ptr, name);

    private static void IfOutside(int number, int most, [CallerArgumentExpression(nameof(number))] string name = "")
    {
        if ((uint)number > (uint)most)
        {
            throw new ArgumentOutOfRangeException(name, number, $"From 0 to {most}.");
        }
    }
}
