// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Linq;
using BenchmarkDotNet.Loggers;

namespace Tenure.Bench;

/// <summary>Of what BenchmarkDotNet says, the errors: everything else is said by the progress lines and the tables.</summary>
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
        // Hints and the like are told as errors as well, and begin as comments; a row that failed is told by its own line.
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
