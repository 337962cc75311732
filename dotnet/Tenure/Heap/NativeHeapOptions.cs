// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

/// <summary>Options of a <see cref="NativeHeap"/>.</summary>
public sealed record NativeHeapOptions
{
    /// <summary>Gets the name in reports; up to 63 bytes of UTF-8 are kept.</summary>
    public string Name { get; init; } = "";

    /// <summary>Gets the maximum number of bytes that the heap acquires from the system; null for no limit. Below 256
    /// KiB, no small block fits. Below 512 KiB, either small or large blocks fit; the first request decides
    /// which.</summary>
    public ulong? LimitBytes { get; init; }

    /// <summary>Gets the time for which freed memory is retained before it is purged; one second by default. Zero
    /// returns it immediately.</summary>
    public TimeSpan PurgeDelay { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>Gets the maximum number of bytes retained in freed blocks larger than 31 MiB; 256 MiB by default. Zero
    /// retains none.</summary>
    public ulong MaxRetainedBytes { get; init; } = 256ul << 20;
}
