// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System.Linq;
using BenchmarkDotNet.Reports;
using BenchmarkDotNet.Running;

namespace Tenure.Bench;

/// <summary>The ratio of a row's time to that of its table's baseline.</summary>
/// <remarks>
/// Uses medians: the first iteration of a cold start is longer because it touches fresh memory, and it dominates a mean
/// of three. Uses times per element if rows process different numbers of elements.
/// </remarks>
internal static class Ratios
{
    /// <summary>NaN if either was not measured.</summary>
    internal static double Of(Summary summary, BenchmarkCase measured)
    {
        CaseInfo info = CaseInfo.Of(measured);
        BenchmarkCase? baseline = summary.BenchmarksCases.FirstOrDefault(each => each.Descriptor.Baseline && IsBeside(CaseInfo.Of(each)));
        return baseline is null ? double.NaN : Time(summary, measured, info) / Time(summary, baseline, CaseInfo.Of(baseline));

        bool IsBeside(CaseInfo other) => other.Operation == info.Operation && other.Count == info.Count;
    }

    private static double Time(Summary summary, BenchmarkCase measured, CaseInfo info) =>
        (summary[measured]?.ResultStatistics?.Median ?? double.NaN) / (info.Elements == 0 ? 1 : info.Elements);
}
