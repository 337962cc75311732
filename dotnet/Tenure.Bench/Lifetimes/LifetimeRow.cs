// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

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
        new("Managed", RowKind.Managed, "new byte[4], which the collector zeroes, as GC.AllocateUninitializedArray does below 2048 bytes; "
            + "deallocate is one collection of the youngest generation, forced after each batch"),
    ];

    /// <summary>Whom the proof asks about the row's blocks.</summary>
    internal BlockOwner Owner => Name switch
    {
        "Temp" => BlockOwner.Temp,
        "TempJob" => BlockOwner.TempJob,
        "Persistent" => BlockOwner.Heap,
        "NativeMemory" => BlockOwner.CLibrary,
        "jemalloc" => BlockOwner.Jemalloc,
        _ => BlockOwner.Collector,
    };
}

/// <summary>Whether blocks are written while the clock runs.</summary>
internal enum Storing
{
    /// <summary>As the article: allocated only, and written outside the times.</summary>
    Outside,

    /// <summary>All of a block is written as soon as it is allocated.</summary>
    Inside,
}
