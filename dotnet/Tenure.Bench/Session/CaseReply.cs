// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using BenchmarkDotNet.Reports;
using BenchmarkDotNet.Toolchains.Results;

namespace Tenure.Bench;

/// <summary>A child process's reply for its case: BenchmarkDotNet's output lines, our figures, and the proof of the
/// allocator.</summary>
internal sealed class CaseReply
{
    private const string FigurePrefix = "figure ";
    private const string ProofPrefix = "proof ";
    private const string ErrorPrefix = "error ";
    private const string LinePrefix = "line ";

    internal List<string> Lines { get; } = [];

    internal Dictionary<string, double> Figures { get; } = [];

    internal string Proof { get; set; } = "";

    internal string Error { get; set; } = "";

    internal void Take(ExecuteResult result, string gcLine)
    {
        Lines.AddRange(result.Measurements.Select(each => each.ToString()));
        Lines.Add(gcLine);
    }

    internal void WriteTo(string path)
    {
        using var file = new StreamWriter(path);
        foreach (string line in Lines)
        {
            file.WriteLine(LinePrefix + line);
        }
        foreach ((string name, double value) in Figures)
        {
            file.WriteLine(FigurePrefix + name + " " + value.ToString("R", CultureInfo.InvariantCulture));
        }
        file.WriteLine(ProofPrefix + Proof);
        if (Error.Length != 0)
        {
            file.WriteLine(ErrorPrefix + Error.ReplaceLineEndings(" "));
        }
    }

    internal static CaseReply ReadFrom(string path)
    {
        var reply = new CaseReply();
        foreach (string line in File.Exists(path) ? File.ReadAllLines(path) : [])
        {
            if (line.StartsWith(LinePrefix, StringComparison.Ordinal))
            {
                reply.Lines.Add(line[LinePrefix.Length..]);
            }
            else if (line.StartsWith(FigurePrefix, StringComparison.Ordinal) && line.Split(' ') is [_, var name, var value])
            {
                reply.Figures[name] = double.Parse(value, CultureInfo.InvariantCulture);
            }
            else if (line.StartsWith(ProofPrefix, StringComparison.Ordinal))
            {
                reply.Proof = line[ProofPrefix.Length..];
            }
            else if (line.StartsWith(ErrorPrefix, StringComparison.Ordinal))
            {
                reply.Error = line[ErrorPrefix.Length..];
            }
        }
        return reply;
    }

    /// <summary>The times of the measured iterations per operation, in ns.</summary>
    internal double[] Samples() =>
    [
        .. Lines.Select(line => Measurement.Parse(line, 1))
            .Where(each => each.IterationMode == BenchmarkDotNet.Engines.IterationMode.Workload
                && each.IterationStage == BenchmarkDotNet.Engines.IterationStage.Actual)
            .Select(each => each.Nanoseconds / each.Operations),
    ];
}
