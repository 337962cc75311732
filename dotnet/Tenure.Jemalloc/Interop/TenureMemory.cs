// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System.Runtime.InteropServices;

namespace Tenure;

/// <summary>Implements jemalloc's calls on Tenure's heap.</summary>
internal static unsafe class TenureMemory
{
    private const int InvalidArgument = 22, OutOfMemory = 12;

    internal static void* Calloc(nuint count, nuint size)
    {
        NativeLibraryCheck.Ensure();
        return NativeMethods.tn_calloc(count, size);
    }

    internal static void* Realloc(void* block, nuint size)
    {
        NativeLibraryCheck.Ensure();
        return NativeMethods.tn_realloc(block, size);
    }

    internal static void* AlignedAlloc(nuint alignment, nuint size)
    {
        NativeLibraryCheck.Ensure();
        return NativeMethods.tn_aligned_alloc(size, alignment);
    }

    internal static int PosixMemalign(void** block, nuint alignment, nuint size)
    {
        if (alignment < (nuint)sizeof(void*) || !nuint.IsPow2(alignment))
        {
            return InvalidArgument;
        }
        void* made = AlignedAlloc(alignment, size);
        if (made == null)
        {
            return OutOfMemory;
        }
        *block = made;
        return 0;
    }

    internal static nuint UsableSize(void* block)
    {
        NativeLibraryCheck.Ensure();
        return NativeMethods.tn_usable_size(block);
    }

    internal static void* Mallocx(nuint size, int flags)
    {
        nuint alignment = Alignment(flags);
        void* block = AlignedAlloc(alignment, size);
        if (block != null && (flags & Jem.MallocxZero) != 0)
        {
            NativeMemory.Clear(block, size);
        }
        return block;
    }

    internal static void* Rallocx(void* block, nuint size, int flags)
    {
        nuint alignment = Alignment(flags), before = UsableSize(block);
        void* made = NativeMethods.tn_aligned_realloc(block, size, alignment);
        // As in jemalloc: the block's previous usable size counts as contents, and only what is added is zeroed.
        if (made != null && size > before && (flags & Jem.MallocxZero) != 0)
        {
            NativeMemory.Clear((byte*)made + before, size - before);
        }
        return made;
    }

    /// <summary>The heap does not resize in place, so the size stays; callers must handle that result.</summary>
    internal static nuint Xallocx(void* block, int flags)
    {
        Alignment(flags);
        return UsableSize(block);
    }

    /// <summary>Measures a block allocated for this purpose, since the heap's size rounding is internal.</summary>
    internal static nuint Nallocx(nuint size, int flags)
    {
        void* block = AlignedAlloc(Alignment(flags), size);
        nuint usable = block == null ? 0 : UsableSize(block);
        Native.Deallocate(block, Lifetime.Persistent);
        return usable;
    }

    /// <summary>Gets the alignment from the flags; rejects flags that name jemalloc's arenas or caches.</summary>
    internal static nuint Alignment(int flags)
    {
        const int arenaShift = 20, cacheShift = 8, cacheMask = 0xfff, automatic = 0, none = 1;
        int cache = flags >> cacheShift & cacheMask;
        if (flags >>> arenaShift != 0)
        {
            throw new JemallocUnavailableException("The flags name an arena, and Tenure's heap has none. Use the class NativeHeap for a separate heap.");
        }
        if (cache is not automatic and not none)
        {
            throw new JemallocUnavailableException("The flags name a thread cache, and Tenure's heap manages one cache per thread itself.");
        }
        int shift = flags & 0x3f;
        return shift == 0 ? Native.DefaultAlignment : (nuint)1 << shift;
    }
}
