// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Tenure;

// Memory: the calls that C has.
public static unsafe partial class Jem
{
    /// <summary>Allocates memory, not initialised.</summary>
    /// <param name="size">Bytes; zero counts as one.</param>
    /// <returns>At a multiple of 16, or of 8 when it is smaller than 16 bytes.</returns>
    /// <exception cref="OutOfMemoryException">Refused; nothing has changed.</exception>
    public static nint Malloc(ulong size) => Made(
        JemallocSymbols.AreThere ? JemallocMethods.Malloc((nuint)size) : Native.TryAllocate((nuint)size, Lifetime.Persistent), size);

    /// <summary>Allocates memory, all zero.</summary>
    /// <param name="num">How many.</param>
    /// <param name="size">Bytes of each.</param>
    /// <returns>At a multiple of 16, or of 8 when it is smaller than 16 bytes.</returns>
    /// <exception cref="OutOfMemoryException">Refused, or the product overflows; nothing has changed.</exception>
    public static nint Calloc(ulong num, ulong size) => Made(
        JemallocSymbols.AreThere ? JemallocMethods.Calloc((nuint)num, (nuint)size) : TenureMemory.Calloc((nuint)num, (nuint)size),
        unchecked(num * size));

    /// <summary>Allocates memory at a multiple of an alignment, not initialised. Says what is wrong as C does.</summary>
    /// <param name="memptr">Where the address goes; not written to when refused.</param>
    /// <param name="alignment">A power of two, and at least 8.</param>
    /// <param name="size">Bytes; zero counts as one.</param>
    /// <returns>0; 22 (EINVAL) for an alignment that is none; 12 (ENOMEM) when refused.</returns>
    /// <exception cref="ArgumentNullException">There is no place for the address.</exception>
    public static int PosixMemalign(void** memptr, ulong alignment, ulong size)
    {
        ArgumentNullException.ThrowIfNull(memptr);
        void* block = null;
        int error = JemallocSymbols.AreThere
            ? JemallocMethods.PosixMemalign(&block, (nuint)alignment, (nuint)size)
            : TenureMemory.PosixMemalign(&block, (nuint)alignment, (nuint)size);
        if (error == 0)
        {
            *memptr = (void*)Made(block, size);
        }
        return error;
    }

    /// <summary>Allocates memory at a multiple of an alignment, not initialised. Says what is wrong as C does.</summary>
    /// <param name="block">The memory; zero when refused.</param>
    /// <param name="alignment">A power of two, and at least 8.</param>
    /// <param name="size">Bytes; zero counts as one.</param>
    /// <returns>0; 22 (EINVAL) for an alignment that is none; 12 (ENOMEM) when refused.</returns>
    public static int PosixMemalign(out nint block, ulong alignment, ulong size)
    {
        void* made = null;
        int error = PosixMemalign(&made, alignment, size);
        block = (nint)made;
        return error;
    }

    /// <summary>Allocates memory at a multiple of an alignment, not initialised.</summary>
    /// <param name="alignment">A power of two, in bytes. It stands before the size, as in jemalloc.</param>
    /// <param name="size">Bytes; zero counts as one.</param>
    /// <returns>The memory.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The alignment is no power of two.</exception>
    /// <exception cref="OutOfMemoryException">Refused; nothing has changed.</exception>
    public static nint AlignedAlloc(ulong alignment, ulong size)
    {
        IfNoPowerOfTwo(alignment);
        return Made(
            JemallocSymbols.AreThere
                ? JemallocMethods.AlignedAlloc((nuint)alignment, (nuint)size)
                : TenureMemory.AlignedAlloc((nuint)alignment, (nuint)size),
            size);
    }

    /// <summary>Makes a block larger or smaller, perhaps elsewhere; its contents are kept up to the smaller size.</summary>
    /// <param name="ptr">Of this class; zero allocates.</param>
    /// <param name="size">Bytes; zero counts as one, and frees nothing.</param>
    /// <returns>The block; <paramref name="ptr"/> is no longer valid.</returns>
    /// <exception cref="OutOfMemoryException">Refused; the block is as it was.</exception>
    /// <exception cref="InvalidOperationException">The ledger is on, and the block is held or not in it.</exception>
    public static nint Realloc(nint ptr, ulong size)
    {
        size = Math.Max(size, 1);
        if (ptr != 0 && JemLedger.WasUsed)
        {
            return JemLedger.Replace(ptr, size, 0);
        }
        return Made(
            JemallocSymbols.AreThere
                ? JemallocMethods.Realloc((void*)ptr, (nuint)size)
                : TenureMemory.Realloc((void*)ptr, (nuint)size),
            size);
    }

    /// <summary>Gives a block back, whichever call of this class it came from.</summary>
    /// <param name="ptr">The block.</param>
    /// <returns>True; false for zero, which is allowed.</returns>
    /// <exception cref="InvalidOperationException">The ledger is on, and the block is held or not in it: freed before, or
    /// never allocated. Nothing has changed.</exception>
    public static bool Free(nint ptr)
    {
        if (ptr == 0)
        {
            return false;
        }
        if (JemLedger.WasUsed)
        {
            JemLedger.Free(ptr);
        }
        else
        {
            GiveBack((void*)ptr);
        }
        return true;
    }

    /// <summary>How many bytes of a block may be used.</summary>
    /// <param name="ptr">Of this class; zero is allowed.</param>
    /// <returns>What was asked for, or more; zero for zero.</returns>
    public static ulong MallocUsableSize(nint ptr) =>
        JemallocSymbols.AreThere ? JemallocMethods.MallocUsableSize((void*)ptr) : TenureMemory.UsableSize((void*)ptr);

    /// <summary>Past the ledger.</summary>
    internal static void GiveBack(void* block)
    {
        if (JemallocSymbols.AreThere)
        {
            JemallocMethods.Free(block);
        }
        else
        {
            Native.Deallocate(block, Lifetime.Persistent);
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static nint Made(void* block, ulong size)
    {
        if (block == null)
        {
            ThrowRefused(size);
        }
        if (JemLedger.IsOn)
        {
            JemLedger.Enter((nint)block, size);
        }
        return (nint)block;
    }

    [DoesNotReturn]
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void ThrowRefused(ulong size) =>
        throw new OutOfMemoryException($"{size} bytes were refused by {(JemallocSymbols.AreThere ? "jemalloc" : "Tenure's heap")}; nothing has changed.");

    private static void IfNoPowerOfTwo(ulong alignment)
    {
        if (!ulong.IsPow2(alignment))
        {
            throw new ArgumentOutOfRangeException(nameof(alignment), alignment, "An alignment is a power of two, in bytes.");
        }
    }
}
