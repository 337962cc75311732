// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.InteropServices;

namespace Tenure.Bench;

/// <summary>Whose blocks a proof is about, and how that one is asked.</summary>
internal enum BlockOwner
{
    /// <summary>The garbage collector, which counts the bytes that the thread was given. It has no call that knows a
    /// single object.</summary>
    Collector,

    /// <summary>The C library's malloc, which counts bytes: mallinfo2.</summary>
    CLibrary,

    /// <summary>jemalloc, which knows the arena of each block.</summary>
    Jemalloc,

    /// <summary>Our process heap, which knows each block.</summary>
    Heap,

    /// <summary>The thread's Temp, which counts bytes.</summary>
    Temp,

    /// <summary>TempJob, which counts blocks.</summary>
    TempJob,
}

/// <summary>The allocators' own answers.</summary>
internal static unsafe class BlockOwners
{
    /// <summary>The call that is asked.</summary>
    internal static string QueryOf(BlockOwner owner) => owner switch
    {
        BlockOwner.Collector => "GC.GetAllocatedBytesForCurrentThread",
        BlockOwner.CLibrary => "mallinfo2",
        BlockOwner.Jemalloc => "mallctl arenas.lookup",
        BlockOwner.Heap => "tn_owns",
        BlockOwner.Temp => "tn_temp_get_stats",
        _ => "tn_get_stats",
    };

    /// <summary>Whether it knows a block; null: it only counts.</summary>
    internal static Func<nint, bool>? KnowsOf(BlockOwner owner) => owner switch
    {
        BlockOwner.Jemalloc => JemallocOwns,
        BlockOwner.Heap => static block => NativeCounters.Owns((void*)block),
        _ => null,
    };

    /// <summary>What it counts as given out: blocks of TempJob, else bytes.</summary>
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
