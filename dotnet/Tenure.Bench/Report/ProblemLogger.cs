// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Linq;
using BenchmarkDotNet.Loggers;

namespace Tenure.Bench;

/// <summary>Shows only BenchmarkDotNet's errors; the progress lines and tables replace its other output.</summary>
internal sealed class ProblemLogger : ILogger
{
    private static readonly string[] s_known =
        ["ExitCode != 0", "No Workload Results", "There are not any results", "Benchmarks with issues", "  "];

    public string Id => nameof(ProblemLogger);

    public int Priority => 0;

    public void Write(LogKind logKind, string text)
    {
        if (logKind == LogKind.Error && IsNews(text))
        {
            Console.Error.Write(text);
        }
    }

    public void WriteLine()
    {
    }

    public void WriteLine(LogKind logKind, string text)
    {
        // Hints are also logged as errors and begin as comments; a failed row is reported on its own line.
        if (logKind == LogKind.Error && IsNews(text))
        {
            Console.Error.WriteLine(text);
        }
    }

    public void Flush()
    {
    }

    private static bool IsNews(string text) =>
        text.Length != 0 && !text.StartsWith("//", StringComparison.Ordinal)
        && !s_known.Any(known => text.StartsWith(known, StringComparison.Ordinal));
}
