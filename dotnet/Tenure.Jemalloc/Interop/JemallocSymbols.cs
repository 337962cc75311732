// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.IO;
using System.Runtime.InteropServices;

namespace Tenure;

/// <summary>Finds a jemalloc that serves malloc in this process; without one, loads the jemalloc in this package. It
/// starts nothing.</summary>
internal static unsafe class JemallocSymbols
{
    private static readonly bool s_serveMalloc = Look();
    private static readonly nint s_packaged = s_serveMalloc ? 0 : PackagedJemalloc.Load();

    internal static readonly bool AreThere = s_serveMalloc || s_packaged != 0;

    /// <summary>Gets a value indicating whether they are those of the jemalloc in this package.</summary>
    internal static bool ArePackaged => s_packaged != 0;

    /// <summary>Gets the address of a jemalloc function or variable; zero if jemalloc does not have it, or is not
    /// present.</summary>
    internal static nint Address(string name)
    {
        nint address = 0;
        return !AreThere ? 0
            : s_packaged != 0 ? NativeLibrary.TryGetExport(s_packaged, PackagedJemalloc.Prefix + name, out address) ? address : 0
            : NativeLibrary.TryGetExport(NativeLibrary.GetMainProgramHandle(), name, out address) ? address : 0;
    }

    /// <summary>Gets the path of the file; null without jemalloc.</summary>
    internal static string? LibraryPath
    {
        get
        {
            nint function = Address("mallctl");
            return function == 0 ? null : Marshal.PtrToStringUTF8((nint)Find(NativeLibrary.GetMainProgramHandle(), function).File);
        }
    }

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
    private static nint FileOf(nint everything, nint address) => Find(everything, address).Begin;

    private static FoundAt Find(nint everything, nint address)
    {
        FoundAt found = default;
        return NativeLibrary.TryGetExport(everything, "dladdr", out nint dladdr)
            && ((delegate* unmanaged[Cdecl]<nint, FoundAt*, int>)dladdr)(address, &found) != 0 ? found : default;
    }

    /// <summary>Explains why jemalloc is not used: it is absent or was loaded too late, and the package has
    /// none.</summary>
    internal static string WhyNot()
    {
        if (AreThere)
        {
            return ArePackaged ? "This process has the jemalloc of the package." : "This process runs on jemalloc.";
        }
        string? late = LoadedFile();
        return (late is null
            ? "This process does not run on jemalloc. "
            : "This process does not run on jemalloc: " + late + " was loaded too late, after another malloc. ") + PackagedJemalloc.WhyNot();
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
