// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Buffers;
using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Threading;

namespace Tenure.Bench;

/// <summary>Blocks of 128 bytes: one allocated and freed after the other, and whole batches of them.</summary>
/// <remarks>
/// The loops of a row stand in methods of its own, which are compiled as hot code is; every block's first bytes are
/// written. What they call is given the time to be compiled again before a pass counts.
/// </remarks>
internal static unsafe class ShortPairs
{
    private const int Bytes = 128;

    /// <summary>One after the other, in a pass: about a millisecond.</summary>
    private const int OneByOne = 100_000;

    /// <summary>Passes of which the median counts.</summary>
    private const int Passes = 11;

    /// <summary>How long the runtime waits before it compiles again what was called often, and a little more.</summary>
    private const int SettleMilliseconds = 150;
    private const int SettlePasses = 3;

    internal static void Measure(string row, int batch, ShortResult found)
    {
        switch (row)
        {
            case "managed":
                byte[][] arrays = new byte[batch][];
                Add(found, batch, ManagedPairs, () => ManagedBatch(arrays));
                break;
            case "array-pool":
                byte[][] rented = new byte[batch][];
                Add(found, batch, RentedPairs, () => RentedBatch(rented));
                break;
            case "native-memory" or "jemalloc":
                nint[] blocks = new nint[batch];
                Add(found, batch, SystemPairs, () => SystemBatch(blocks));
                break;
            case "persistent":
                nint[] sized = new nint[batch];
                Add(found, batch, SizedPairs, () => SizedBatch(sized));
                break;
            case "persistent-without-size":
                nint[] unsized = new nint[batch];
                Add(found, batch, UnsizedPairs, () => UnsizedBatch(unsized));
                break;
            default:
                found.Error = $"{row} takes no part in {ShortPart.Pairs}";
                break;
        }
    }

    private static void Add(ShortResult found, int batch, Action oneByOne, Action whole)
    {
        found.Add("pair", "one by one", "ns", Nanoseconds(oneByOne) / OneByOne);
        found.Add("pair", "in batches", "ns", Nanoseconds(whole) / batch);
    }

    private static double Nanoseconds(Action measured)
    {
        for (int pass = 0; pass < SettlePasses; pass++)
        {
            // More calls than the thirty after which a method counts as hot.
            for (int call = 0; call < 32; call++)
            {
                measured();
            }
            Thread.Sleep(SettleMilliseconds);
        }
        double[] passes = new double[Passes];
        for (int pass = 0; pass < Passes; pass++)
        {
            long begin = Stopwatch.GetTimestamp();
            measured();
            passes[pass] = Stopwatch.GetElapsedTime(begin).TotalNanoseconds;
        }
        return SampleStatistics.Median(passes);
    }

    private static void ManagedPairs()
    {
        byte[]? last = null;
        for (int i = 0; i < OneByOne; i++)
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

    private static void RentedPairs()
    {
        for (int i = 0; i < OneByOne; i++)
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

    private static void SystemPairs()
    {
        for (int i = 0; i < OneByOne; i++)
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

    private static void SizedPairs()
    {
        for (int i = 0; i < OneByOne; i++)
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

    private static void UnsizedPairs()
    {
        for (int i = 0; i < OneByOne; i++)
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
