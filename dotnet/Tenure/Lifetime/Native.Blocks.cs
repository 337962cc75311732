// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.InteropServices;

namespace Tenure;

public static unsafe partial class Native
{
    /// <summary>Allocates memory, all zero.</summary>
    /// <remarks>Persistent: memory that the system gave as zero is not written.</remarks>
    /// <param name="bytes">How much; zero counts as one.</param>
    /// <param name="lifetime">How long it is held.</param>
    /// <param name="alignment">A power of two, in bytes.</param>
    /// <returns>As <see cref="Allocate(nuint, Lifetime, nuint)"/>.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The alignment is no power of two, or the lifetime is
    /// none.</exception>
    /// <exception cref="OutOfMemoryException">The system refuses; nothing has changed.</exception>
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
            Throw.Refused(bytes, nameof(Lifetime.Persistent));
        }
        return block;
    }

    /// <summary>Makes a persistent block larger or smaller, where it is if that can be.</summary>
    /// <remarks>Contents are kept up to the smaller size; what comes to it is not initialised. Blocks past 31 MiB grow
    /// without a copy.</remarks>
    /// <param name="block">Of <see cref="Lifetime.Persistent"/>, not deallocated; null is allocated.</param>
    /// <param name="bytes">Its new size; zero counts as one.</param>
    /// <param name="alignment">A power of two, in bytes.</param>
    /// <returns>The block's begin from now on; the old pointer is not to be used any more.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The alignment is no power of two.</exception>
    /// <exception cref="OutOfMemoryException">The system refuses; the block is as it was.</exception>
    public static void* Reallocate(void* block, nuint bytes, nuint alignment = DefaultAlignment)
    {
        void* moved = TryReallocate(block, bytes, alignment);
        if (moved == null)
        {
            Throw.Refused(bytes, nameof(Lifetime.Persistent));
        }
        return moved;
    }

    /// <summary>As <see cref="Reallocate"/>, without an exception when it is refused.</summary>
    /// <param name="block">Of <see cref="Lifetime.Persistent"/>, not deallocated; null is allocated.</param>
    /// <param name="bytes">Its new size; zero counts as one.</param>
    /// <param name="alignment">A power of two, in bytes.</param>
    /// <returns>The block's begin from now on; null when refused, and then the block is as it was.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The alignment is no power of two.</exception>
    public static void* TryReallocate(void* block, nuint bytes, nuint alignment = DefaultAlignment)
    {
        Throw.UnlessPowerOfTwo(alignment);
        NativeLibraryCheck.Ensure();
        return alignment <= DefaultAlignment
            ? NativeMethods.tn_realloc(block, bytes)
            : NativeMethods.tn_aligned_realloc(block, bytes, alignment);
    }

    /// <summary>Bytes of a persistent block that may be used.</summary>
    /// <param name="block">Of <see cref="Lifetime.Persistent"/>, not deallocated; or null.</param>
    /// <returns>What was asked for, or more; zero for null.</returns>
    public static nuint UsableSize(void* block)
    {
        NativeLibraryCheck.Ensure();
        return NativeMethods.tn_usable_size(block);
    }

    /// <summary>Whether an address is inside memory of the process heap. Any may be asked for.</summary>
    /// <remarks>Cost two loads and a call; O(huge blocks) under a lock for what lies in none of the heap's
    /// segments.</remarks>
    /// <param name="address">Anything.</param>
    /// <returns>Whether it is.</returns>
    public static bool Owns(void* address)
    {
        NativeLibraryCheck.Ensure();
        return NativeMethods.tn_owns(address) != 0;
    }
}
