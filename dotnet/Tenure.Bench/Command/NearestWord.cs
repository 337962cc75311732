// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;

namespace Tenure.Bench;

/// <summary>Suggests a similar word for a misspelled one.</summary>
internal static class NearestWord
{
    /// <summary>Gets the known word with the smallest distance; null if none is similar.</summary>
    internal static string? To(string word, IEnumerable<string> known)
    {
        string? best = null;
        int fewest = Math.Max(1, word.TrimStart('-').Length / 2) + 1;
        foreach (string candidate in known)
        {
            int changes = Distance(word, candidate);
            if (changes < fewest)
            {
                (best, fewest) = (candidate, changes);
            }
        }
        return best;
    }

    /// <summary>"; did you mean --fill?", or an empty string.</summary>
    internal static string Question(string word, IEnumerable<string> known) =>
        To(word, known) is { } near ? $"; did you mean {near}?" : "";

    /// <summary>The number of letters to insert, delete, change, or swap with a neighbor.</summary>
    internal static int Distance(string left, string right)
    {
        int[,] cost = new int[left.Length + 1, right.Length + 1];
        for (int i = 0; i <= left.Length; i++)
        {
            cost[i, 0] = i;
        }
        for (int j = 0; j <= right.Length; j++)
        {
            cost[0, j] = j;
        }
        for (int i = 1; i <= left.Length; i++)
        {
            for (int j = 1; j <= right.Length; j++)
            {
                int change = left[i - 1] == right[j - 1] ? 0 : 1;
                cost[i, j] = Math.Min(Math.Min(cost[i - 1, j], cost[i, j - 1]) + 1, cost[i - 1, j - 1] + change);
                if (i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1])
                {
                    cost[i, j] = Math.Min(cost[i, j], cost[i - 2, j - 2] + 1);
                }
            }
        }
        return cost[left.Length, right.Length];
    }
}
