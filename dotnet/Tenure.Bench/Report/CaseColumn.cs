// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Globalization;
using BenchmarkDotNet.Columns;
using BenchmarkDotNet.Reports;
using BenchmarkDotNet.Running;

namespace Tenure.Bench;

/// <summary>One of our columns: a description of the case, or its time per element.</summary>
internal sealed class CaseColumn : IColumn
{
    private readonly Func<BenchmarkCase, Summary, string> _value;

    private CaseColumn(string name, string legend, ColumnCategory category, int place, Func<BenchmarkCase, Summary, string> value)
    {
        (ColumnName, Legend, Category, PriorityInCategory, _value) = (name, legend, category, place, value);
    }

    internal static CaseColumn Operation { get; } = new(
        "Operation", "The operation", ColumnCategory.Job, 0, static (each, _) => CaseInfo.Of(each).Operation);

    internal static CaseColumn Memory { get; } = new(
        "Memory", "The allocator, and the way the memory is traversed", ColumnCategory.Job, 1, static (each, _) => CaseInfo.Of(each).Row);

    internal static CaseColumn PerElement { get; } = new(
        "ns/element", "Mean divided by the number of elements in this row: the largest managed array has fewer than a huge one",
        ColumnCategory.Statistics, 1000, PerElementText);

    internal static CaseColumn Ratio { get; } = new(
        "Ratio", "Median relative to the first row's; per element where elements are counted",
        ColumnCategory.Baseline, 0, static (each, summary) => RatioText(Ratios.Of(summary, each)));

    public string Id => $"{nameof(CaseColumn)}.{ColumnName}";

    public string ColumnName { get; }

    public bool AlwaysShow => true;

    public ColumnCategory Category { get; }

    public int PriorityInCategory { get; }

    public bool IsNumeric => Category != ColumnCategory.Job;

    public UnitType UnitType => UnitType.Dimensionless;

    public string Legend { get; }

    public bool IsAvailable(Summary summary) => true;

    public bool IsDefault(Summary summary, BenchmarkCase benchmarkCase) => false;

    public string GetValue(Summary summary, BenchmarkCase benchmarkCase) => _value(benchmarkCase, summary);

    public string GetValue(Summary summary, BenchmarkCase benchmarkCase, SummaryStyle style) => _value(benchmarkCase, summary);

    private static string RatioText(double ratio) =>
        double.IsFinite(ratio)
            ? ratio.ToString(ratio < 0.01 ? "0.0000" : ratio < 0.1 ? "0.000" : "0.00", CultureInfo.InvariantCulture)
            : "-";

    private static string PerElementText(BenchmarkCase measured, Summary summary)
    {
        long elements = CaseInfo.Of(measured).Elements;
        double? mean = summary[measured]?.ResultStatistics?.Mean;
        return elements == 0 || mean is null ? "-" : (mean.Value / elements).ToString("0.000", CultureInfo.InvariantCulture);
    }
}
