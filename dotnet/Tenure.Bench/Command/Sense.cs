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
            return $"-t takes 1 to {MaxIterations} iterations";
        }
        if (verb == Verb.Lifetimes)
        {
            bool isOne = counts.Count <= 1 && counts.All(count => count is >= 2 and <= MaxBlocks);
            return isOne ? null : $"lifetimes takes one count, 2 to {MaxBlocks}";
        }
        if (operations.HasFlag(Operations.Fragment))
        {
            return operations != Operations.Fragment ? "--fragment counts rounds and the others elements: ask for them one by one"
                : counts.Any(rounds => rounds > MaxRounds) ? $"rounds of --fragment are 1 to {MaxRounds}"
                : null;
        }
        if (operations.HasFlag(Operations.Mandelbrot))
        {
            return operations != Operations.Mandelbrot ? "--mandel takes a scale and the others elements: ask for them one by one"
                : counts.Any(scale => scale > MaxScale) ? $"a scale of --mandel is 1 to {MaxScale}"
                : null;
        }
        long most = counts.Count == 0 ? 0 : counts.Max();
        return verb != Verb.Huge && most > Array.MaxLength
            ? $"{most} elements are more than an array of .NET can have ({Array.MaxLength}): `jembench huge` measures those"
            : null;
    }
}
