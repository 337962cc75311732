// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;

namespace Tenure;

/// <summary>Memory with a handle: the basis of all buffers.</summary>
internal static unsafe class HandleMemory
{
    private static readonly ConcurrentDictionary<string, nint> s_kinds = new(StringComparer.Ordinal);

    /// <summary>Copies a text to native memory, once per distinct text. The copy is never freed, because the table
    /// stores its address.</summary>
    internal static byte* Kind(string text) => (byte*)s_kinds.GetOrAdd(text, static text =>
    {
        int count = Encoding.UTF8.GetByteCount(text);
        byte* kept = (byte*)NativeMemory.Alloc((nuint)count + 1);
        Encoding.UTF8.GetBytes(text, new Span<byte>(kept, count));
        kept[count] = 0;
        return (nint)kept;
    });

    /// <summary>Requires a non-negative size.</summary>
    internal static NativeHandle Allocate(nint bytes, in BufferOptions options, byte* kind)
    {
        if (options.Lifetime == Lifetime.TempJob)
        {
            return AllocateFromTempJob((nuint)bytes, in options, kind);
        }
        NativeLibraryCheck.Ensure();
        NativeHandle handle;
        uint flags = options.Fill == AllocationFill.Zero ? 1u : 0u;
        int status = NativeMethods.tn_handle_allocate((nuint)bytes, (nuint)options.AlignmentOrDefault, flags, kind, &handle);
        if (status != NativeMethods.Ok)
        {
            BufferErrors.ThrowRefused(status, bytes, null);
        }
        Made(in handle);
        return handle;
    }

    private static NativeHandle AllocateFromTempJob(nuint bytes, in BufferOptions options, byte* kind)
    {
        void* block = Native.Allocate(bytes, Lifetime.TempJob, (nuint)options.AlignmentOrDefault);
        if (options.Fill == AllocationFill.Zero)
        {
            NativeMemory.Clear(block, bytes);
        }
        try
        {
            return Add(block, bytes, &ReleaseToTempJob, kind);
        }
        catch
        {
            Native.Deallocate(block, Lifetime.TempJob);
            throw;
        }
    }

    /// <summary>Called by the handle table, on the thread that frees the handle.</summary>
    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static void ReleaseToTempJob(void* block, nuint bytes) => Native.Deallocate(block, Lifetime.TempJob);

    /// <summary>Requires a size of at least one.</summary>
    internal static NativeHandle MapFile(string? path, nint bytes, byte* kind)
    {
        NativeLibraryCheck.Ensure();
        NativeHandle handle;
        int status;
        byte[]? text = path is null ? null : Encoding.UTF8.GetBytes(path + '\0');
        fixed (byte* name = text)
        {
            status = NativeMethods.tn_handle_map_file(name, (ulong)bytes, kind, &handle);
        }
        if (status != NativeMethods.Ok)
        {
            BufferErrors.ThrowRefused(
                status,
                bytes,
                path ?? "an unnamed file in the folder for temporary files",
                Marshal.GetLastPInvokeError());
        }
        Made(in handle);
        return handle;
    }

    /// <summary>Adds a handle for the caller's memory.</summary>
    internal static NativeHandle Add(void* pointer, ulong bytes, delegate* unmanaged[Cdecl]<void*, nuint, void> release, byte* kind)
    {
        NativeLibraryCheck.Ensure();
        NativeHandle handle;
        int status = NativeMethods.tn_handle_add(pointer, bytes, release, kind, &handle);
        if (status != NativeMethods.Ok)
        {
            BufferErrors.ThrowRefused(status, (nint)bytes, null);
        }
        Made(in handle);
        return handle;
    }

    /// <summary>Frees the memory. Returns true when it was freed; false when the handle was already stale.</summary>
    internal static bool TryFree(ulong* word, uint generation)
    {
        var handle = new NativeHandle(0, 0, HandleWords.EntryOf(word), generation);
        uint holders = 0;
        int status = word is not null ? NativeMethods.tn_handle_deallocate(&handle, &holders) : NativeMethods.StaleHandle;
        if (status == NativeMethods.StillHeld)
        {
            BufferErrors.ThrowStillHeld(holders);
        }
        if (status != NativeMethods.Ok)
        {
            return false;
        }
        if (HandleWatch.IsOn)
        {
            HandleWatch.Forget(in handle);
        }
        return true;
    }

    internal static void Free(ulong* word, uint generation)
    {
        if (!TryFree(word, generation))
        {
            BufferErrors.ThrowStale(word, generation);
        }
    }

    /// <summary>Frees the memory from a finalizer, which must not throw. Memory that is still held is not
    /// freed.</summary>
    /// <param name="word">The address of the handle's word, or null.</param>
    /// <param name="generation">The generation of the handle.</param>
    /// <param name="holders">The number of holds when they prevent the free; otherwise 0.</param>
    internal static bool FreeQuietly(ulong* word, uint generation, out uint holders)
    {
        holders = 0;
        if (word is null)
        {
            return false;
        }
        var handle = new NativeHandle(0, 0, HandleWords.EntryOf(word), generation);
        uint held = 0;
        int status = NativeMethods.tn_handle_deallocate(&handle, &held);
        if (status == NativeMethods.StillHeld)
        {
            holders = held;
        }
        else if (status == NativeMethods.Ok && HandleWatch.IsOn)
        {
            HandleWatch.Forget(in handle);
        }
        return status == NativeMethods.Ok;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void Made(in NativeHandle handle)
    {
        if (!HandleWords.AreThere)
        {
            GiveBackUnknown(handle);
        }
        if (HandleWatch.IsOn)
        {
            HandleWatch.Note(in handle);
        }
    }

    /// <summary>Frees memory that the library allocated while its table of words is missing: the handle could not be
    /// checked.</summary>
    [DoesNotReturn]
    internal static void GiveBackUnknown(NativeHandle handle)
    {
        uint holders;
        _ = NativeMethods.tn_handle_deallocate(&handle, &holders);
        BufferErrors.ThrowTableMissing();
    }
}
