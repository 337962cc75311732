// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure;

/// <summary>What a thread's Temp has seen: <see cref="Native.TempStats"/>.</summary>
public readonly record struct TempStats
{
    /// <summary>Bytes reserved as one range; zero before the thread's first use.</summary>
    public ulong BudgetBytes { get; init; }

    /// <summary>Bytes in use now, overflow included.</summary>
    public ulong UsedBytes { get; init; }

    /// <summary>The peak within the budget in bytes, rounded up to a step of doubling.</summary>
    public ulong CommittedBytes { get; init; }

    /// <summary>Chunks taken because the budget, or the chunk before, was full.</summary>
    public ulong OverflowCount { get; init; }

    /// <summary>Bytes of those chunks.</summary>
    public ulong OverflowBytes { get; init; }

    /// <summary>The most bytes of chunks held at a time.</summary>
    public ulong OverflowPeakBytes { get; init; }
}
