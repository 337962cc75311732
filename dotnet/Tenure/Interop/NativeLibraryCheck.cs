// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

namespace Tenure;

/// <summary>Checks once that the native library is present and has the ABI and layout versions of this assembly.</summary>
/// <remarks>
/// This is not a static constructor or a module initializer: an exception from either would reach the user wrapped in a
/// <see cref="TypeInitializationException"/>, and every later use would repeat it without looking for the library
/// again.
/// </remarks>
internal static class NativeLibraryCheck
{
    private static bool _passed;

    /// <summary>Runs the check until it passes; after that, costs one load and one branch.</summary>
    /// <exception cref="TenureLoadException">The library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static void Ensure()
    {
        if (!_passed)
        {
            Check();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Check()
    {
        uint found;
        try
        {
            found = NativeMethods.tn_abi_version();
        }
        catch (DllNotFoundException exception)
        {
            throw Missing(exception, SearchedFolders());
        }
        catch (BadImageFormatException exception)
        {
            throw Missing(exception, SearchedFolders());
        }
        catch (EntryPointNotFoundException exception)
        {
            throw Unlike(null, LoadedFrom(), exception);
        }
        if (found != NativeMethods.AbiVersion)
        {
            throw Unlike(found, LoadedFrom(), null);
        }
        if (FoundLayout() is var layout && layout != NativeMethods.QuickVersion)
        {
            throw UnlikeLayout(layout, LoadedFrom());
        }
        Volatile.Write(ref _passed, true);
    }

    /// <summary>The layout version of the library; zero for a library from before there was one.</summary>
    private static uint FoundLayout()
    {
        try
        {
            return NativeMethods.tn_quick_version();
        }
        catch (EntryPointNotFoundException)
        {
            return 0;
        }
    }

    internal static string FileName =>
        OperatingSystem.IsWindows() ? "libtenure.dll" : OperatingSystem.IsMacOS() ? "libtenure.dylib" : "libtenure.so";

    /// <summary>The folder of the package with the library for this platform; null if the package has none. The suggested
    /// next step depends on it.</summary>
    internal static string? RuntimeOfPackage
    {
        get
        {
            string rid = RuntimeInformation.RuntimeIdentifier;
            bool isMusl = rid.Contains("musl", StringComparison.Ordinal) || rid.StartsWith("alpine", StringComparison.Ordinal);
            return RuntimeInformation.ProcessArchitecture switch
            {
                Architecture.X64 when OperatingSystem.IsLinux() => isMusl ? "linux-musl-x64" : "linux-x64",
                Architecture.Arm64 when OperatingSystem.IsLinux() && !isMusl => "linux-arm64",
                Architecture.X64 when OperatingSystem.IsWindows() => "win-x64",
                Architecture.Arm64 when OperatingSystem.IsMacOS() => "osx-arm64",
                _ => null,
            };
        }
    }

    /// <summary>The variable by which another library can come first.</summary>
    private static string PathVariable =>
        OperatingSystem.IsWindows() ? "PATH" : OperatingSystem.IsMacOS() ? "DYLD_LIBRARY_PATH" : "LD_LIBRARY_PATH";

    internal static TenureLoadException Missing(Exception cause, IReadOnlyList<string> folders)
    {
        var text = new StringBuilder();
        string? there = null;
        foreach (string folder in folders)
        {
            string path = Path.Combine(folder, FileName);
            there ??= File.Exists(path) ? path : null;
        }
        text.Append("Tenure's native library ").Append(there is null ? "was not found." : "could not be loaded.");
        Wanted(text);
        if (there is not null)
        {
            text.Append(" Found: ").Append(there).Append('.');
        }
        else
        {
            text.Append(" Looked in: ").AppendJoin(", ", folders).Append(folders.Count > 0 ? ", and where" : "where")
                .Append(" the system looks for libraries.");
        }
        text.Append(" Next step: ").Append(NextStep(there is not null));
        // The runtime's exception adds only its message and our own call; as an inner exception it would be printed
        // twice.
        text.Append(" System message: ").Append(cause.Message.ReplaceLineEndings(" ").Trim());
        return new TenureLoadException(text.ToString()) { LibraryPath = there };
    }

    internal static TenureLoadException Unlike(uint? found, string? path, Exception? cause)
    {
        var text = new StringBuilder("Tenure's native library has another version than Tenure.dll.");
        Wanted(text);
        text.Append(" Found: ").Append(path ?? FileName).Append(found is null
            ? ", which has no function tn_abi_version."
            : $" with ABI version {found}.");
        text.Append(" Next step: use both from the same version of the package Tenure; remove the other ").Append(FileName)
            .Append(", and check ").Append(PathVariable).Append(". ").Append(InOwnTree);
        return new TenureLoadException(text.ToString(), cause) { LibraryPath = path, FoundAbiVersion = found };
    }

    /// <summary>The functions are the same, but the memory layout that the quick paths rely on is another one.</summary>
    internal static TenureLoadException UnlikeLayout(uint found, string? path)
    {
        var text = new StringBuilder("Tenure's native library has another memory layout than Tenure.dll expects.");
        text.Append(" Required: layout version ").Append(NativeMethods.QuickVersion)
            .Append(". Found: ").Append(path ?? FileName)
            .Append(found == 0 ? ", which has no function tn_quick_version" : $" with layout version {found}")
            .Append(". Next step: use both from the same version of the package Tenure; remove the other ").Append(FileName)
            .Append(", and check ").Append(PathVariable).Append(". ").Append(InOwnTree);
        return new TenureLoadException(text.ToString(), null) { LibraryPath = path, FoundAbiVersion = NativeMethods.AbiVersion };
    }

    private static void Wanted(StringBuilder text) => text
        .Append(" Required: ").Append(FileName).Append(" for ").Append(RuntimeInformation.RuntimeIdentifier)
        .Append(" with ABI version ").Append(NativeMethods.AbiVersion).Append('.');

    private static string NextStep(bool there) => (RuntimeOfPackage, there) switch
    {
        (null, _) => "the package Tenure has no library for this platform, only for linux-x64, linux-arm64, linux-musl-x64, "
            + "win-x64 and osx-arm64; run there, or build the library from source and put it next to the program.",
        ("linux-x64" or "linux-arm64", true) => "see the system's message about that file; the library needs glibc 2.35 or newer.",
        (_, true) => "see the system's message about that file.",
        ({ } rid, false) => "reference the package Tenure from the project that you run or publish, so that its "
            + $"runtimes/{rid}/native/{FileName} is copied; a package that was built without it does not have that file. {InOwnTree}",
    };

    private const string InOwnTree = "In Tenure's own source tree: run cmake --preset release and cmake --build --preset release, and "
        + "build this project again.";

    /// <summary>The folders that the runtime searches before it asks the system, without duplicates.</summary>
    private static List<string> SearchedFolders()
    {
        var folders = new List<string>();
        string given = AppContext.GetData("NATIVE_DLL_SEARCH_DIRECTORIES") as string ?? "";
        foreach (string folder in given.Split(Path.PathSeparator, StringSplitOptions.RemoveEmptyEntries))
        {
            Add(folder);
        }
        Add(AppContext.BaseDirectory);
        return folders;

        void Add(string folder)
        {
            folder = Path.TrimEndingDirectorySeparator(folder);
            if (!folders.Contains(folder))
            {
                folders.Add(folder);
            }
        }
    }

    /// <summary>The file that the loader mapped; null if the system does not provide it.</summary>
    private static string? LoadedFrom()
    {
        if (OperatingSystem.IsWindows())
        {
            using var process = Process.GetCurrentProcess();
            foreach (ProcessModule module in process.Modules)
            {
                if (module.ModuleName.Equals(FileName, StringComparison.OrdinalIgnoreCase))
                {
                    return module.FileName;
                }
            }
            return null;
        }
        try
        {
            foreach (string line in File.ReadLines("/proc/self/maps"))
            {
                int slash = line.IndexOf('/', StringComparison.Ordinal);
                if (slash >= 0 && Path.GetFileName(line.AsSpan(slash)).StartsWith(FileName, StringComparison.Ordinal))
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
}
