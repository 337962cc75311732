// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.InteropServices;

namespace Tenure.Bench;

/// <summary>The native library's counters, and the native calls that the measured ones are compared with.</summary>
internal static unsafe partial class NativeCounters
{
    /// <summary>tn_stats of tenure.h.</summary>
    [StructLayout(LayoutKind.Sequential)]
    internal struct Stats
    {
        internal uint Size;
        internal uint HeapIsOurs;
        internal ulong LiveCount;
        internal ulong LiveBytes;
        internal ulong PeakBytes;
        internal ulong CommittedBytes;
        internal ulong ReservedBytes;
        internal ulong RetainedBytes;
        internal ulong ThreadCount;
        internal ulong TempJobLiveCount;
        internal ulong TempJobLiveBytes;
        internal ulong TempJobChunkBytes;
        internal ulong TempJobLeakedCount;
    }

    internal static Stats Read()
    {
        var stats = new Stats { Size = (uint)sizeof(Stats) };
        tn_get_stats(&stats);
        return stats;
    }

    internal static void* AllocateZeroed(nuint count, nuint bytes)
    {
        void* block = tn_calloc(count, bytes);
        return block != null ? block : throw new OutOfMemoryException("The system is out of memory.");
    }

    internal static bool Owns(void* block) => tn_owns(block) != 0;

    [LibraryImport("libtenure"), UnmanagedCallConv(CallConvs = [typeof(System.Runtime.CompilerServices.CallConvCdecl)])]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories | DllImportSearchPath.AssemblyDirectory)]
    private static partial void tn_get_stats(Stats* stats);

    [LibraryImport("libtenure"), UnmanagedCallConv(CallConvs = [typeof(System.Runtime.CompilerServices.CallConvCdecl)])]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories | DllImportSearchPath.AssemblyDirectory)]
    private static partial void* tn_calloc(nuint count, nuint bytes);

    [LibraryImport("libtenure"), UnmanagedCallConv(CallConvs = [typeof(System.Runtime.CompilerServices.CallConvCdecl)])]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories | DllImportSearchPath.AssemblyDirectory)]
    private static partial uint tn_owns(void* block);
}
