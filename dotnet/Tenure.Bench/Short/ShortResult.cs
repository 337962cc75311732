// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System.Collections.Generic;

namespace Tenure.Bench;

/// <summary>The figures of one row, and whose blocks they are of.</summary>
internal sealed class ShortResult
{
    internal List<(string Metric, string Variant, string Unit, double Value)> Values { get; } = [];

    /// <summary>Shown blocks that were measured, or are made as those were.</summary>
    internal BlockProof Proof { get; } = new();

    /// <summary>Why there are none; empty: there are.</summary>
    internal string Error { get; set; } = "";

    internal void Add(string metric, string variant, string unit, double value) => Values.Add((metric, variant, unit, value));
}
