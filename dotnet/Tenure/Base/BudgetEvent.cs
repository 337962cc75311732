// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure;

/// <summary>What happened to a budget.</summary>
public enum BudgetEventKind
{
    /// <summary>The threshold is exceeded. Told again only after the use has fallen below it.</summary>
    Threshold = 0,

    /// <summary>The request would exceed the limit. It fails, unless the handler frees memory of the tag.</summary>
    Refusal = 1,
}

/// <summary>What a budget tells its handler: see <see cref="Tag.SetBudget"/>.</summary>
public readonly record struct BudgetEvent
{
    /// <summary>Gets what happened.</summary>
    public required BudgetEventKind Kind { get; init; }

    /// <summary>Gets the tag that has the budget.</summary>
    public required Tag Tag { get; init; }

    /// <summary>Gets the bytes in use: with the request for a threshold, without it for a refusal.</summary>
    public required ulong UsedBytes { get; init; }

    /// <summary>Gets the bytes of the request that led to the event.</summary>
    public required ulong RequestedBytes { get; init; }

    /// <summary>Gets the threshold of the budget.</summary>
    public required ulong ThresholdBytes { get; init; }

    /// <summary>Gets the limit of the budget.</summary>
    public required ulong LimitBytes { get; init; }
}

/// <summary>Handles an event of a budget.</summary>
/// <remarks>Called on the thread of the request, during the allocation. It may free memory of the tag; it should not
/// block. An exception that it throws is written to standard error and not propagated.</remarks>
/// <param name="happened">What happened.</param>
public delegate void BudgetHandler(in BudgetEvent happened);
