// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System.Linq;
using BenchmarkDotNet.Reports;
using BenchmarkDotNet.Running;

namespace Tenure.Bench;

/// <summary>A row's time over that of its table's baseline.</summary>
/// <remarks>
/// Of medians: the first iteration of a cold start is longer by what is touched then, and a mean of three is mostly that
/// one. By the element where rows go through different numbers of them.
/// </remarks>
internal static class Ratios
{
    /// <summary>NaN when one of both was not measured.</summary>
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
