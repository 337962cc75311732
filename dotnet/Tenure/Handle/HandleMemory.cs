// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;

namespace Tenure;

/// <summary>Memory with a handle: what all buffers are made of.</summary>
internal static unsafe class HandleMemory
{
    private static readonly ConcurrentDictionary<string, nint> s_kinds = new(StringComparer.Ordinal);

    /// <summary>The text in native memory, once for each text, for good: the table keeps its address.</summary>
    internal static byte* Kind(string text) => (byte*)s_kinds.GetOrAdd(text, static text =>
    {
        int count = Encoding.UTF8.GetByteCount(text);
        byte* kept = (byte*)NativeMemory.Alloc((nuint)count + 1);
        Encoding.UTF8.GetBytes(text, new Span<byte>(kept, count));
        kept[count] = 0;
        return (nint)kept;
    });

    /// <summary>Requires a size that is not negative.</summary>
    internal static NativeHandle Allocate(nint bytes, in BufferOptions options, byte* kind)
    {
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
                path ?? "a file without a name in the folder for temporary files",
                Marshal.GetLastPInvokeError());
        }
        Made(in handle);
        return handle;
    }

    /// <summary>Memory of the caller's.</summary>
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

    /// <summary>Gives the memory back. True when it was; false when the handle was stale already.</summary>
    internal static bool TryFree(ulong* word, uint generation)
    {
        var handle = new NativeHandle(0, 0, HandleWords.EntryOf(word), generation);
        uint holders = 0;
        int status = word is not null ? NativeMethods.tn_handle_free(&handle, &holders) : NativeMethods.StaleHandle;
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

    /// <summary>For finalizers, which must not throw: what is held still stays.</summary>
    /// <param name="word">Where the handle's word is, or null.</param>
    /// <param name="generation">The handle's.</param>
    /// <param name="holders">How often it is held when that is why it stays; else 0.</param>
    internal static bool FreeQuietly(ulong* word, uint generation, out uint holders)
    {
        holders = 0;
        if (word is null)
        {
            return false;
        }
        var handle = new NativeHandle(0, 0, HandleWords.EntryOf(word), generation);
        uint held = 0;
        int status = NativeMethods.tn_handle_free(&handle, &held);
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

    /// <summary>The library made it, and its words are not to be had: nobody could check it, so nobody gets
    /// it.</summary>
    [DoesNotReturn]
    internal static void GiveBackUnknown(NativeHandle handle)
    {
        uint holders;
        _ = NativeMethods.tn_handle_free(&handle, &holders);
        BufferErrors.ThrowTableMissing();
    }
}
