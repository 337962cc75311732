// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tenure;

/// <summary>Maps the start of each block to its handle. The handle table tracks holders and staleness.</summary>
/// <remarks>
/// The handle decides which of several threads frees a block. Its release function frees the memory only after the
/// handle is stale and the entry here is removed, because the address may be reused immediately.
/// </remarks>
internal static unsafe class JemLedger
{
    private const string OffText = "The ledger is off, so the answer is unknown. Set Jem.Ledger = true before the first allocation.";

    private static readonly ConcurrentDictionary<nint, NativeHandle> s_handles = new();

    /// <summary>Whether allocations are entered in the ledger.</summary>
    internal static volatile bool IsOn = AppContext.TryGetSwitch("Tenure.Jem.Ledger", out bool isOn) && isOn;

    /// <summary>Whether the ledger was ever on; a free must then look the block up.</summary>
    internal static volatile bool WasUsed = IsOn;

    internal static void Switch(bool on)
    {
        WasUsed |= on;
        IsOn = on;
    }

    /// <summary>Enters a block; if the table is full, frees the block and throws.</summary>
    internal static void Enter(nint block, ulong size)
    {
        try
        {
            NativeHandle handle = HandleTable.Add((void*)block, size, &Release, "Jem");
            s_handles[block] = handle;
        }
        catch (OutOfMemoryException)
        {
            Jem.GiveBack((void*)block);
            throw;
        }
    }

    internal static void Free(nint block)
    {
        if (s_handles.TryGetValue(block, out NativeHandle handle))
        {
            HandleTable.Free(in handle);
        }
        else if (IsOn)
        {
            ThrowUnknown(block);
        }
        else
        {
            Jem.GiveBack((void*)block);
        }
    }

    /// <summary>Reallocates: allocates a new block, copies the contents, and frees the old block, which fails while it
    /// is held.</summary>
    internal static nint Replace(nint block, ulong size, int flags)
    {
        IfHeld(block);
        nint made = Jem.Mallocx(size, flags);
        try
        {
            ulong kept = Math.Min(size, Jem.MallocUsableSize(block));
            NativeMemory.Copy((void*)block, (void*)made, (nuint)kept);
            Free(block);
        }
        catch (InvalidOperationException)
        {
            Jem.Free(made);
            throw;
        }
        return made;
    }

    /// <summary>Rejects a block that is held or, while the ledger is on, not in the ledger.</summary>
    internal static void IfHeld(nint block)
    {
        if (!s_handles.TryGetValue(block, out NativeHandle handle))
        {
            if (IsOn)
            {
                ThrowUnknown(block);
            }
            return;
        }
        int holders = HandleTable.Holders(in handle);
        if (holders != 0)
        {
            throw new InvalidOperationException(
                $"The block at 0x{block:x} is held {holders} time{(holders == 1 ? "" : "s")}. Nothing has changed. Call DecrementRefCount once for each hold, then free it.");
        }
    }

    /// <summary>Finds a handle among the allocations of Jem, then among all handles.</summary>
    internal static bool Find(nint block, out NativeHandle handle)
    {
        if (s_handles.TryGetValue(block, out handle))
        {
            return HandleTable.IsLive(in handle);
        }
        foreach (LiveHandle live in HandleTable.Live())
        {
            if (live.Handle.Address == block && block != 0)
            {
                handle = live.Handle;
                return true;
            }
        }
        return IsOn || block == 0 ? false : throw new InvalidOperationException(OffText);
    }

    internal static NativeHandle Get(nint block)
    {
        if (!Find(block, out NativeHandle handle))
        {
            ThrowUnknown(block);
        }
        return handle;
    }

    /// <summary>Blocks entered or freed by other threads during the call may be missed.</summary>
    internal static int FreeAll()
    {
        int freed = 0;
        foreach (KeyValuePair<nint, NativeHandle> entry in s_handles)
        {
            NativeHandle handle = entry.Value;
            try
            {
                if (HandleTable.Holders(in handle) == 0)
                {
                    HandleTable.Free(in handle);
                    freed++;
                }
            }
            catch (InvalidOperationException)
            {
                // Another thread acquired or freed it first.
            }
        }
        return freed;
    }

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static void Release(void* block, nuint size)
    {
        s_handles.TryRemove((nint)block, out _);
        Jem.GiveBack(block);
    }

    [DoesNotReturn]
    private static void ThrowUnknown(nint block) => throw new InvalidOperationException(
        $"Jem has no block at 0x{block:x}: it was freed already, was not allocated by Jem, or was allocated before the ledger was on. Nothing has changed. Look for a second owner, or turn the ledger on before the first allocation.");
}
