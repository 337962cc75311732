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
        new("Temp", RowKind.Tenure, "given back in order does nothing: the frame's end takes all"),
        new("TempJob", RowKind.Tenure, ""),
        new("Persistent", RowKind.Tenure, ""),
        new("NativeMemory", RowKind.System, ""),
        new("jemalloc", RowKind.Jemalloc, "NativeMemory with jemalloc preloaded"),
        new("Managed", RowKind.Managed, "new byte[4]; deallocate is one collection of the youngest generation"),
    ];
}

/// <summary>The blocks of a row. Written out for each, so that nothing stands between the clock and the calls.</summary>
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
