// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;

namespace Tenure;

/// <summary>The handle table shared by C, C++ and C#: records the native memory in use and its holds.</summary>
/// <remarks>
/// <para>Use it for native memory that is passed between languages. The buffers (<see cref="FixedBuffer{T}"/> and
/// others) use it internally.</para>
/// <para>Cost: a check is one load and one compare. Acquire and release are one atomic addition each, without a call.
/// Add and free call the library. No lock. Threads: any, for every member.</para>
/// </remarks>
public static unsafe class HandleTable
{
    /// <summary>Determines whether the memory is still live.</summary>
    /// <param name="handle">Any handle, including a default one.</param>
    /// <returns>False when the memory was freed or never allocated.</returns>
    public static bool IsLive(in NativeHandle handle) => handle.IsLive;

    /// <summary>Holds the memory: it cannot be freed until <see cref="Release"/> is called.</summary>
    /// <param name="handle">A live handle.</param>
    /// <exception cref="ObjectDisposedException">The handle is stale.</exception>
    /// <exception cref="InvalidOperationException">The memory is already held 2^31 - 1 times.</exception>
    public static void Acquire(in NativeHandle handle) => HandleWords.Acquire(handle.Word, handle.Generation);

    /// <summary>Releases one hold.</summary>
    /// <param name="handle">A handle that was acquired.</param>
    /// <exception cref="ObjectDisposedException">The handle is stale.</exception>
    /// <exception cref="InvalidOperationException">All holds were already released; nothing has changed.</exception>
    public static void Release(in NativeHandle handle) => HandleWords.Release(handle.Word, handle.Generation);

    /// <summary>Frees the memory. This handle and all its copies become stale.</summary>
    /// <param name="handle">A live handle without holds.</param>
    /// <exception cref="ObjectDisposedException">The handle is stale: the memory was already freed or never
    /// allocated.</exception>
    /// <exception cref="InvalidOperationException">The memory is held; the message gives the number of holds. Nothing
    /// has changed.</exception>
    public static void Free(in NativeHandle handle) => HandleMemory.Free(handle.Word, handle.Generation);

    /// <summary>Gets the number of holds, 0 to 2^31 - 1.</summary>
    /// <param name="handle">Any handle, including a default one.</param>
    /// <returns>The number of holds; zero when the handle is stale.</returns>
    public static int Holders(in NativeHandle handle) => HandleWords.Holders(handle.Word, handle.Generation);

    /// <summary>Adds a handle for memory that the caller allocated and will free.</summary>
    /// <param name="memory">The address. The memory must stay valid until the handle is freed.</param>
    /// <param name="bytes">The size in bytes.</param>
    /// <param name="kind">The kind of memory, for listings. One copy of each distinct text is kept forever, so put no
    /// numbers in it.</param>
    /// <returns>A handle that is live until <see cref="Free"/>.</returns>
    /// <exception cref="ArgumentNullException">The address or the text is null.</exception>
    /// <exception cref="OutOfMemoryException">The table is full.</exception>
    /// <exception cref="TenureLoadException">The native library is missing or has a different version.</exception>
    public static NativeHandle Add(void* memory, ulong bytes, string kind = "memory") => Add(memory, bytes, null, kind);

    /// <summary>Adds a handle for memory that the caller allocated, with a function that frees it.</summary>
    /// <param name="memory">The address.</param>
    /// <param name="bytes">The size in bytes.</param>
    /// <param name="release">The function that frees the memory. It is called once, on the thread that frees the
    /// handle, with the address and the size, and must not throw. Null for none.</param>
    /// <param name="kind">The kind of memory, for listings. One copy of each distinct text is kept forever, so put no
    /// numbers in it.</param>
    /// <returns>A handle that is live until <see cref="Free"/>.</returns>
    /// <exception cref="ArgumentNullException">The address or the text is null.</exception>
    /// <exception cref="OutOfMemoryException">The table is full.</exception>
    /// <exception cref="TenureLoadException">The native library is missing or has a different version.</exception>
    public static NativeHandle Add(
        void* memory, ulong bytes, delegate* unmanaged[Cdecl]<void*, nuint, void> release, string kind = "memory")
    {
        ArgumentNullException.ThrowIfNull(memory);
        ArgumentNullException.ThrowIfNull(kind);
        return HandleMemory.Add(memory, bytes, release, HandleMemory.Kind(kind));
    }

    /// <summary>Gets statistics of the live handles. Cost: reads every entry that was ever used.</summary>
    /// <returns>The statistics. Each number is exact for some moment during the call.</returns>
    /// <exception cref="TenureLoadException">The native library is missing or has a different version.</exception>
    public static HandleUsage Usage()
    {
        NativeLibraryCheck.Ensure();
        var usage = new NativeHandleUsage { Size = (uint)sizeof(NativeHandleUsage) };
        NativeMethods.tn_handle_get_usage(&usage);
        return new HandleUsage(
            (long)usage.LiveCount, (long)usage.LiveBytes, (long)usage.HeldCount, (long)usage.EntryCount, (long)usage.RetiredCount);
    }

    /// <summary>Lists every live handle, including those created by C and C++. Cost: reads every entry that was ever
    /// used.</summary>
    /// <returns>The handles, each in its state at some moment during the call.</returns>
    /// <exception cref="TenureLoadException">The native library is missing or has a different version.</exception>
    public static IReadOnlyList<LiveHandle> Live() => HandleListing.Live();
}

/// <summary>Statistics of the live handles.</summary>
/// <param name="LiveCount">The number of live handles.</param>
/// <param name="LiveBytes">The size of their memory in bytes.</param>
/// <param name="HeldCount">The number of live handles that are held.</param>
/// <param name="EntryCount">The number of table entries that were ever used.</param>
/// <param name="RetiredCount">The number of entries that are never used again, because their generations are used
/// up.</param>
public readonly record struct HandleUsage(
    long LiveCount, long LiveBytes, long HeldCount, long EntryCount, long RetiredCount);
