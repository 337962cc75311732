// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Linq;

namespace Tenure.Bench;

/// <summary>Command lines whose words are right and which ask for nothing that can be done.</summary>
internal static class Sense
{
    private const int MostIterations = 1000;
    private const int MostScale = 32;
    private const int MostRounds = 100_000;
    private const int MostBlocks = 10_000_000;

    /// <summary>Why it cannot be done; null: it can.</summary>
    internal static string? Refuse(Verb verb, Operations operations, IReadOnlyList<long> counts, int? iterations)
    {
        if (iterations is < 1 or > MostIterations)
        {
            return $"-t takes 1 to {MostIterations} iterations";
        }
        if (verb == Verb.Lifetimes)
        {
            bool isOne = counts.Count <= 1 && counts.All(count => count is >= 2 and <= MostBlocks);
            return isOne ? null : $"lifetimes takes one count, 2 to {MostBlocks}";
        }
        if (operations.HasFlag(Operations.Fragment))
        {
            return operations != Operations.Fragment ? "--fragment counts rounds and the others elements: ask for them one by one"
                : counts.Any(rounds => rounds > MostRounds) ? $"rounds of --fragment are 1 to {MostRounds}"
                : null;
        }
        if (operations.HasFlag(Operations.Mandelbrot))
        {
            return operations != Operations.Mandelbrot ? "--mandel takes a scale and the others elements: ask for them one by one"
                : counts.Any(scale => scale > MostScale) ? $"a scale of --mandel is 1 to {MostScale}"
                : null;
        }
        long most = counts.Count == 0 ? 0 : counts.Max();
        return verb != Verb.Huge && most > Array.MaxLength
            ? $"{most} elements are more than an array of .NET can have ({Array.MaxLength}): `jembench huge` measures those"
            : null;
    }
}
