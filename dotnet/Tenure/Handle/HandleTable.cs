// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;

namespace Tenure;

/// <summary>Who still holds what: the table of handles that C, C++ and C# have in common.</summary>
/// <remarks>
/// <para>Use it for native memory that is passed between languages. Buffers (<see cref="FixedBuffer{T}"/> and others)
/// do all of this themselves.</para>
/// <para>Cost: a check is one load and one compare; acquire and release a locked addition each, without a call; add and
/// free call the library. No lock. Any thread, for everything.</para>
/// </remarks>
public static unsafe class HandleTable
{
    /// <summary>Whether the memory is there still.</summary>
    /// <param name="handle">Any, also a default one.</param>
    /// <returns>False when it was freed, or was never there.</returns>
    public static bool IsLive(in NativeHandle handle) => handle.IsLive;

    /// <summary>Holds the memory: until the <see cref="Release"/> it cannot be freed.</summary>
    /// <param name="handle">A live one.</param>
    /// <exception cref="ObjectDisposedException">The handle is stale.</exception>
    /// <exception cref="InvalidOperationException">It is held 2^31 times already.</exception>
    public static void Acquire(in NativeHandle handle) => HandleWords.Acquire(handle.Word, handle.Generation);

    /// <summary>No longer holds it.</summary>
    /// <param name="handle">One that was acquired.</param>
    /// <exception cref="ObjectDisposedException">The handle is stale.</exception>
    /// <exception cref="InvalidOperationException">It was released as often as acquired already; nothing has
    /// changed.</exception>
    public static void Release(in NativeHandle handle) => HandleWords.Release(handle.Word, handle.Generation);

    /// <summary>Gives the memory back. This handle and all its copies are stale from now on.</summary>
    /// <param name="handle">A live one that nobody holds.</param>
    /// <exception cref="ObjectDisposedException">The handle is stale: freed before, or never allocated.</exception>
    /// <exception cref="InvalidOperationException">Somebody holds it; the message says how often. Nothing has
    /// changed.</exception>
    public static void Free(in NativeHandle handle) => HandleMemory.Free(handle.Word, handle.Generation);

    /// <summary>How often it is held, 0 to 2^31 - 1.</summary>
    /// <param name="handle">Any, also a default one.</param>
    /// <returns>Zero when it is stale.</returns>
    public static int Holders(in NativeHandle handle) => HandleWords.Holders(handle.Word, handle.Generation);

    /// <summary>A handle for memory of the caller's, who also gives it back.</summary>
    /// <param name="memory">Where it is; it stays until the handle is freed.</param>
    /// <param name="bytes">How many bytes.</param>
    /// <param name="kind">What it is, for listings. One copy of each text is kept for good: no numbers in it.</param>
    /// <returns>A handle that is live until <see cref="Free"/>.</returns>
    /// <exception cref="ArgumentNullException">There is no memory or no text.</exception>
    /// <exception cref="OutOfMemoryException">The table is full.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, or is another version's.</exception>
    public static NativeHandle Add(void* memory, ulong bytes, string kind = "memory") => Add(memory, bytes, null, kind);

    /// <summary>A handle for memory of the caller's, with what gives it back.</summary>
    /// <param name="memory">Where it is.</param>
    /// <param name="bytes">How many bytes.</param>
    /// <param name="release">Called once, on the thread that frees the handle, with both of the above. It must not
    /// throw. Null for none.</param>
    /// <param name="kind">What it is, for listings. One copy of each text is kept for good: no numbers in it.</param>
    /// <returns>A handle that is live until <see cref="Free"/>.</returns>
    /// <exception cref="ArgumentNullException">There is no memory or no text.</exception>
    /// <exception cref="OutOfMemoryException">The table is full.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, or is another version's.</exception>
    public static NativeHandle Add(
        void* memory, ulong bytes, delegate* unmanaged[Cdecl]<void*, nuint, void> release, string kind = "memory")
    {
        ArgumentNullException.ThrowIfNull(memory);
        ArgumentNullException.ThrowIfNull(kind);
        return HandleMemory.Add(memory, bytes, release, HandleMemory.Kind(kind));
    }

    /// <summary>Figures of what is live. Cost: every entry that was ever used is looked at.</summary>
    /// <returns>Each figure as of some moment during the call.</returns>
    /// <exception cref="TenureLoadException">The native library is missing, or is another version's.</exception>
    public static HandleUsage Usage()
    {
        NativeLibraryCheck.Ensure();
        var usage = new NativeHandleUsage { Size = (uint)sizeof(NativeHandleUsage) };
        NativeMethods.tn_handle_get_usage(&usage);
        return new HandleUsage(
            (long)usage.LiveCount, (long)usage.LiveBytes, (long)usage.HeldCount, (long)usage.EntryCount, (long)usage.RetiredCount);
    }

    /// <summary>Every live handle, also those that C and C++ made. Cost: every entry that was ever used is looked
    /// at.</summary>
    /// <returns>Each as it was at some moment during the call.</returns>
    /// <exception cref="TenureLoadException">The native library is missing, or is another version's.</exception>
    public static IReadOnlyList<LiveHandle> Live() => HandleListing.Live();
}

/// <summary>Live handles, in figures.</summary>
/// <param name="LiveCount">How many are live.</param>
/// <param name="LiveBytes">Their bytes.</param>
/// <param name="HeldCount">How many of them are held by somebody.</param>
/// <param name="EntryCount">How many places of the table were ever used.</param>
/// <param name="RetiredCount">How many of these are never used again: their generations are used up.</param>
public readonly record struct HandleUsage(
    long LiveCount, long LiveBytes, long HeldCount, long EntryCount, long RetiredCount);
