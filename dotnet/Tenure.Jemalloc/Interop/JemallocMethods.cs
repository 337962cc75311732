// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure;

/// <summary>jemalloc's functions in this process. All are null unless <see cref="JemallocSymbols.AreThere"/>.</summary>
/// <remarks>The fields never change, so compiled code contains the addresses. Access to any of them starts the
/// package's jemalloc with its default configuration, unless <see cref="Jem.Init"/> came first. The static constructor
/// is explicit because it must run at the first access and not before.</remarks>
internal static unsafe class JemallocMethods
{
    static JemallocMethods()
    {
        if (JemallocSymbols.ArePackaged)
        {
            PackagedJemalloc.Claim("");
        }
    }

    internal static readonly delegate* unmanaged[Cdecl]<nuint, void*> Malloc =
        (delegate* unmanaged[Cdecl]<nuint, void*>)JemallocSymbols.Address("malloc");

    internal static readonly delegate* unmanaged[Cdecl]<nuint, nuint, void*> Calloc =
        (delegate* unmanaged[Cdecl]<nuint, nuint, void*>)JemallocSymbols.Address("calloc");

    internal static readonly delegate* unmanaged[Cdecl]<void**, nuint, nuint, int> PosixMemalign =
        (delegate* unmanaged[Cdecl]<void**, nuint, nuint, int>)JemallocSymbols.Address("posix_memalign");

    internal static readonly delegate* unmanaged[Cdecl]<nuint, nuint, void*> AlignedAlloc =
        (delegate* unmanaged[Cdecl]<nuint, nuint, void*>)JemallocSymbols.Address("aligned_alloc");

    internal static readonly delegate* unmanaged[Cdecl]<void*, nuint, void*> Realloc =
        (delegate* unmanaged[Cdecl]<void*, nuint, void*>)JemallocSymbols.Address("realloc");

    internal static readonly delegate* unmanaged[Cdecl]<void*, void> Free =
        (delegate* unmanaged[Cdecl]<void*, void>)JemallocSymbols.Address("free");

    internal static readonly delegate* unmanaged[Cdecl]<void*, nuint> MallocUsableSize =
        (delegate* unmanaged[Cdecl]<void*, nuint>)JemallocSymbols.Address("malloc_usable_size");

    internal static readonly delegate* unmanaged[Cdecl]<nuint, int, void*> Mallocx =
        (delegate* unmanaged[Cdecl]<nuint, int, void*>)JemallocSymbols.Address("mallocx");

    internal static readonly delegate* unmanaged[Cdecl]<void*, nuint, int, void*> Rallocx =
        (delegate* unmanaged[Cdecl]<void*, nuint, int, void*>)JemallocSymbols.Address("rallocx");

    internal static readonly delegate* unmanaged[Cdecl]<void*, nuint, nuint, int, nuint> Xallocx =
        (delegate* unmanaged[Cdecl]<void*, nuint, nuint, int, nuint>)JemallocSymbols.Address("xallocx");

    internal static readonly delegate* unmanaged[Cdecl]<void*, int, nuint> Sallocx =
        (delegate* unmanaged[Cdecl]<void*, int, nuint>)JemallocSymbols.Address("sallocx");

    internal static readonly delegate* unmanaged[Cdecl]<void*, int, void> Dallocx =
        (delegate* unmanaged[Cdecl]<void*, int, void>)JemallocSymbols.Address("dallocx");

    internal static readonly delegate* unmanaged[Cdecl]<void*, nuint, int, void> Sdallocx =
        (delegate* unmanaged[Cdecl]<void*, nuint, int, void>)JemallocSymbols.Address("sdallocx");

    internal static readonly delegate* unmanaged[Cdecl]<nuint, int, nuint> Nallocx =
        (delegate* unmanaged[Cdecl]<nuint, int, nuint>)JemallocSymbols.Address("nallocx");

    internal static readonly delegate* unmanaged[Cdecl]<byte*, void*, nuint*, void*, nuint, int> MallCtl =
        (delegate* unmanaged[Cdecl]<byte*, void*, nuint*, void*, nuint, int>)JemallocSymbols.Address("mallctl");

    internal static readonly delegate* unmanaged[Cdecl]<byte*, nuint*, nuint*, int> NameToMib =
        (delegate* unmanaged[Cdecl]<byte*, nuint*, nuint*, int>)JemallocSymbols.Address("mallctlnametomib");

    internal static readonly delegate* unmanaged[Cdecl]<nuint*, nuint, void*, nuint*, void*, nuint, int> ByMib =
        (delegate* unmanaged[Cdecl]<nuint*, nuint, void*, nuint*, void*, nuint, int>)JemallocSymbols.Address("mallctlbymib");

    internal static readonly delegate* unmanaged[Cdecl]<delegate* unmanaged[Cdecl]<void*, byte*, void>, void*, byte*, void> StatsPrint =
        (delegate* unmanaged[Cdecl]<delegate* unmanaged[Cdecl]<void*, byte*, void>, void*, byte*, void>)JemallocSymbols.Address("malloc_stats_print");
}
