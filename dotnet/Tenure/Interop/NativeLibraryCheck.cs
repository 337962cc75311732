// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
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
        OperatingSystem.IsWindows() ? "tenure.dll" : OperatingSystem.IsMacOS() ? "libtenure.dylib" : "libtenure.so";

    /// <summary>Whether the package has a library for this platform; the suggested next step depends on it.</summary>
    private static bool IsPlatformOfPackage =>
        OperatingSystem.IsLinux() && RuntimeInformation.ProcessArchitecture == Architecture.X64
        && !RuntimeInformation.RuntimeIdentifier.Contains("musl", StringComparison.Ordinal);

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
            .Append(", and check LD_LIBRARY_PATH. ").Append(InOwnTree);
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
            .Append(", and check LD_LIBRARY_PATH. ").Append(InOwnTree);
        return new TenureLoadException(text.ToString(), null) { LibraryPath = path, FoundAbiVersion = NativeMethods.AbiVersion };
    }

    private static void Wanted(StringBuilder text) => text
        .Append(" Required: ").Append(FileName).Append(" for ").Append(RuntimeInformation.RuntimeIdentifier)
        .Append(" with ABI version ").Append(NativeMethods.AbiVersion).Append('.');

    private static string NextStep(bool there) => (IsPlatformOfPackage, there) switch
    {
        (false, _) => "the package Tenure has no library for this platform, only for linux-x64 (glibc); run there, "
            + "or build the library from source and put it next to the program.",
        (true, true) => "see the system's message about that file; the library needs glibc 2.34 or newer.",
        (true, false) => "reference the package Tenure from the project that you run or publish, so that its "
            + $"runtimes/linux-x64/native/{FileName} is copied. {InOwnTree}",
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
