// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;

namespace Tenure.Bench;

/// <summary>The verb: the data structure or workload to measure.</summary>
internal enum Verb
{
    Malloc,
    Buffer,
    Safe,
    Huge,
    Vector,
    Lifetimes,
}

/// <summary>The operations to measure; several can be combined.</summary>
[Flags]
internal enum Operations
{
    None = 0,
    Create = 1,
    Fill = 2,
    Multiply = 4,
    Fragment = 8,
    Mandelbrot = 16,
    Test = 32,
}

/// <summary>A parsed command line.</summary>
internal sealed record BenchRequest
{
    internal required Verb Verb { get; init; }

    /// <summary>The verb as typed: "array" for the buffers.</summary>
    internal required string VerbName { get; init; }

    internal Operations Operations { get; init; }

    /// <summary>The numbers of elements, rounds or scales.</summary>
    internal IReadOnlyList<long> Counts { get; init; } = [];

    internal required ElementType Element { get; init; }

    internal bool IsColdStart { get; init; }

    internal bool IsOnce { get; init; }

    internal int? Iterations { get; init; }

    /// <summary>For lifetimes: whether the first batch is written within the time.</summary>
    internal Storing FirstBatch { get; init; }

    /// <summary>The folder for the file of a file-backed array; null for memory.</summary>
    internal string? FileFolder { get; init; }

    internal string? JsonFile { get; init; }

    internal string? OutFolder { get; init; }

    /// <summary>Whether BenchmarkDotNet's output is shown while it runs.</summary>
    internal bool IsVerbose { get; init; }

    /// <summary>The arguments after "--", for BenchmarkDotNet.</summary>
    internal IReadOnlyList<string> Further { get; init; } = [];

    /// <summary>All arguments as typed; a child process receives the same.</summary>
    internal required IReadOnlyList<string> Arguments { get; init; }

    internal string CommandText => "jembench " + string.Join(' ', Arguments);
}

/// <summary>The request that this process measures. Benchmark classes are created by reflection and read it
/// here.</summary>
internal static class Selection
{
    private static BenchRequest? s_request;

    internal static BenchRequest Request
    {
        get => s_request ?? throw new InvalidOperationException("There is no request.");
        set => s_request = value;
    }
}
