// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Tenure;

// Memory: the calls that C has.
public static unsafe partial class Jem
{
    /// <summary>Allocates uninitialized memory.</summary>
    /// <param name="size">The size in bytes; zero counts as one.</param>
    /// <returns>Memory at a multiple of 16, or of 8 if it is smaller than 16 bytes.</returns>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    public static nint Malloc(ulong size) => Made(
        JemallocSymbols.AreThere ? JemallocMethods.Malloc((nuint)size) : Native.TryAllocate((nuint)size, Lifetime.Persistent), size);

    /// <summary>Allocates zeroed memory.</summary>
    /// <param name="num">The number of elements.</param>
    /// <param name="size">The size of each element in bytes.</param>
    /// <returns>Memory at a multiple of 16, or of 8 if it is smaller than 16 bytes.</returns>
    /// <exception cref="OutOfMemoryException">There is not enough memory, or the product overflows; nothing has
    /// changed.</exception>
    public static nint Calloc(ulong num, ulong size) => Made(
        JemallocSymbols.AreThere ? JemallocMethods.Calloc((nuint)num, (nuint)size) : TenureMemory.Calloc((nuint)num, (nuint)size),
        unchecked(num * size));

    /// <summary>Allocates uninitialized memory with an alignment. Reports errors by return value, as in C.</summary>
    /// <param name="memptr">The location that receives the address; not written on failure.</param>
    /// <param name="alignment">The alignment in bytes: a power of two of at least 8.</param>
    /// <param name="size">The size in bytes; zero counts as one.</param>
    /// <returns>0; 22 (EINVAL) if the alignment is not valid; 12 (ENOMEM) when out of memory.</returns>
    /// <exception cref="ArgumentNullException">The location for the address is null.</exception>
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

    /// <summary>Allocates uninitialized memory with an alignment. Reports errors by return value, as in C.</summary>
    /// <param name="block">The memory; zero on failure.</param>
    /// <param name="alignment">The alignment in bytes: a power of two of at least 8.</param>
    /// <param name="size">The size in bytes; zero counts as one.</param>
    /// <returns>0; 22 (EINVAL) if the alignment is not valid; 12 (ENOMEM) when out of memory.</returns>
    public static int PosixMemalign(out nint block, ulong alignment, ulong size)
    {
        void* made = null;
        int error = PosixMemalign(&made, alignment, size);
        block = (nint)made;
        return error;
    }

    /// <summary>Allocates uninitialized memory with an alignment.</summary>
    /// <param name="alignment">The alignment in bytes, a power of two. It comes before the size, as in
    /// jemalloc.</param>
    /// <param name="size">The size in bytes; zero counts as one.</param>
    /// <returns>The memory.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The alignment is not a power of two.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    public static nint AlignedAlloc(ulong alignment, ulong size)
    {
        IfNoPowerOfTwo(alignment);
        return Made(
            JemallocSymbols.AreThere
                ? JemallocMethods.AlignedAlloc((nuint)alignment, (nuint)size)
                : TenureMemory.AlignedAlloc((nuint)alignment, (nuint)size),
            size);
    }

    /// <summary>Resizes a block. The block may move; contents are kept up to the smaller size.</summary>
    /// <param name="ptr">A block allocated by this class; zero allocates.</param>
    /// <param name="size">The size in bytes; zero counts as one and does not free.</param>
    /// <returns>The block; <paramref name="ptr"/> is no longer valid.</returns>
    /// <exception cref="OutOfMemoryException">There is not enough memory; the block is unchanged.</exception>
    /// <exception cref="InvalidOperationException">The ledger is on, and the block is held or not in the
    /// ledger.</exception>
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

    /// <summary>Frees a block allocated by any method of this class.</summary>
    /// <param name="ptr">The block.</param>
    /// <returns><c>true</c>; <c>false</c> for zero, which is allowed.</returns>
    /// <exception cref="InvalidOperationException">The ledger is on, and the block is held or is not in the ledger
    /// because it was freed before or never allocated. Nothing has changed.</exception>
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

    /// <summary>Gets the number of usable bytes in a block.</summary>
    /// <param name="ptr">A block allocated by this class; zero is allowed.</param>
    /// <returns>The requested size or more; zero for zero.</returns>
    public static ulong MallocUsableSize(nint ptr) =>
        JemallocSymbols.AreThere ? JemallocMethods.MallocUsableSize((void*)ptr) : TenureMemory.UsableSize((void*)ptr);

    /// <summary>Frees a block without the ledger.</summary>
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
        throw new OutOfMemoryException($"{(JemallocSymbols.AreThere ? "jemalloc" : "Tenure's heap")} cannot allocate {size} bytes: out of memory. Nothing has changed. Free memory, or raise the memory limit.");

    private static void IfNoPowerOfTwo(ulong alignment)
    {
        if (!ulong.IsPow2(alignment))
        {
            throw new ArgumentOutOfRangeException(nameof(alignment), alignment, "The alignment must be a power of two.");
        }
    }
}
