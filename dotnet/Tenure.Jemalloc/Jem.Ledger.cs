// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

// References: the ledger of jemalloc.NET, built on the handle table that C, C++ and C# share.
public static unsafe partial class Jem
{
    /// <summary>Gets or sets a value indicating whether this class enters its allocations into the handle table. An
    /// entered block can be held; a double free and a free while it is held are rejected; and <see cref="Leaks"/> lists
    /// it.</summary>
    /// <remarks>
    /// <para>Off by default, unless the AppContext switch <c>Tenure.Jem.Ledger</c> is on: it adds an entry and a
    /// look-up to each allocation, a few hundred nanoseconds. Turn it on before the first allocation: while it is on, a
    /// block that is not in the ledger is rejected.</para>
    /// <para>Entries made while it was on remain until their blocks are freed.</para>
    /// </remarks>
    public static bool Ledger
    {
        get => JemLedger.IsOn;
        set => JemLedger.Switch(value);
    }

    /// <summary>Gets the number of references that hold the memory.</summary>
    /// <param name="ptr">A block allocated by this class while the ledger is on, or the start of a buffer or other
    /// memory with a handle, which is searched for among all live handles.</param>
    /// <returns>The number of holders; zero also if the memory no longer exists.</returns>
    /// <exception cref="InvalidOperationException">The ledger is off, so the answer is unknown.</exception>
    public static int GetRefCount(nint ptr) => JemLedger.Find(ptr, out NativeHandle handle) ? HandleTable.Holders(in handle) : 0;

    /// <summary>Holds the memory: it cannot be freed until the matching <see cref="DecrementRefCount"/>.</summary>
    /// <param name="ptr">The memory; see <see cref="GetRefCount"/>.</param>
    /// <exception cref="InvalidOperationException">There is no such memory, or the ledger is off.</exception>
    public static void IncrementRefCount(nint ptr)
    {
        NativeHandle handle = JemLedger.Get(ptr);
        HandleTable.Acquire(in handle);
    }

    /// <summary>Releases a hold on the memory.</summary>
    /// <param name="ptr">The memory; see <see cref="GetRefCount"/>.</param>
    /// <exception cref="InvalidOperationException">There is no such memory, it is not held, or the ledger is
    /// off.</exception>
    public static void DecrementRefCount(nint ptr)
    {
        NativeHandle handle = JemLedger.Get(ptr);
        HandleTable.Release(in handle);
    }

    /// <summary>Determines whether live memory begins at an address.</summary>
    /// <param name="ptr">The memory; see <see cref="GetRefCount"/>.</param>
    /// <returns><c>true</c> if it does; <c>false</c> if the memory was freed or never allocated.</returns>
    /// <exception cref="InvalidOperationException">The ledger is off, so the answer is unknown.</exception>
    public static bool PtrIsAllocated(nint ptr) => JemLedger.Find(ptr, out _);

    /// <summary>Frees every block in the ledger that is not held. Only allocations of this class are freed, not
    /// buffers.</summary>
    /// <returns>The number of blocks freed.</returns>
    public static int TryFreeAll() => JemLedger.FreeAll();
}
