// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using BenchmarkDotNet.Attributes;

namespace Tenure.Bench;

/// <summary>What all benchmarks have: how many.</summary>
public abstract class CountedBenchmarks
{
    /// <summary>Elements, rounds or a scale, as asked for.</summary>
    [ParamsSource(nameof(Counts))]
    public long Count { get; set; }

    /// <summary>As asked for.</summary>
    public static IEnumerable<long> Counts => Selection.Request.Counts;

    /// <summary>A managed array has at most 2147483591 elements; a HugeArray has more.</summary>
    internal static long ManagedCount(long count) => long.Min(count, Array.MaxLength);

    internal int OfManaged => (int)ManagedCount(Count);
}
