// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics;
using System.Linq;

namespace Tenure.Bench;

/// <summary>The parts of the short form: small blocks, an array, big blocks with small ones kept between them, pairs.</summary>
internal static class ShortPart
{
    private const string Blocks = "blocks";
    private const string Array = "array";
    private const string Fragment = "fragment";
    internal const string Pairs = "pairs";
    private const int UsualBlocks = 1000;
    private const int UsualElements = 5_000_000;
    private const int UsualRounds = 10;
    private const int UsualBatch = 10_000;

    /// <summary>Passes of which the median counts.</summary>
    private const int Passes = 5;

    internal static string[] Names { get; } = [Blocks, Array, Fragment, Pairs];

    internal static string[] Rows { get; } =
    [
        "managed", "managed-not-zeroed", "array-pool", "native-memory", "jemalloc", "temp", "temp-job", "persistent",
        "persistent-without-size", "safe-array",
    ];

    internal static RowKind KindOf(string row) => row switch
    {
        "managed" or "managed-not-zeroed" or "array-pool" => RowKind.Managed,
        "native-memory" => RowKind.System,
        "jemalloc" => RowKind.Jemalloc,
        _ => RowKind.Tenure,
    };

    internal static void Measure(string part, string row, int count, ShortResult found)
    {
        switch (part)
        {
            case Blocks:
                MeasureBlocks(row, count == 0 ? UsualBlocks : count, found);
                break;
            case Array:
                MeasureArray(row, count == 0 ? UsualElements : count, found);
                break;
            case Pairs:
                ShortPairs.Measure(row, count == 0 ? UsualBatch : count, found);
                break;
            default:
                MeasureFragment(row, count == 0 ? UsualRounds : count, found);
                break;
        }
        found.Add("peak private", part, "MiB", ProcessMemory.Now().PrivatePeakBytes / (double)(1 << 20));
    }

    private static void MeasureBlocks(string row, int count, ShortResult found)
    {
        string name = row switch
        {
            "temp" => "Temp",
            "temp-job" => "TempJob",
            "persistent" => "Persistent",
            "managed" => "Managed",
            "native-memory" or "jemalloc" => "NativeMemory",
            _ => "",
        };
        if (name.Length == 0)
        {
            found.Error = $"{row} takes no part in {Blocks}";
            return;
        }
        LifetimeReply reply = LifetimeWorker.Measure(name, count);
        found.Add("alloc", "blocks, first batch", "ns/op", LifetimesTable.Ns(reply.AllocateTicks, count));
        found.Add("alloc", "blocks, warm", "ns/op", reply.WarmAllocateNs);
        if (name != "Managed")
        {
            found.Add("free", "blocks, warm", "ns/op", reply.WarmDeallocateNs);
        }
    }

    private static void MeasureArray(string row, int count, ShortResult found)
    {
        Selection.Request = Request(Verb.Safe, count);
        var fill = new FillBenchmarks<ulong, OwnSafeArray<ulong>> { Count = count };
        var multiply = new MultiplyBenchmarks<ulong, OwnSafeArray<ulong>, SafeArrayMultiply<ulong>> { Count = count };
        switch (row)
        {
            case "managed":
                Create(fill.CreateManaged);
                Warm(fill.SetUpManaged, fill.Managed, fill.CheckManaged, "fill");
                Warm(multiply.SetUpManaged, multiply.Tensor, multiply.CheckManaged, "multiply");
                break;
            case "managed-not-zeroed":
                Create(fill.CreateManagedUnwritten);
                break;
            case "native-memory" or "jemalloc":
                Create(fill.CreateSystem);
                Warm(fill.SetUpNative, fill.System, fill.CheckNative, "fill");
                Warm(multiply.SetUpNative, multiply.SystemTensor, multiply.CheckNative, "multiply");
                break;
            case "safe-array":
                Create(fill.CreateTenure);
                Warm(fill.SetUpTenure, fill.Tenure, fill.CheckTenure, "fill");
                Warm(multiply.SetUpTenure, multiply.Tenure, multiply.CheckTenure, "multiply");
                break;
            default:
                found.Error = $"{row} takes no part in {Array}";
                break;
        }

        void Create(Action measured) => found.Add("create and fill", "array", "ms", Milliseconds(measured));

        void Warm(Action begin, Action measured, Action end, string metric)
        {
            begin();
            found.Add(metric, "array, warm", "ms", Milliseconds(measured));
            end();
        }
    }

    private static void MeasureFragment(string row, int rounds, ShortResult found)
    {
        Selection.Request = Request(Verb.Malloc, rounds);
        var fragment = new FragmentBenchmarks<byte> { Count = rounds };
        Action? kept = row switch
        {
            "managed" => fragment.ManagedKeptWritten,
            "managed-not-zeroed" => fragment.ManagedKeptUnzeroed,
            "native-memory" or "jemalloc" => fragment.SystemKeptWritten,
            "persistent" => fragment.TenureKeptWritten,
            _ => null,
        };
        if (kept is null)
        {
            found.Error = $"{row} takes no part in {Fragment}";
            return;
        }
        long begin = Stopwatch.GetTimestamp();
        kept();
        found.Add("big blocks, small ones kept", Fragment, "ms", Stopwatch.GetElapsedTime(begin).TotalMilliseconds);
    }

    private static double Milliseconds(Action measured)
    {
        measured();
        double[] passes = new double[Passes];
        for (int pass = 0; pass < Passes; pass++)
        {
            long begin = Stopwatch.GetTimestamp();
            measured();
            passes[pass] = Stopwatch.GetElapsedTime(begin).TotalMilliseconds;
        }
        return SampleStatistics.Median(passes);
    }

    private static BenchRequest Request(Verb verb, long count) => new()
    {
        Verb = verb,
        VerbName = "short",
        Counts = [count],
        Element = ElementType.Of<ulong>("-l -u"),
        Arguments = [],
    };
}
