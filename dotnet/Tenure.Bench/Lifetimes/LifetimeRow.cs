// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System.Runtime.InteropServices;

namespace Tenure.Bench;

/// <summary>Whose blocks: the name is also that of the CSV files.</summary>
internal sealed record LifetimeRow(string Name, RowKind Kind, string Note)
{
    /// <summary>The article's size and alignment.</summary>
    internal const int Bytes = 4;

    internal static LifetimeRow[] All { get; } =
    [
        new("Temp", RowKind.Tenure, "deallocate is the end of the frame, which takes all of it; to give a block back does nothing"),
        new("TempJob", RowKind.Tenure, "deallocate has the end of the frame with it"),
        new("Persistent", RowKind.Tenure, ""),
        new("NativeMemory", RowKind.System, ""),
        new("jemalloc", RowKind.Jemalloc, "NativeMemory with jemalloc preloaded"),
        new("Managed", RowKind.Managed, "new byte[4]; deallocate is one collection of the youngest generation, forced after each batch"),
    ];
}

/// <summary>The blocks of a row. Written out for each, so that nothing stands between the clock and the calls. A batch of
/// Temp or TempJob is a frame: its end is part of giving the batch back, as in `tenure bench lifetimes`.</summary>
internal static unsafe class LifetimeBlocks
{
    internal static void AllocateTemp(nint[] blocks)
    {
        for (int i = 0; i < blocks.Length; i++)
        {
            blocks[i] = (nint)Native.Allocate(LifetimeRow.Bytes, Lifetime.Temp, LifetimeRow.Bytes);
        }
    }

    internal static void DeallocateTemp(nint[] blocks)
    {
        foreach (nint block in blocks)
        {
            Native.Deallocate((void*)block, Lifetime.Temp);
        }
        Native.NextFrame();
    }

    internal static void AllocateTempJob(nint[] blocks)
    {
        for (int i = 0; i < blocks.Length; i++)
        {
            blocks[i] = (nint)Native.Allocate(LifetimeRow.Bytes, Lifetime.TempJob, LifetimeRow.Bytes);
        }
    }

    internal static void DeallocateTempJob(nint[] blocks)
    {
        foreach (nint block in blocks)
        {
            Native.Deallocate((void*)block, Lifetime.TempJob);
        }
        Native.NextFrame();
    }

    internal static void AllocatePersistent(nint[] blocks)
    {
        for (int i = 0; i < blocks.Length; i++)
        {
            blocks[i] = (nint)Native.Allocate(LifetimeRow.Bytes, Lifetime.Persistent, LifetimeRow.Bytes);
        }
    }

    internal static void DeallocatePersistent(nint[] blocks)
    {
        foreach (nint block in blocks)
        {
            Native.Deallocate((void*)block, Lifetime.Persistent);
        }
    }

    internal static void AllocateSystem(nint[] blocks)
    {
        for (int i = 0; i < blocks.Length; i++)
        {
            blocks[i] = (nint)NativeMemory.Alloc(LifetimeRow.Bytes);
        }
    }

    internal static void DeallocateSystem(nint[] blocks)
    {
        foreach (nint block in blocks)
        {
            NativeMemory.Free((void*)block);
        }
    }

    internal static void AllocateManaged(byte[][] blocks)
    {
        for (int i = 0; i < blocks.Length; i++)
        {
            blocks[i] = new byte[LifetimeRow.Bytes];
        }
    }
}
