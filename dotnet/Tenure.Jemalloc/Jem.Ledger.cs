// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

// Who holds what: the ledger of jemalloc.NET, on the table of handles that C, C++ and C# have in common.
public static unsafe partial class Jem
{
    /// <summary>Whether what this class allocates is entered into the table of handles from now on: it can be held, a second free
    /// and a free while it is held are refused, and <see cref="Leaks"/> lists it.</summary>
    /// <remarks>
    /// <para>Off, unless the AppContext switch <c>Tenure.Jem.Ledger</c> is on: it costs each allocation an entry and a
    /// look-up, some hundred nanoseconds. Set it before the first allocation: while it is on, a block that is not in it is refused.</para>
    /// <para>Switched off again, what is in it stays there until it is freed.</para>
    /// </remarks>
    public static bool Ledger
    {
        get => JemLedger.IsOn;
        set => JemLedger.Switch(value);
    }

    /// <summary>How often memory is held.</summary>
    /// <param name="ptr">Of this class while the ledger is on; or where a buffer, or anything else with a handle, begins, which
    /// is looked for among all that is live.</param>
    /// <returns>Zero also when there is no such memory any more.</returns>
    /// <exception cref="InvalidOperationException">The ledger is off, so that it cannot be told.</exception>
    public static int GetRefCount(nint ptr) => JemLedger.Find(ptr, out NativeHandle handle) ? HandleTable.Holders(in handle) : 0;

    /// <summary>Holds memory: until the <see cref="DecrementRefCount"/> it cannot be freed.</summary>
    /// <param name="ptr">As for <see cref="GetRefCount"/>.</param>
    /// <exception cref="InvalidOperationException">There is no such memory, or the ledger is off.</exception>
    public static void IncrementRefCount(nint ptr)
    {
        NativeHandle handle = JemLedger.Get(ptr);
        HandleTable.Acquire(in handle);
    }

    /// <summary>No longer holds it.</summary>
    /// <param name="ptr">As for <see cref="GetRefCount"/>.</param>
    /// <exception cref="InvalidOperationException">There is no such memory, it is not held, or the ledger is off.</exception>
    public static void DecrementRefCount(nint ptr)
    {
        NativeHandle handle = JemLedger.Get(ptr);
        HandleTable.Release(in handle);
    }

    /// <summary>Whether memory begins there that is not freed.</summary>
    /// <param name="ptr">As for <see cref="GetRefCount"/>.</param>
    /// <returns>False when it was freed, or never was.</returns>
    /// <exception cref="InvalidOperationException">The ledger is off, so that it cannot be told.</exception>
    public static bool PtrIsAllocated(nint ptr) => JemLedger.Find(ptr, out _);

    /// <summary>Gives back everything in the ledger that nobody holds: what this class allocated, and no buffers.</summary>
    /// <returns>How many blocks.</returns>
    public static int TryFreeAll() => JemLedger.FreeAll();
}
