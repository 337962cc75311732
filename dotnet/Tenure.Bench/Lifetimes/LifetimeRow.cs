// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure.Bench;

/// <summary>A row: the allocator's name, which also names the CSV files.</summary>
internal sealed record LifetimeRow(string Name, RowKind Kind, string Note)
{
    /// <summary>The article's size and alignment.</summary>
    internal const int Bytes = 4;

    internal static LifetimeRow[] All { get; } =
    [
        new("Temp", RowKind.Tenure, "deallocate is the end of the frame, which frees all blocks; freeing a single block does nothing"),
        new("TempJob", RowKind.Tenure, "deallocate includes the end of the frame"),
        new("Persistent", RowKind.Tenure, ""),
        new("NativeMemory", RowKind.System, ""),
        new("NativeMemory-aligned", RowKind.System, "NativeMemory.AlignedAlloc at multiples of 64"),
        new("jemalloc", RowKind.Jemalloc, "NativeMemory with jemalloc preloaded"),
        new("Managed", RowKind.Managed, "new byte[4], which the collector zeroes, as GC.AllocateUninitializedArray does below 2048 bytes; "
            + "deallocate is one collection of the youngest generation, forced after each batch"),
    ];

    /// <summary>The owner that the proof queries about the row's blocks.</summary>
    internal BlockOwner Owner => Name switch
    {
        "Temp" => BlockOwner.Temp,
        "TempJob" => BlockOwner.TempJob,
        "Persistent" => BlockOwner.Heap,
        "NativeMemory" or "NativeMemory-aligned" => BlockOwner.CLibrary,
        "jemalloc" => BlockOwner.Jemalloc,
        _ => BlockOwner.Collector,
    };
}

/// <summary>Whether blocks are written within the time.</summary>
internal enum Storing
{
    /// <summary>As in the article: blocks are only allocated within the time, and written outside it.</summary>
    Outside,

    /// <summary>Every byte of a block is written as soon as it is allocated.</summary>
    Inside,
}
