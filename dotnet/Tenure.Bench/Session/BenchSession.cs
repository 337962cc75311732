// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using BenchmarkDotNet.Columns;
using BenchmarkDotNet.Configs;
using BenchmarkDotNet.ConsoleArguments;
using BenchmarkDotNet.Diagnosers;
using BenchmarkDotNet.Exporters;
using BenchmarkDotNet.Exporters.Csv;
using BenchmarkDotNet.Filters;
using BenchmarkDotNet.Jobs;
using BenchmarkDotNet.Loggers;
using BenchmarkDotNet.Order;
using BenchmarkDotNet.Reports;
using BenchmarkDotNet.Running;
using Perfolizer.Horology;

namespace Tenure.Bench;

/// <summary>Runs one command line: measures the cases that fit, prints and writes the results.</summary>
internal static class BenchSession
{
    internal static int Run(BenchRequest request)
    {
        Selection.Request = request;
        TextWriter say = Console.Error;
        OutputFiles.LeaveStandardOutput(request);
        if (OutputFiles.Refuse(request) is { } refused)
        {
            say.WriteLine($"jembench: {refused}");
            return ExitCode.Failed;
        }
        if (!TryReadFurther(request, out IConfig? further))
        {
            return ExitCode.BadUsage;
        }
        IConfig plain = ManualConfig.CreateEmpty().AddJob(JobPlan.Of(request));
        CaseInfo[] all = [.. CasesOf(plain, request).SelectMany(run => run.BenchmarksCases).Select(CaseInfo.Of)];
        bool hasJemalloc = Heaps.FindJemalloc() is not null;
        if (!hasJemalloc && all.Any(row => row.Kind == RowKind.Jemalloc))
        {
            say.WriteLine(Heaps.JemallocMissing);
        }
        all = [.. all.Where(row => hasJemalloc || row.Kind != RowKind.Jemalloc)];
        if (Fit.Check(request, all, say.WriteLine) is not { } rows)
        {
            return ExitCode.Failed;
        }
        HashSet<string> keys = [.. rows.Select(row => row.Key)];
        var toolchain = new ChildToolchain(request, keys.Count);
        string artifacts = request.OutFolder ?? Path.Combine(Path.GetTempPath(), $"jembench-{Environment.ProcessId}");
        ManualConfig config = Configure(request, toolchain, keys, artifacts, further);
        BenchmarkRunInfo[] runs = [.. CasesOf(config, request).Where(run => run.BenchmarksCases.Length != 0)];
        if (runs.Length == 0)
        {
            say.WriteLine("jembench: the filter matches no row");
            return ExitCode.BadUsage;
        }
        Announce(request, say);
        using var interrupt = new Interrupt();
        Summary[] summaries = BenchmarkRunner.Run(runs);
        if (request.OutFolder is not null)
        {
            OutputFiles.Rename(artifacts);
        }
        else if (Directory.Exists(artifacts))
        {
            Directory.Delete(artifacts, recursive: true);
        }
        return Finish(request, summaries, toolchain);
    }

    /// <summary>The configuration that parent and child share, so that both measure the same cases.</summary>
    internal static IConfig ConfigOf(Job job, MemoryFigures memory) => ManualConfig.CreateEmpty()
        .AddJob(job).AddDiagnoser(MemoryDiagnoser.Default).AddDiagnoser(memory).WithOptions(ConfigOptions.DisableOptimizationsValidator);

    private static IEnumerable<BenchmarkRunInfo> CasesOf(IConfig config, BenchRequest request) =>
        BenchmarkTypes.Of(request).Select(type => BenchmarkConverter.TypeToBenchmarks(type, config));

    private static ManualConfig Configure(
        BenchRequest request, ChildToolchain toolchain, HashSet<string> keys, string artifacts, IConfig? further)
    {
        ManualConfig config = ManualConfig.CreateEmpty()
            .AddJob(JobPlan.Of(request).WithToolchain(toolchain))
            .AddDiagnoser(MemoryDiagnoser.Default)
            .AddDiagnoser(new MemoryFigures(toolchain.ReplyOf))
            .AddColumn(CaseColumn.Operation, CaseColumn.Memory)
            .AddColumnProvider(DefaultColumnProviders.Params, DefaultColumnProviders.Metrics)
            .AddColumn(StatisticColumn.Mean, StatisticColumn.Error, StatisticColumn.StdDev, StatisticColumn.Median)
            .AddColumn(CaseColumn.Ratio)
            .AddLogicalGroupRules(BenchmarkLogicalGroupRule.ByCategory, BenchmarkLogicalGroupRule.ByParams)
            .WithOrderer(new DefaultOrderer(SummaryOrderPolicy.Declared, MethodOrderPolicy.Declared))
            .WithSummaryStyle(new SummaryStyle(
                CultureInfo.InvariantCulture, printUnitsInHeader: false, sizeUnit: null, timeUnit: null, maxParameterColumnWidth: 40))
            .AddFilter(new SimpleFilter(each => keys.Contains(CaseInfo.Of(each).Key)))
            .WithOptions(ConfigOptions.DisableLogFile | ConfigOptions.DisableOptimizationsValidator)
            .WithArtifactsPath(artifacts);
        if (request.Operations is not (Operations.Fragment or Operations.Mandelbrot) && request.Element.IsNumber)
        {
            config.AddColumn(CaseColumn.PerElement);
        }
        if (request.OutFolder is not null)
        {
            config.AddExporter(MarkdownExporter.GitHub, CsvExporter.Default);
        }
        if (request.IsVerbose)
        {
            config.AddLogger(ConsoleLogger.Default);
        }
        else
        {
            config.AddLogger(new ProblemLogger());
        }
        if (further is not null)
        {
            config.AddExporter([.. further.GetExporters()])
                .AddColumnProvider([.. further.GetColumnProviders()])
                .AddFilter([.. further.GetFilters()]);
        }
        return config;
    }

    /// <summary>Reads BenchmarkDotNet's own arguments, except those that select cases or change how they are
    /// measured.</summary>
    private static bool TryReadFurther(BenchRequest request, out IConfig? further)
    {
        further = null;
        if (request.Further.Count == 0)
        {
            return true;
        }
        var log = new AccumulationLogger();
        (bool isGood, IConfig config, _) = ConfigParser.Parse([.. request.Further], log, ManualConfig.CreateEmpty());
        further = config;
        if (!isGood)
        {
            IEnumerable<string> reasons = log.GetLog().Split('\n').SkipWhile(line => !line.StartsWith("ERROR", StringComparison.Ordinal))
                .Skip(1).TakeWhile(line => !line.StartsWith("USAGE", StringComparison.Ordinal)).Select(line => line.Trim());
            Console.Error.WriteLine($"jembench: BenchmarkDotNet does not accept the arguments after --: {string.Join(' ', reasons)}");
        }
        return isGood;
    }

    private static void Announce(BenchRequest request, TextWriter say)
    {
        say.WriteLine(Versions.Line);
        if (Environment.GetEnvironmentVariables().Keys.Cast<string>().Any(name => name.StartsWith("TENURE_", StringComparison.Ordinal)))
        {
            say.WriteLine("TENURE_ environment variables are ignored: the rows are measured with the built-in settings");
        }
        say.WriteLine($"{request.Element.Name}; {JobPlan.Describe(request)}; each row in its own process");
        if (request.Verb == Verb.Huge && request.Counts.Any(count => count > Array.MaxLength))
        {
            say.WriteLine($"A managed array has at most {Array.MaxLength} elements, fewer than requested: compare ns/element.");
        }
    }

    private static int Finish(BenchRequest request, Summary[] summaries, ChildToolchain toolchain)
    {
        bool isWhole = true;
        // After an interrupt, a table without measurements is not printed.
        foreach (Summary summary in summaries.Where(each => !Interrupt.Came || each.BenchmarksCases.Any(IsMeasured)))
        {
            TableText.Print(summary, Console.Out);
            foreach (var error in summary.ValidationErrors.Where(each => each.IsCritical))
            {
                Console.Error.WriteLine($"jembench: {error.Message}");
                isWhole = false;
            }
            isWhole &= summary.BenchmarksCases.All(IsMeasured);
        }
        if (JobPlan.IsCold(request))
        {
            Console.Out.WriteLine(JobPlan.ColdNote);
        }
        if (Interrupt.Came)
        {
            int measured = summaries.Sum(summary => summary.BenchmarksCases.Count(IsMeasured));
            Console.Error.WriteLine($"jembench: interrupted: the result contains the {CountText.Of(measured, "row")} that {(measured == 1 ? "was" : "were")} finished");
        }
        try
        {
            JsonResult.Write(request, summaries, toolchain);
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            Console.Error.WriteLine($"jembench: {failure.Message}");
            return ExitCode.Failed;
        }
        return Interrupt.Came ? ExitCode.Interrupted : isWhole && summaries.Length != 0 ? ExitCode.Ok : ExitCode.Failed;

        bool IsMeasured(BenchmarkCase each) => toolchain.ReplyOf(each) is { Error.Length: 0 };
    }
}
