// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Buffers;
using System.Linq;
using System.Runtime.InteropServices;

namespace Tenure.Bench;

/// <summary>Pairs part: blocks of 128 bytes, allocated and freed one at a time and in whole batches.</summary>
/// <remarks>
/// The loops of each row are in its own methods; the first bytes of every block are written. Shorter passes run first,
/// until the runtime has fully optimized loops and calls.
/// </remarks>
internal static unsafe class ShortPairs
{
    private const int Bytes = 128;

    /// <summary>The number of pairs in a pass that takes about a millisecond.</summary>
    private const int OneByOne = 100_000;

    /// <summary>The number of passes; the median counts.</summary>
    private const int Passes = 11;

    /// <summary>The number of pairs in a preparatory pass.</summary>
    private const int Few = 200;

    /// <summary>The number of blocks shown to the proof: many, because an allocator that only counts may keep a few
    /// freed blocks in its count.</summary>
    private const int Shown = 1000;

    internal static void Measure(string row, int batch, ShortResult found)
    {
        if (row == "array-pool")
        {
            // The pool's later rentals were allocated after this point, or are allocated for the proof.
            found.Proof.Begin(BlockOwner.Collector);
        }
        switch (row)
        {
            case "managed":
                Add(found, batch, ManagedPairs, ManagedBatch, new byte[batch][], new byte[Few][]);
                break;
            case "array-pool":
                Add(found, batch, RentedPairs, RentedBatch, new byte[batch][], new byte[Few][]);
                break;
            case "native-memory" or "jemalloc":
                Add(found, batch, SystemPairs, SystemBatch, new nint[batch], new nint[Few]);
                break;
            case "persistent":
                Add(found, batch, SizedPairs, SizedBatch, new nint[batch], new nint[Few]);
                break;
            case "persistent-without-size":
                Add(found, batch, UnsizedPairs, UnsizedBatch, new nint[batch], new nint[Few]);
                break;
            default:
                found.Error = $"{row} does not take part in {ShortPart.Pairs}";
                return;
        }
        ShortPart.AddPeak(ShortPart.Pairs, found);
        Show(row, found.Proof);
    }

    private static void Add<T>(ShortResult found, int batch, Action<int> oneByOne, Action<T[]> whole, T[] blocks, T[] few)
    {
        HotCode.Settle(() =>
        {
            oneByOne(Few);
            whole(few);
        });
        found.Add("pair", "one by one", "ns", PassTime.Median(Passes, () => oneByOne(OneByOne)) / OneByOne);
        found.Add("pair", "in batches", "ns", PassTime.Median(Passes, () => whole(blocks)) / batch);
    }

    /// <summary>Allocates blocks like the measured ones and shows them while they are held.</summary>
    private static void Show(string row, BlockProof proof)
    {
        switch (row)
        {
            case "managed":
                proof.Begin(BlockOwner.Collector);
                proof.Show<byte>([.. Enumerable.Range(0, Shown).Select(_ => new byte[Bytes])]);
                return;
            case "array-pool":
                byte[][] rented = [.. Enumerable.Range(0, Shown).Select(_ => ArrayPool<byte>.Shared.Rent(Bytes))];
                proof.Show<byte>(rented);
                Array.ForEach(rented, block => ArrayPool<byte>.Shared.Return(block));
                return;
            default:
                break;
        }
        bool isTenure = ShortPart.KindOf(row) == RowKind.Tenure;
        nint[] held = new nint[Shown];
        // The C library counts for the whole process: the runtime's threads may free at the same time. Then ask again.
        const int MaxTries = 10;
        for (int tries = 0; tries < MaxTries && !(tries > 0 && proof.IsProven); tries++)
        {
            ShowOnce(ShortPart.OwnerOf(row), isTenure, held, proof);
        }
    }

    private static void ShowOnce(BlockOwner owner, bool isTenure, nint[] held, BlockProof proof)
    {
        proof.Begin(owner);
        for (int i = 0; i < held.Length; i++)
        {
            held[i] = (nint)(isTenure ? Native.Allocate(Bytes, Lifetime.Persistent) : NativeMemory.Alloc(Bytes));
        }
        proof.Show(held, Bytes);
        foreach (nint block in held)
        {
            if (isTenure)
            {
                Native.Deallocate((void*)block, Bytes, Lifetime.Persistent);
            }
            else
            {
                NativeMemory.Free((void*)block);
            }
        }
    }

    private static void ManagedPairs(int count)
    {
        byte[]? last = null;
        for (int i = 0; i < count; i++)
        {
            last = new byte[Bytes];
            last[0] = (byte)i;
        }
        GC.KeepAlive(last);
    }

    private static void ManagedBatch(byte[][] blocks)
    {
        for (int i = 0; i < blocks.Length; i++)
        {
            blocks[i] = new byte[Bytes];
            blocks[i][0] = (byte)i;
        }
        Array.Clear(blocks);
    }

    private static void RentedPairs(int count)
    {
        for (int i = 0; i < count; i++)
        {
            byte[] block = ArrayPool<byte>.Shared.Rent(Bytes);
            block[0] = (byte)i;
            ArrayPool<byte>.Shared.Return(block);
        }
    }

    private static void RentedBatch(byte[][] blocks)
    {
        for (int i = 0; i < blocks.Length; i++)
        {
            blocks[i] = ArrayPool<byte>.Shared.Rent(Bytes);
            blocks[i][0] = (byte)i;
        }
        foreach (byte[] block in blocks)
        {
            ArrayPool<byte>.Shared.Return(block);
        }
    }

    private static void SystemPairs(int count)
    {
        for (int i = 0; i < count; i++)
        {
            void* block = NativeMemory.Alloc(Bytes);
            *(int*)block = i;
            NativeMemory.Free(block);
        }
    }

    private static void SystemBatch(nint[] blocks)
    {
        for (int i = 0; i < blocks.Length; i++)
        {
            blocks[i] = (nint)NativeMemory.Alloc(Bytes);
            *(int*)blocks[i] = i;
        }
        foreach (nint block in blocks)
        {
            NativeMemory.Free((void*)block);
        }
    }

    private static void SizedPairs(int count)
    {
        for (int i = 0; i < count; i++)
        {
            void* block = Native.Allocate(Bytes, Lifetime.Persistent);
            *(int*)block = i;
            Native.Deallocate(block, Bytes, Lifetime.Persistent);
        }
    }

    private static void SizedBatch(nint[] blocks)
    {
        for (int i = 0; i < blocks.Length; i++)
        {
            blocks[i] = (nint)Native.Allocate(Bytes, Lifetime.Persistent);
            *(int*)blocks[i] = i;
        }
        foreach (nint block in blocks)
        {
            Native.Deallocate((void*)block, Bytes, Lifetime.Persistent);
        }
    }

    private static void UnsizedPairs(int count)
    {
        for (int i = 0; i < count; i++)
        {
            void* block = Native.Allocate(Bytes, Lifetime.Persistent);
            *(int*)block = i;
            Native.Deallocate(block, Lifetime.Persistent);
        }
    }

    private static void UnsizedBatch(nint[] blocks)
    {
        for (int i = 0; i < blocks.Length; i++)
        {
            blocks[i] = (nint)Native.Allocate(Bytes, Lifetime.Persistent);
            *(int*)blocks[i] = i;
        }
        foreach (nint block in blocks)
        {
            Native.Deallocate((void*)block, Lifetime.Persistent);
        }
    }
}
