// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.IO;
using System.Runtime.InteropServices;

namespace Tenure;

/// <summary>Finds a jemalloc that serves malloc in this process. It loads nothing.</summary>
internal static unsafe class JemallocSymbols
{
    internal static readonly bool AreThere = Look();

    /// <summary>Gets the address of a jemalloc function or variable; zero if jemalloc does not have it. Requires that
    /// jemalloc is present.</summary>
    internal static nint Address(string name) =>
        AreThere && NativeLibrary.TryGetExport(NativeLibrary.GetMainProgramHandle(), name, out nint address) ? address : 0;

    /// <summary>
    /// Whether every function that Jem calls is present and comes from one file. A loaded jemalloc is not
    /// enough: behind another malloc it serves no allocations and its statistics would be meaningless.
    /// </summary>
    private static bool Look()
    {
        if (!OperatingSystem.IsLinux() && !OperatingSystem.IsMacOS() && !OperatingSystem.IsFreeBSD())
        {
            return false;
        }
        nint everything = NativeLibrary.GetMainProgramHandle(), file = 0;
        foreach (string name in (ReadOnlySpan<string>)["malloc", "calloc", "posix_memalign", "aligned_alloc", "realloc", "free",
            "malloc_usable_size", "mallocx", "rallocx", "xallocx", "sallocx", "dallocx", "sdallocx", "nallocx", "mallctl",
            "mallctlnametomib", "mallctlbymib", "malloc_stats_print"])
        {
            if (!NativeLibrary.TryGetExport(everything, name, out nint address))
            {
                return false;
            }
            nint of = FileOf(everything, address);
            if (of == 0 || (file != 0 && of != file))
            {
                return false;
            }
            file = of;
        }
        return true;
    }

    /// <summary>Gets the base address of the file that contains an address; zero if the system does not provide
    /// it.</summary>
    private static nint FileOf(nint everything, nint address)
    {
        if (!NativeLibrary.TryGetExport(everything, "dladdr", out nint dladdr))
        {
            return 0;
        }
        FoundAt found;
        return ((delegate* unmanaged[Cdecl]<nint, FoundAt*, int>)dladdr)(address, &found) != 0 ? found.Begin : 0;
    }

    /// <summary>Explains in one sentence why jemalloc is not used: it is absent, or it was loaded too late.</summary>
    internal static string WhyNot()
    {
        if (AreThere)
        {
            return "This process runs on jemalloc.";
        }
        string? late = LoadedFile();
        return late is null
            ? "This process does not run on jemalloc."
            : "This process does not run on jemalloc: " + late + " was loaded too late, after another malloc.";
    }

    private static string? LoadedFile()
    {
        try
        {
            foreach (string line in File.ReadLines("/proc/self/maps"))
            {
                int slash = line.IndexOf('/', StringComparison.Ordinal);
                if (slash >= 0 && Path.GetFileName(line.AsSpan(slash)).StartsWith("libjemalloc", StringComparison.Ordinal))
                {
                    return line[slash..];
                }
            }
        }
        catch (IOException)
        {
        }
        catch (UnauthorizedAccessException)
        {
        }
        return null;
    }

    /// <summary><c>Dl_info</c>.</summary>
    private struct FoundAt
    {
#pragma warning disable CS0649 // filled in by the system
        internal byte* File;
        internal nint Begin;
        internal byte* Symbol;
        internal nint Address;
#pragma warning restore CS0649
    }
}
