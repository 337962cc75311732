// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Numerics;
using System.Runtime.CompilerServices;

namespace Tenure;

// Memory: jemalloc's own calls, with flags.
public static unsafe partial class Jem
{
    /// <summary>A flag: the memory, or the part added to a reallocated block, is zeroed.</summary>
    public const int MallocxZero = 0x40;

    /// <summary>A flag: bypasses the thread's cache. Has no effect on Tenure's heap.</summary>
    public const int MallocxTcacheNone = 1 << 8;

    /// <summary>Gets the flag for an alignment.</summary>
    /// <param name="alignment">The alignment in bytes, a power of two.</param>
    /// <returns>A flag to combine with others by <c>|</c>.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The alignment is not a power of two.</exception>
    public static int MallocxAlign(ulong alignment)
    {
        IfNoPowerOfTwo(alignment);
        return BitOperations.TrailingZeroCount(alignment);
    }

    /// <summary>Gets the flag for an alignment of 2 to the power of <paramref name="exponent"/>.</summary>
    /// <param name="exponent">The exponent, 0 to 62.</param>
    /// <returns>A flag to combine with others by <c>|</c>.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The value is out of range.</exception>
    public static int MallocxLgAlign(int exponent)
    {
        IfOutside(exponent, 62);
        return exponent;
    }

    /// <summary>Gets the flag for a cache created by <c>tcache.create</c>. jemalloc only.</summary>
    /// <param name="cache">The number of the cache.</param>
    /// <returns>A flag to combine with others by <c>|</c>.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The value is out of range.</exception>
    public static int MallocxTcache(int cache)
    {
        IfOutside(cache, 0xfff - 2);
        return (cache + 2) << 8;
    }

    /// <summary>Gets the flag for an arena, such as one created by <c>arenas.create</c>. jemalloc only.</summary>
    /// <param name="arena">The number of the arena.</param>
    /// <returns>A flag to combine with others by <c>|</c>.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The value is out of range.</exception>
    public static int MallocxArena(int arena)
    {
        IfOutside(arena, 4094);
        return (arena + 1) << 20;
    }

    /// <summary>Allocates memory with flags.</summary>
    /// <param name="size">The size in bytes, at least one.</param>
    /// <param name="flags">Zero, or <c>Mallocx…</c> flags combined by <c>|</c>.</param>
    /// <returns>The memory.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The size is zero.</exception>
    /// <exception cref="JemallocUnavailableException">The flags require jemalloc, and the process does not run on
    /// it.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    public static nint Mallocx(ulong size, int flags)
    {
        ArgumentOutOfRangeException.ThrowIfZero(size);
        return Made(
            JemallocSymbols.AreThere ? JemallocMethods.Mallocx((nuint)size, flags) : TenureMemory.Mallocx((nuint)size, flags), size);
    }

    /// <summary>Resizes a block with flags. The block may move.</summary>
    /// <param name="ptr">A block allocated by this class.</param>
    /// <param name="size">The size in bytes, at least one.</param>
    /// <param name="flags">Zero, or <c>Mallocx…</c> flags combined by <c>|</c>.</param>
    /// <returns>The block; <paramref name="ptr"/> is no longer valid.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="ptr"/> is zero.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The size is zero.</exception>
    /// <exception cref="InvalidOperationException">The ledger is on, and the block is held or not in the
    /// ledger.</exception>
    /// <exception cref="JemallocUnavailableException">The flags require jemalloc, and the process does not run on
    /// it.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory; the block is unchanged.</exception>
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

    /// <summary>Resizes a block in place, as far as possible. Tenure's heap leaves the block unchanged.</summary>
    /// <param name="ptr">A block allocated by this class.</param>
    /// <param name="size">The size in bytes, at least one.</param>
    /// <param name="extra">The number of extra bytes to add if there is room.</param>
    /// <param name="flags">Zero, or <c>Mallocx…</c> flags combined by <c>|</c>.</param>
    /// <returns>The number of usable bytes; less than <paramref name="size"/> if the block could not grow.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="ptr"/> is zero.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The size is zero, or the size plus the extra bytes
    /// overflows.</exception>
    /// <exception cref="InvalidOperationException">The ledger is on, and the block is held or not in the
    /// ledger.</exception>
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

    /// <summary>Gets the number of usable bytes in a block.</summary>
    /// <param name="ptr">A block allocated by this class.</param>
    /// <param name="flags">Zero, or <c>Mallocx…</c> flags combined by <c>|</c>.</param>
    /// <returns>The requested size or more.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="ptr"/> is zero.</exception>
    public static ulong Sallocx(nint ptr, int flags)
    {
        IfZero(ptr);
        return JemallocSymbols.AreThere ? JemallocMethods.Sallocx((void*)ptr, flags) : TenureMemory.UsableSize((void*)ptr);
    }

    /// <summary>Frees a block with flags.</summary>
    /// <param name="ptr">A block allocated by this class.</param>
    /// <param name="flags">Zero, or <c>Mallocx…</c> flags combined by <c>|</c>.</param>
    /// <exception cref="ArgumentNullException"><paramref name="ptr"/> is zero.</exception>
    /// <exception cref="InvalidOperationException">The ledger is on, and the block is held or not in the
    /// ledger.</exception>
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

    /// <summary>Frees a block of known size.</summary>
    /// <param name="ptr">A block allocated by this class.</param>
    /// <param name="size">A size between the requested one and <see cref="Sallocx"/>. jemalloc does not check it;
    /// Tenure's heap and the ledger do.</param>
    /// <param name="flags">Zero, or <c>Mallocx…</c> flags combined by <c>|</c>.</param>
    /// <exception cref="ArgumentNullException"><paramref name="ptr"/> is zero.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The block is smaller than the size; nothing has
    /// changed.</exception>
    /// <exception cref="InvalidOperationException">The ledger is on, and the block is held or not in the
    /// ledger.</exception>
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

    /// <summary>Gets the usable size of a block that <see cref="Mallocx"/> would return. Tenure's heap allocates a
    /// block to find out. Its blocks between guard pages, one in some thousands, have exactly the requested size: ask
    /// <see cref="Sallocx"/> before you use more of a block than you requested.</summary>
    /// <param name="size">The size in bytes, at least one.</param>
    /// <param name="flags">Zero, or <c>Mallocx…</c> flags combined by <c>|</c>.</param>
    /// <returns>The size in bytes; zero if no such block can be allocated.</returns>
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
            throw new ArgumentOutOfRangeException(name, number, $"The value must be from 0 to {most}.");
        }
    }
}
