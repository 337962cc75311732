// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.InteropServices;

namespace Tenure;

public static unsafe partial class Native
{
    /// <summary>Allocates zeroed memory.</summary>
    /// <remarks>Persistent: memory that the system provides already zeroed is not written again.</remarks>
    /// <param name="bytes">The size in bytes; zero counts as one.</param>
    /// <param name="lifetime">How long the memory is held.</param>
    /// <param name="alignment">The alignment in bytes, a power of two.</param>
    /// <returns>The block; see <see cref="Allocate(nuint, Lifetime, nuint)"/>.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The alignment is not a power of two, or the lifetime is not
    /// valid.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    public static void* AllocateZeroed(nuint bytes, Lifetime lifetime, nuint alignment = DefaultAlignment)
    {
        Throw.UnlessLifetime(lifetime);
        Throw.UnlessPowerOfTwo(alignment);
        if (lifetime != Lifetime.Persistent || alignment > DefaultAlignment)
        {
            void* cleared = Allocate(bytes, lifetime, alignment);
            NativeMemory.Clear(cleared, bytes);
            return cleared;
        }
        NativeLibraryCheck.Ensure();
        void* block = NativeMethods.tn_calloc(1, bytes);
        if (block == null)
        {
            Throw.Refused(bytes, "Lifetime.Persistent");
        }
        return block;
    }

    /// <summary>Resizes a persistent block, in place if possible.</summary>
    /// <remarks>Contents are kept up to the smaller size; added memory is not initialized. Blocks larger than 31 MiB
    /// grow without a copy.</remarks>
    /// <param name="block">A block of <see cref="Lifetime.Persistent"/> that is not deallocated; null allocates a new
    /// block.</param>
    /// <param name="bytes">The new size in bytes; zero counts as one.</param>
    /// <param name="alignment">The alignment in bytes, a power of two.</param>
    /// <returns>The block's new address. Do not use the old pointer.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The alignment is not a power of two.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory; the block is unchanged.</exception>
    public static void* Reallocate(void* block, nuint bytes, nuint alignment = DefaultAlignment)
    {
        void* moved = TryReallocate(block, bytes, alignment);
        if (moved == null)
        {
            Throw.Refused(bytes, "Lifetime.Persistent");
        }
        return moved;
    }

    /// <summary>Resizes a persistent block as <see cref="Reallocate"/> does, but returns null instead of throwing when
    /// out of memory.</summary>
    /// <param name="block">A block of <see cref="Lifetime.Persistent"/> that is not deallocated; null allocates a new
    /// block.</param>
    /// <param name="bytes">The new size in bytes; zero counts as one.</param>
    /// <param name="alignment">The alignment in bytes, a power of two.</param>
    /// <returns>The block's new address; null when out of memory, which leaves the block unchanged.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The alignment is not a power of two.</exception>
    public static void* TryReallocate(void* block, nuint bytes, nuint alignment = DefaultAlignment)
    {
        Throw.UnlessPowerOfTwo(alignment);
        NativeLibraryCheck.Ensure();
        return alignment <= DefaultAlignment
            ? NativeMethods.tn_realloc(block, bytes)
            : NativeMethods.tn_aligned_realloc(block, bytes, alignment);
    }

    /// <summary>Gets the number of usable bytes in a persistent block.</summary>
    /// <param name="block">A block of <see cref="Lifetime.Persistent"/> that is not deallocated; or null.</param>
    /// <returns>The requested size or more; zero for null.</returns>
    public static nuint UsableSize(void* block)
    {
        NativeLibraryCheck.Ensure();
        return NativeMethods.tn_usable_size(block);
    }

    /// <summary>Determines whether an address is inside memory of the process heap. Any address is allowed.</summary>
    /// <remarks>Cost: two loads and a native call; O(huge blocks) under a lock for an address in none of the heap's
    /// segments.</remarks>
    /// <param name="address">The address.</param>
    /// <returns><c>true</c> if it is; otherwise <c>false</c>.</returns>
    public static bool Owns(void* address)
    {
        NativeLibraryCheck.Ensure();
        return NativeMethods.tn_owns(address) != 0;
    }
}
