// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using BenchmarkDotNet.Attributes;

namespace Tenure.Bench;

/// <summary>Base of all benchmarks: the count.</summary>
public abstract class CountedBenchmarks
{
    /// <summary>The requested number of elements, rounds or scale.</summary>
    [ParamsSource(nameof(Counts))]
    public long Count { get; set; }

    /// <summary>The requested counts.</summary>
    public static IEnumerable<long> Counts => Selection.Request.Counts;

    /// <summary>A managed array has at most 2147483591 elements; a HugeArray can have more.</summary>
    internal static long ManagedCount(long count) => long.Min(count, Array.MaxLength);

    internal int OfManaged => (int)ManagedCount(Count);
}
