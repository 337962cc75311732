// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;

namespace Tenure.Bench;

/// <summary>What is measured with what.</summary>
internal enum Verb
{
    Malloc,
    Buffer,
    Safe,
    Huge,
    Vector,
    Lifetimes,
}

/// <summary>What is done; several may be asked for at once.</summary>
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

/// <summary>A command line that was understood.</summary>
internal sealed record BenchRequest
{
    internal required Verb Verb { get; init; }

    /// <summary>As it was typed: "array" for the buffers.</summary>
    internal required string VerbName { get; init; }

    internal Operations Operations { get; init; }

    /// <summary>Elements, rounds or scales.</summary>
    internal IReadOnlyList<long> Counts { get; init; } = [];

    internal required ElementType Element { get; init; }

    internal bool IsColdStart { get; init; }

    internal bool IsOnce { get; init; }

    internal int? Iterations { get; init; }

    /// <summary>Of the lifetimes: whether the first batch is written while the clock runs.</summary>
    internal Storing FirstBatch { get; init; }

    /// <summary>Where a file-backed array's file goes; null: memory.</summary>
    internal string? FileFolder { get; init; }

    internal string? JsonFile { get; init; }

    internal string? OutFolder { get; init; }

    /// <summary>What BenchmarkDotNet prints while it runs is shown.</summary>
    internal bool IsVerbose { get; init; }

    /// <summary>For BenchmarkDotNet: what stood behind "--".</summary>
    internal IReadOnlyList<string> Further { get; init; } = [];

    /// <summary>Everything that was typed: a child is told the same.</summary>
    internal required IReadOnlyList<string> Arguments { get; init; }

    internal string CommandText => "jembench " + string.Join(' ', Arguments);
}

/// <summary>What this process measures. Benchmark classes are made by reflection and read it here.</summary>
internal static class Selection
{
    private static BenchRequest? s_request;

    internal static BenchRequest Request
    {
        get => s_request ?? throw new InvalidOperationException("Nothing was asked for.");
        set => s_request = value;
    }
}
