// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;

namespace Tenure.Bench;

/// <summary>Proves which allocator owns the measured blocks: records their addresses, their mappings and the
/// allocator's own answer.</summary>
/// <remarks>
/// Call <see cref="Begin"/> before the blocks are allocated and <see cref="Show"/> while they are held; both outside
/// the measurement. An allocator that knows its blocks is asked about each one; an allocator that only counts must have
/// counted them all.
/// </remarks>
internal sealed unsafe class BlockProof
{
    /// <summary>The maximum number of blocks to ask about; up to <see cref="MaxTold"/> of them are reported with
    /// their addresses.</summary>
    private const int MaxAsked = 1000;
    private const int MaxTold = 8;

    private ulong _countBefore;

    internal BlockOwner Owner { get; private set; }

    internal int Asked { get; private set; }

    internal int Owned { get; private set; }

    internal List<(nint Address, string Mapping)> Told { get; } = [];

    internal string Query => BlockOwners.QueryOf(Owner);

    /// <summary>Whether blocks were shown, the allocator owns them all, and they are mapped.</summary>
    internal bool IsProven => Asked > 0 && Owned == Asked && Told.TrueForAll(each => each.Mapping.Length != 0);

    /// <summary>The result as a sentence.</summary>
    internal string Sentence => Asked == 0
        ? "no block was shown"
        : $"{Owned} of {Asked} blocks are known to {Query}; 0x{Told[0].Address:x} is in "
        + (Told[0].Mapping.Length == 0 ? "no mapping" : Told[0].Mapping);

    internal void Begin(BlockOwner owner)
    {
        Owner = owner;
        _countBefore = BlockOwners.CountOf(owner);
    }

    /// <summary>Shows blocks that are held, each with at least this many bytes.</summary>
    internal void Show(ReadOnlySpan<nint> held, nuint bytesEach)
    {
        Asked = int.Min(held.Length, MaxAsked);
        if (BlockOwners.KnowsOf(Owner) is { } knows)
        {
            Owned = 0;
            for (int i = 0; i < Asked; i++)
            {
                Owned += knows(held[At(i, Asked, held.Length)]) ? 1 : 0;
            }
        }
        else
        {
            ulong counted = BlockOwners.CountOf(Owner) - _countBefore;
            ulong wanted = (ulong)held.Length * (Owner == BlockOwner.TempJob ? 1 : bytesEach);
            Owned = counted >= wanted ? Asked : 0;
        }
        Tell(held);
    }

    /// <summary>Shows arrays that this thread has allocated since <see cref="Begin"/>: the collector must have counted
    /// the bytes of all of them.</summary>
    internal void Show<T>(ReadOnlySpan<T[]> held)
        where T : unmanaged
    {
        ulong counted = Owner == BlockOwner.Collector ? BlockOwners.CountOf(Owner) - _countBefore : 0;
        ulong wanted = 0;
        foreach (T[] each in held)
        {
            wanted += (ulong)each.LongLength * (ulong)sizeof(T);
        }
        Asked = int.Min(held.Length, MaxAsked);
        Owned = wanted != 0 && counted >= wanted ? Asked : 0;
        // Pinned, so that they keep their addresses while the mappings are read.
        var pins = new GCHandle[int.Min(held.Length, MaxTold)];
        nint[] addresses = new nint[pins.Length];
        for (int i = 0; i < pins.Length; i++)
        {
            pins[i] = GCHandle.Alloc(held[At(i, pins.Length, held.Length)], GCHandleType.Pinned);
            addresses[i] = pins[i].AddrOfPinnedObject();
        }
        Tell(addresses);
        Array.ForEach(pins, pin => pin.Free());
    }

    private void Tell(ReadOnlySpan<nint> held)
    {
        Told.Clear();
        MemoryMap map = MemoryMap.Now();
        int told = int.Min(held.Length, MaxTold);
        for (int i = 0; i < told; i++)
        {
            nint address = held[At(i, told, held.Length)];
            Told.Add((address, map.Describe(address)));
        }
    }

    /// <summary>Gets the index of the i-th of some items chosen evenly from all.</summary>
    private static int At(int i, int some, int all) => (int)((long)i * all / some);
}
