// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

/// <summary>How a <see cref="NativeHeap"/> is to be.</summary>
public sealed record NativeHeapOptions
{
    /// <summary>What it is called in reports; up to 63 bytes of UTF-8 are kept.</summary>
    public string Name { get; init; } = "";

    /// <summary>The most bytes that it takes from the system; null for no limit. Below 256 KiB no small block fits;
    /// below 512 KiB either small blocks fit or large ones, and the first request decides.</summary>
    public ulong? LimitBytes { get; init; }

    /// <summary>How long freed memory is kept for the next request; one second. Zero: not at all.</summary>
    public TimeSpan PurgeDelay { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>The most bytes of freed blocks past 31 MiB that are kept; 256 MiB. Zero: none.</summary>
    public ulong MaxRetainedBytes { get; init; } = 256ul << 20;
}
