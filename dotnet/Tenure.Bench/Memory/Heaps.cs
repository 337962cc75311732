// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.IO;
using System.Linq;
using System.Runtime.InteropServices;

namespace Tenure.Bench;

/// <summary>Identifies the malloc that NativeMemory uses in this process, and finds jemalloc.</summary>
internal static unsafe class Heaps
{
    private static readonly string[] s_folders =
        ["/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib", "/usr/lib/aarch64-linux-gnu"];

    internal const string PreloadVariable = "LD_PRELOAD";

    /// <summary>Gets jemalloc's file, or null. It must be preloaded: a running process has not enough room for its
    /// thread-local state.</summary>
    internal static string? FindJemalloc() =>
        s_folders.Select(folder => Path.Combine(folder, "libjemalloc.so.2")).FirstOrDefault(File.Exists);

    internal const string JemallocMissing =
        "jemalloc's rows are left out: libjemalloc.so.2 was not found (Debian and Ubuntu: package libjemalloc2)";

    /// <summary>Fails the row if the preload failed: the loader only warns and uses the C library's malloc.</summary>
    internal static void Prove(RowKind kind, CaseReply reply)
    {
        if (kind == RowKind.Tenure)
        {
            void* block = Native.Allocate(64, Lifetime.Persistent);
            bool owned = NativeCounters.Owns(block);
            Native.Deallocate(block, Lifetime.Persistent);
            reply.Proof = "tn_owns confirms that the process heap owns a block of Native.Allocate";
            reply.Error = owned ? "" : "the process heap does not own a block of Native.Allocate";
            return;
        }
        ProveMalloc(kind, reply);
    }

    /// <summary>As <see cref="Prove"/>, without allocating from Tenure; reports nothing for Tenure's rows.</summary>
    internal static void ProveMalloc(RowKind kind, CaseReply reply)
    {
        if (kind == RowKind.Tenure)
        {
            return;
        }
        string file = FileOfMalloc();
        bool isJemalloc = file.Contains("jemalloc", StringComparison.Ordinal);
        reply.Proof = $"malloc resolves into {Path.GetFileName(file)}";
        if (isJemalloc != (kind == RowKind.Jemalloc))
        {
            reply.Error = $"malloc resolves into {file}";
        }
    }

    /// <summary>Gets the file that provides the process's malloc.</summary>
    internal static string FileOfMalloc()
    {
        if (!NativeLibrary.TryGetExport(NativeLibrary.GetMainProgramHandle(), "malloc", out nint address))
        {
            return "nothing that is known";
        }
        string file = MemoryMap.Now().FileAt(address);
        return file.Length == 0 ? "nothing that is known" : file;
    }
}
