// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Linq;
using BenchmarkDotNet.Analysers;
using BenchmarkDotNet.Columns;
using BenchmarkDotNet.Diagnosers;
using BenchmarkDotNet.Engines;
using BenchmarkDotNet.Exporters;
using BenchmarkDotNet.Loggers;
using BenchmarkDotNet.Reports;
using BenchmarkDotNet.Running;
using BenchmarkDotNet.Validators;

namespace Tenure.Bench;

/// <summary>
/// Native memory, which BenchmarkDotNet's own diagnosers measure only on Windows: the system's figures for the process,
/// and Tenure's figures for its heap. The child process reads them; the parent process reports them.
/// </summary>
internal sealed class MemoryFigures : IDiagnoser
{
    private const double BytesOfMegabyte = 1e6;

    private readonly CaseReply? _reply;
    private readonly Func<BenchmarkCase, CaseReply?>? _find;

    /// <summary>For a child process.</summary>
    internal MemoryFigures(CaseReply reply) => _reply = reply;

    /// <summary>For the parent process.</summary>
    internal MemoryFigures(Func<BenchmarkCase, CaseReply?> find) => _find = find;

    public IEnumerable<string> Ids => [nameof(MemoryFigures)];

    public IEnumerable<IExporter> Exporters => [];

    public IEnumerable<IAnalyser> Analysers => [];

    public RunMode GetRunMode(BenchmarkCase benchmarkCase) => RunMode.NoOverhead;

    public void Handle(HostSignal signal, DiagnoserActionParameters parameters)
    {
        if (_reply is null)
        {
            return;
        }
        switch (signal)
        {
            case HostSignal.BeforeActualRun:
                ProcessMemory.ForgetPeak();
                _reply.Figures[Figure.Before.Id] = ProcessMemory.Now().PrivateBytes;
                break;
            case HostSignal.AfterActualRun:
                _reply.Figures[Figure.Peak.Id] = ProcessMemory.Now().PrivatePeakBytes;
                if (CaseInfo.Of(parameters.BenchmarkCase).Kind == RowKind.Tenure)
                {
                    NativeCounters.Stats stats = NativeCounters.Read();
                    _reply.Figures[Figure.NativePeak.Id] = stats.PeakBytes;
                    _reply.Figures[Figure.NativeCommitted.Id] = stats.CommittedBytes;
                }
                break;
            case HostSignal.AfterAll:
                GC.Collect();
                _reply.Figures[Figure.After.Id] = ProcessMemory.Now().PrivateBytes;
                if (CaseInfo.Of(parameters.BenchmarkCase).Kind == RowKind.Tenure)
                {
                    _reply.Figures[Figure.NativeLive.Id] = NativeCounters.Read().LiveBytes;
                }
                break;
            default:
                break;
        }
    }

    public IEnumerable<Metric> ProcessResults(DiagnoserResults results) =>
        _find?.Invoke(results.BenchmarkCase) is { } reply
            ? Figure.Shown.Where(each => reply.Figures.ContainsKey(each.Id))
                .Select(each => new Metric(each, reply.Figures[each.Id] / BytesOfMegabyte))
            : [];

    public void DisplayResults(ILogger logger)
    {
    }

    public IEnumerable<ValidationError> Validate(ValidationParameters validationParameters) => [];

    /// <summary>A figure and its column.</summary>
    internal sealed class Figure(string id, string name, string legend, int place) : IMetricDescriptor
    {
        internal static readonly Figure Peak = new(
            "private-peak", "Private MB",
            "Peak private resident memory during the measured iterations, including the runtime's", 10);
        internal static readonly Figure After = new(
            "private-after", "After MB", "Private resident memory after everything was freed and one collection", 11);
        internal static readonly Figure NativePeak = new(
            "native-peak", "Native MB", "Peak bytes allocated in Tenure's heap", 12);
        internal static readonly Figure NativeCommitted = new(
            "native-committed", "Committed MB", "Bytes that Tenure's heap had committed after the measured iterations", 13);
        internal static readonly Figure Before = new(
            "private-before", "Before MB", "Private memory before the measured iterations", 14);
        internal static readonly Figure NativeLive = new(
            "native-live", "Live MB", "Bytes allocated in Tenure's heap at the end", 15);
        internal static readonly Figure[] Shown = [Peak, After, NativePeak, NativeCommitted];

        public string Id { get; } = id;

        public string DisplayName { get; } = name;

        public string Legend { get; } = legend;

        public string NumberFormat => "0.0";

        public UnitType UnitType => UnitType.Dimensionless;

        public string Unit => "MB";

        public bool TheGreaterTheBetter => false;

        public int PriorityInCategory { get; } = place;

        public bool GetIsAvailable(Metric metric) => true;
    }
}
