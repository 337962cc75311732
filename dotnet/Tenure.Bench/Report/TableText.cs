// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.IO;
using System.Linq;
using BenchmarkDotNet.Columns;
using BenchmarkDotNet.Exporters;
using BenchmarkDotNet.Loggers;
using BenchmarkDotNet.Reports;

namespace Tenure.Bench;

/// <summary>Formats a summary as text, with explanations of its columns.</summary>
internal static class TableText
{
    internal static void Print(Summary summary, TextWriter to)
    {
        var log = new AccumulationLogger();
        MarkdownExporter.Console.ExportToLog(summary, log);
        foreach (string line in log.GetLog().Trim().Split('\n'))
        {
            if (line.StartsWith("Benchmarks with issues", StringComparison.Ordinal))
            {
                break;
            }
            to.WriteLine(line.TrimEnd());
        }
        IColumn[] explained =
            [.. summary.Table.Columns.Where(each => each.NeedToShow).Select(each => each.OriginalColumn).Where(IsOurs)];
        int width = explained.Length == 0 ? 0 : explained.Max(each => each.ColumnName.Length);
        foreach (IColumn column in explained)
        {
            to.WriteLine($"  {column.ColumnName.PadRight(width)}  {column.Legend}");
        }
        to.WriteLine();
    }

    /// <summary>Mean, Error and similar columns are BenchmarkDotNet's and well known; our columns need an explanation,
    /// and so does the unit of the collection counts.</summary>
    private static bool IsOurs(IColumn column) =>
        column is CaseColumn { IsNumeric: true } or MetricColumn;
}
