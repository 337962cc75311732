// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

/// <summary>The names of jemalloc.NET: memory by jemalloc's calls, and what can be asked of it and set while a program runs.</summary>
/// <remarks>
/// <para><b>Use it for</b> programs that were written for jemalloc.NET, and for tuning and watching jemalloc under a process
/// that was started on it: <c>tenure run --heap=jemalloc -- dotnet app.dll</c>. Persistent memory and buffers live on jemalloc there.
/// <b>Not for</b> new code that only wants memory: <see cref="Native"/>, and the buffers.</para>
/// <para><b>Memory from</b> jemalloc when it is the malloc of the process, from Tenure's process heap otherwise: see
/// <see cref="Backend"/>. A block goes back through the class that it came from.
/// <b>Cost</b> one call into native code; none over Tenure's heap while the thread has memory at hand.
/// <b>Overhead</b> none of its own, unless <see cref="Ledger"/> is on.</para>
/// <para><b>Threads</b> any. <b>When full</b> <see cref="OutOfMemoryException"/>; nothing has changed then.</para>
/// <para>Alignments stand before sizes here, as in jemalloc and unlike in the rest of Tenure.</para>
/// </remarks>
public static unsafe partial class Jem
{
    /// <summary>What serves the calls of this class. The same for the life of the process.</summary>
    public static JemBackend Backend => JemallocSymbols.AreThere ? JemBackend.Jemalloc : JemBackend.Tenure;

    /// <summary>Whether what serves the calls has started, so that some settings are fixed: see <see cref="Init"/>. By the
    /// time that it is asked, it has.</summary>
    /// <exception cref="TenureLoadException">Tenure's native library is missing, or is another version's.</exception>
    public static bool Initialized
    {
        get
        {
            if (Backend == JemBackend.Tenure)
            {
                NativeLibraryCheck.Ensure();
            }
            return true;
        }
    }

    /// <summary>Whether persistent memory and buffers live on jemalloc: it serves, and the option <c>passthrough</c> sends
    /// Tenure's heap to it, as the command sets it.</summary>
    /// <exception cref="TenureLoadException">Tenure's native library is missing, or is another version's.</exception>
    public static bool ServesPersistentMemory => Backend == JemBackend.Jemalloc && TenureFigures.Now().HeapIsOurs == 0;

    /// <summary>For programs that make no sense without it: nothing when the process runs on jemalloc.</summary>
    /// <exception cref="JemallocUnavailableException">It does not; the message says how to start it so.</exception>
    public static void RequireJemalloc()
    {
        if (Backend != JemBackend.Jemalloc)
        {
            throw new JemallocUnavailableException();
        }
    }
}
