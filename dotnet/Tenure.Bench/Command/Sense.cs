// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Linq;

namespace Tenure.Bench;

/// <summary>Rejects command lines that parse but cannot be executed.</summary>
internal static class Sense
{
    private const int MaxIterations = 1000;
    private const int MaxScale = 32;
    private const int MaxRounds = 100_000;
    private const int MaxBlocks = 10_000_000;

    /// <summary>Gets the reason why the request cannot be executed; null if it can.</summary>
    internal static string? Refuse(Verb verb, Operations operations, IReadOnlyList<long> counts, int? iterations)
    {
        if (iterations is < 1 or > MaxIterations)
        {
            return $"-t must be from 1 to {MaxIterations} iterations";
        }
        if (verb == Verb.Lifetimes)
        {
            bool isOne = counts.Count <= 1 && counts.All(count => count is >= 2 and <= MaxBlocks);
            return isOne ? null : $"lifetimes takes one count, from 2 to {MaxBlocks}";
        }
        if (operations.HasFlag(Operations.Fragment))
        {
            return operations != Operations.Fragment ? "--fragment counts rounds and the other operations count elements: measure them separately"
                : counts.Any(rounds => rounds > MaxRounds) ? $"the rounds of --fragment must be from 1 to {MaxRounds}"
                : null;
        }
        if (operations.HasFlag(Operations.Mandelbrot))
        {
            return operations != Operations.Mandelbrot ? "--mandel takes a scale and the other operations count elements: measure them separately"
                : counts.Any(scale => scale > MaxScale) ? $"the scale of --mandel must be from 1 to {MaxScale}"
                : null;
        }
        long most = counts.Count == 0 ? 0 : counts.Max();
        return verb != Verb.Huge && most > Array.MaxLength
            ? $"{most} elements exceed the maximum of a .NET array ({Array.MaxLength}): use `jembench huge`"
            : null;
    }
}
