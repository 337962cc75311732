// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

/// <summary>The jemalloc.NET API: memory by jemalloc's calls, and the keys that can be read and set while a program
/// runs.</summary>
/// <remarks>
/// <para><b>Use it for</b> programs written for jemalloc.NET, and for tuning and monitoring jemalloc. For a process that
/// runs on jemalloc as a whole, start it so: <c>tenure run --heap=jemalloc -- dotnet app.dll</c>; persistent memory and
/// buffers then use jemalloc too. <b>Not for</b> new code that only needs memory: see <see cref="Native"/> and the
/// buffers.</para>
/// <para><b>Memory from</b> jemalloc if it is the malloc of the process; otherwise from the jemalloc in this package,
/// which serves only this class; without both from Tenure's process heap: see <see cref="Backend"/>. Free a block with the class that allocated it. <b>Cost</b> one native call; none on Tenure's
/// heap while the thread has memory cached. <b>Overhead</b> none, unless <see cref="Ledger"/> is on.</para>
/// <para><b>Threads</b> any. <b>When full</b> throws <see cref="OutOfMemoryException"/> and changes nothing.</para>
/// <para>Alignments come before sizes here, as in jemalloc and unlike the rest of Tenure.</para>
/// </remarks>
public static unsafe partial class Jem
{
    /// <summary>Gets the allocator that serves this class. It does not change while the process runs.</summary>
    public static JemBackend Backend => JemallocSymbols.AreThere ? JemBackend.Jemalloc : JemBackend.Tenure;

    /// <summary>Gets the path of the jemalloc that serves this class; null on Tenure's heap.</summary>
    public static string? LibraryPath => JemallocSymbols.LibraryPath;

    /// <summary>Gets a value indicating whether the allocator has started, which fixes some settings: see
    /// <see cref="Init"/>. The jemalloc in this package starts with <see cref="Init"/> or with the first call that needs
    /// it. A preloaded jemalloc and Tenure's heap have always started.</summary>
    /// <exception cref="TenureLoadException">Tenure's native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public static bool Initialized
    {
        get
        {
            if (Backend == JemBackend.Tenure)
            {
                NativeLibraryCheck.Ensure();
            }
            return !JemallocSymbols.ArePackaged || PackagedJemalloc.HasStarted;
        }
    }

    /// <summary>Gets a value indicating whether persistent memory and buffers use jemalloc: jemalloc is the process's
    /// malloc, and the option <c>passthrough</c> forwards Tenure's heap to it, as the <c>tenure run</c> command sets
    /// it.</summary>
    /// <exception cref="TenureLoadException">Tenure's native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public static bool ServesPersistentMemory =>
        Backend == JemBackend.Jemalloc && !JemallocSymbols.ArePackaged && TenureFigures.Now().HeapIsOurs == 0;

    /// <summary>Throws if jemalloc does not serve this class, for programs that require it.</summary>
    /// <exception cref="JemallocUnavailableException">The process does not run on jemalloc, and the package has none for
    /// this platform; the message says what to do.</exception>
    public static void RequireJemalloc()
    {
        if (Backend != JemBackend.Jemalloc)
        {
            throw new JemallocUnavailableException();
        }
    }
}
