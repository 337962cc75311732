// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.InteropServices;

namespace Tenure.Bench;

/// <summary>The owner of the blocks that a proof checks, which determines how it is queried.</summary>
internal enum BlockOwner
{
    /// <summary>The garbage collector, which counts the bytes allocated by the thread. It cannot be asked about a
    /// single object.</summary>
    Collector,

    /// <summary>The C library's malloc, which counts bytes: mallinfo2.</summary>
    CLibrary,

    /// <summary>jemalloc, which knows the arena of each block.</summary>
    Jemalloc,

    /// <summary>Tenure's process heap, which knows each block.</summary>
    Heap,

    /// <summary>The thread's Temp, which counts bytes.</summary>
    Temp,

    /// <summary>TempJob, which counts blocks.</summary>
    TempJob,
}

/// <summary>Queries the allocators.</summary>
internal static unsafe class BlockOwners
{
    /// <summary>Gets the name of the query function.</summary>
    internal static string QueryOf(BlockOwner owner) => owner switch
    {
        BlockOwner.Collector => "GC.GetAllocatedBytesForCurrentThread",
        BlockOwner.CLibrary => "mallinfo2",
        BlockOwner.Jemalloc => "mallctl arenas.lookup",
        BlockOwner.Heap => "tn_owns",
        BlockOwner.Temp => "tn_temp_get_stats",
        _ => "tn_get_stats",
    };

    /// <summary>Gets a function that tests ownership of a block; null if the allocator only counts.</summary>
    internal static Func<nint, bool>? KnowsOf(BlockOwner owner) => owner switch
    {
        BlockOwner.Jemalloc => JemallocOwns,
        BlockOwner.Heap => static block => NativeCounters.Owns((void*)block),
        _ => null,
    };

    /// <summary>Gets the allocated amount: blocks for TempJob, otherwise bytes.</summary>
    internal static ulong CountOf(BlockOwner owner) => owner switch
    {
        BlockOwner.Collector => (ulong)GC.GetAllocatedBytesForCurrentThread(),
        BlockOwner.CLibrary => CLibraryBytes(),
        BlockOwner.Temp => Native.TempStats.UsedBytes,
        BlockOwner.TempJob => NativeCounters.Read().TempJobLiveCount,
        _ => 0,
    };

    private static bool JemallocOwns(nint block)
    {
        if (!NativeLibrary.TryGetExport(NativeLibrary.GetMainProgramHandle(), "mallctl", out nint address))
        {
            return false;
        }
        var call = (delegate* unmanaged<byte*, void*, nuint*, void*, nuint, int>)address;
        uint arena;
        nuint bytes = sizeof(uint);
        fixed (byte* name = "arenas.lookup"u8)
        {
            return call(name, &arena, &bytes, &block, (nuint)sizeof(nint)) == 0;
        }
    }

    private static ulong CLibraryBytes()
    {
        if (!NativeLibrary.TryGetExport(NativeLibrary.GetMainProgramHandle(), "mallinfo2", out nint address))
        {
            return 0;
        }
        MallInfo seen = ((delegate* unmanaged<MallInfo>)address)();
        return seen.InUse + seen.Mapped;
    }

    /// <summary>struct mallinfo2 of malloc.h.</summary>
    [StructLayout(LayoutKind.Sequential)]
    private struct MallInfo
    {
        internal nuint Arena, FreeChunks, FastChunks, MappedCount, Mapped, Unused, FastFree, InUse, Free, Top;
    }
}
