// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System.Collections.Generic;

namespace Tenure.Bench;

/// <summary>The figures of one row, and the owner of its blocks.</summary>
internal sealed class ShortResult
{
    internal List<(string Metric, string Variant, string Unit, double Value)> Values { get; } = [];

    /// <summary>The proof for blocks that were measured or allocated like them.</summary>
    internal BlockProof Proof { get; } = new();

    /// <summary>The reason why there are no figures; empty if there are.</summary>
    internal string Error { get; set; } = "";

    internal void Add(string metric, string variant, string unit, double value) => Values.Add((metric, variant, unit, value));
}
