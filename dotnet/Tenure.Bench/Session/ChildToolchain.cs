// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using BenchmarkDotNet.Characteristics;
using BenchmarkDotNet.Loggers;
using BenchmarkDotNet.Running;
using BenchmarkDotNet.Toolchains;
using BenchmarkDotNet.Toolchains.Parameters;
using BenchmarkDotNet.Toolchains.Results;
using BenchmarkDotNet.Validators;

namespace Tenure.Bench;

/// <summary>Runs every case in its own process, which is this program again.</summary>
/// <remarks>
/// BenchmarkDotNet's own processes need an SDK and the benchmark sources, and a tool has neither. Its in-process
/// toolchain would give every row the heap that the previous rows left behind, and jemalloc must be preloaded. So each
/// case gets a child process, which measures it with the in-process toolchain.
/// </remarks>
internal sealed class ChildToolchain(BenchRequest request, int cases) : IToolchain, IGenerator, IBuilder, IExecutor
{
    internal const string NotReached = "interrupted before it began";

    private readonly Dictionary<BenchmarkCase, CaseReply> _replies = [];
    private int _begun;

    public string Name => "a process for each row";

    public IGenerator Generator => this;

    public IBuilder Builder => this;

    public IExecutor Executor => this;

    public bool IsInProcess => false;

    internal CaseReply? ReplyOf(BenchmarkCase measured) => _replies.GetValueOrDefault(measured);

    public IEnumerable<ValidationError> Validate(BenchmarkCase benchmarkCase, IResolver resolver) => [];

    public GenerateResult GenerateProject(BuildPartition buildPartition, ILogger logger, string rootArtifactsFolderPath) =>
        GenerateResult.Success(ArtifactsPaths.Empty, []);

    public BuildResult Build(GenerateResult generateResult, BuildPartition buildPartition, ILogger logger) =>
        BuildResult.Success(generateResult);

    public ExecuteResult Execute(ExecuteParameters executeParameters)
    {
        CaseInfo info = CaseInfo.Of(executeParameters.BenchmarkCase);
        if (Interrupt.Came)
        {
            var nothing = new CaseReply { Error = NotReached };
            _replies[executeParameters.BenchmarkCase] = nothing;
            return Result(executeParameters, nothing, 0);
        }
        Console.Error.Write(
            $"[{++_begun}/{cases}] {info.Operation}; {info.Row}; {info.Count.ToString("N0", CultureInfo.InvariantCulture)}: ");
        string file = Path.GetTempFileName();
        ChildProcess ended;
        CaseReply reply;
        try
        {
            string? preload = info.Kind == RowKind.Jemalloc ? Heaps.FindJemalloc() : null;
            ended = ChildProcess.Run([CaseWorker.Word, file, info.Key, .. request.Arguments], preload);
            reply = CaseReply.ReadFrom(file);
        }
        finally
        {
            File.Delete(file);
        }
        if (Interrupt.Came && (ended.ExitCode != 0 || reply.Lines.Count == 0))
        {
            reply.Error = "interrupted";
        }
        if (reply.Error.Length == 0 && (ended.ExitCode != 0 || reply.Lines.Count == 0))
        {
            reply.Error = ended.Explain();
        }
        _replies[executeParameters.BenchmarkCase] = reply;
        Console.Error.WriteLine(reply.Error.Length == 0 ? Median(reply) : $"failed: {reply.Error}");
        executeParameters.Logger.WriteLine(reply.Error);
        return Result(executeParameters, reply, ended.ProcessId);
    }

    private static ExecuteResult Result(ExecuteParameters executeParameters, CaseReply reply, int processId)
    {
        List<string> lines = reply.Error.Length == 0 ? reply.Lines : [];
        return new ExecuteResult(
            foundExecutable: true, reply.Error.Length == 0 ? 0 : 1, processId,
            lines.Where(line => !line.StartsWith("//", StringComparison.Ordinal)).ToList(),
            lines.Where(line => line.StartsWith("//", StringComparison.Ordinal)).ToList(),
            lines, executeParameters.LaunchIndex);
    }

    private static string Median(CaseReply reply)
    {
        double[] samples = reply.Samples();
        return samples.Length == 0 ? "no result" : $"{TimeText.Of(SampleStatistics.Median(samples))} median of {samples.Length}";
    }
}
