// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure;

/// <summary>Statistics of a thread's Temp; see <see cref="Native.TempStats"/>.</summary>
public readonly record struct TempStats
{
    /// <summary>Gets the number of bytes reserved as one address range; zero before the thread's first use.</summary>
    public ulong BudgetBytes { get; init; }

    /// <summary>Gets the number of bytes in use, including overflow.</summary>
    public ulong UsedBytes { get; init; }

    /// <summary>Gets the peak use within the budget in bytes, rounded up to a doubling step.</summary>
    public ulong CommittedBytes { get; init; }

    /// <summary>Gets the number of chunks acquired because the budget or the previous chunk was full.</summary>
    public ulong OverflowCount { get; init; }

    /// <summary>Gets the size of those chunks in bytes.</summary>
    public ulong OverflowBytes { get; init; }

    /// <summary>Gets the largest number of bytes ever held in chunks at one time.</summary>
    public ulong OverflowPeakBytes { get; init; }
}
