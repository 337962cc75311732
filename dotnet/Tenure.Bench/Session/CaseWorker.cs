// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Linq;
using System.Reflection;
using System.Threading;
using BenchmarkDotNet.Characteristics;
using BenchmarkDotNet.Configs;
using BenchmarkDotNet.Engines;
using BenchmarkDotNet.Environments;
using BenchmarkDotNet.Jobs;
using BenchmarkDotNet.Loggers;
using BenchmarkDotNet.Running;
using BenchmarkDotNet.Toolchains;
using BenchmarkDotNet.Toolchains.InProcess.Emit;
using BenchmarkDotNet.Toolchains.Parameters;
using BenchmarkDotNet.Toolchains.Results;

namespace Tenure.Bench;

/// <summary>The child process: measures one case with BenchmarkDotNet's engine.</summary>
internal static class CaseWorker
{
    /// <summary>The first argument of a child's command line; then come the reply file, the case, and the user's
    /// arguments.</summary>
    internal const string Word = "measure-case";

    internal static int Run(string[] args)
    {
        if (args is not [_, var replyFile, var key, .. var typed])
        {
            return ExitCode.BadUsage;
        }
        Selection.Request = VerbCommand.Again(typed);
        var reply = new CaseReply();
        try
        {
            Measure(key, reply);
        }
        catch (Exception failure)
        {
            Exception cause = failure is TargetInvocationException { InnerException: { } inner } ? inner : failure;
            reply.Error = $"{cause.GetType().Name}: {cause.Message}";
        }
        reply.WriteTo(replyFile);
        return reply.Error.Length == 0 ? ExitCode.Ok : ExitCode.Failed;
    }

    private static void Measure(string key, CaseReply reply)
    {
        var toolchain = new InProcessEmitToolchain(Timeout.InfiniteTimeSpan, logOutput: false);
        var memory = new MemoryFigures(reply);
        IConfig config = BenchSession.ConfigOf(JobPlan.Of(Selection.Request).WithToolchain(toolchain), memory);
        BenchmarkRunInfo run = BenchmarkTypes.Of(Selection.Request)
            .Select(type => BenchmarkConverter.TypeToBenchmarks(type, config))
            .First(each => each.BenchmarksCases.Any(one => CaseInfo.Of(one).Key == key));
        BenchmarkCase chosen = run.BenchmarksCases.First(each => CaseInfo.Of(each).Key == key);
        Heaps.Prove(CaseInfo.Of(chosen).Kind, reply);
        if (reply.Error.Length != 0)
        {
            return;
        }
        var log = new AccumulationLogger();
        var resolver = new CompositeResolver(EnvironmentResolver.Instance, InfrastructureResolver.Instance);
        var partition = new BuildPartition([new BenchmarkBuildInfo(chosen, run.Config, 0)], resolver);
        BuildResult built = toolchain.Builder.Build(toolchain.Generator.GenerateProject(partition, log, ""), partition, log);
        if (!built.IsBuildSuccess)
        {
            reply.Error = built.ErrorMessage ?? built.GenerateException?.Message ?? "the benchmark could not be built";
            return;
        }
        if (JobPlan.IsCold(Selection.Request))
        {
            Compilation.Of(chosen);
        }
        ExecuteResult result = toolchain.Executor.Execute(new ExecuteParameters(
            built, chosen, new BenchmarkId(0, chosen), log, resolver, 1, memory));
        reply.Take(result, GcLine(result));
        if (!result.Measurements.Any(each => each.IterationStage == IterationStage.Actual && each.IterationMode == IterationMode.Workload))
        {
            reply.Error = Cause(log.GetLog());
        }
    }

    /// <summary>BenchmarkDotNet writes a benchmark's exception only to its log.</summary>
    private static string Cause(string log) =>
        log.Split('\n').FirstOrDefault(line => line.Contains("Exception: ", StringComparison.Ordinal))?.Trim()
        ?? "the benchmark ended without a result";

    /// <summary>The collections of the run; the property is internal to BenchmarkDotNet.</summary>
    private static string GcLine(ExecuteResult result)
    {
        const BindingFlags Any = BindingFlags.Instance | BindingFlags.NonPublic | BindingFlags.Public;
        Type type = typeof(ExecuteResult);
        object? stats = type.GetField("GcStats", Any)?.GetValue(result) ?? type.GetProperty("GcStats", Any)?.GetValue(result);
        return stats is GcStats found ? found.ToOutputLine() : "";
    }
}
