// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics;
using System.Linq;

namespace Tenure.Bench;

/// <summary>The parts of the short form: small blocks, an array, big blocks with small blocks kept between them, pairs,
/// text, arithmetic, a huge array.</summary>
/// <remarks>
/// Where memory is touched for the first time, writing within the time and writing outside it are separate parts,
/// because a process touches memory for the first time only once.
/// </remarks>
internal static class ShortPart
{
    private const string Blocks = "blocks";
    private const string BlocksWritten = "blocks-written";
    internal const string Array = "array";
    private const string Fragment = "fragment";
    private const string FragmentUnwritten = "fragment-unwritten";
    internal const string Pairs = "pairs";
    internal const string Text = "text";
    internal const string Kernels = "kernels";
    internal const string Huge = "huge";
    private const int UsualBlocks = 1000;
    private const int UsualElements = 5_000_000;
    private const int UsualRounds = 10;
    private const int UsualBatch = 10_000;
    private const int UsualObjects = 128 << 10;
    private const int UsualKernelBytes = 64 << 20;
    private const long UsualHuge = 200_000_000;

    /// <summary>The block size that prepares the code for big blocks: small, but beyond the sizes for which an
    /// allocator or the collector uses a different code path.</summary>
    private const long SettledStepBytes = 64;
    private const int SettledSmallBytes = 4096;

    internal static string[] Names { get; } = [Blocks, BlocksWritten, Array, Fragment, FragmentUnwritten, Pairs, Text, Kernels, Huge];

    internal static string[] Rows { get; } =
    [
        "managed", "managed-not-zeroed", "array-pool", "native-memory", "native-memory-at-64", "jemalloc", "temp", "temp-job",
        "persistent", "persistent-without-size", "safe-array", "safe-array-at-16", "safe-array-tensor", "huge-array",
        "interpolated-string", "utf8-try-write", "utf8-builder", "paged-writer",
    ];

    internal static RowKind KindOf(string row) => row switch
    {
        "managed" or "managed-not-zeroed" or "array-pool" or "interpolated-string" or "utf8-try-write" => RowKind.Managed,
        "native-memory" or "native-memory-at-64" => RowKind.System,
        "jemalloc" => RowKind.Jemalloc,
        _ => RowKind.Tenure,
    };

    /// <summary>Gets the owner that the proof queries.</summary>
    internal static BlockOwner OwnerOf(string row) => KindOf(row) switch
    {
        RowKind.Managed => BlockOwner.Collector,
        RowKind.System => BlockOwner.CLibrary,
        RowKind.Jemalloc => BlockOwner.Jemalloc,
        _ => BlockOwner.Heap,
    };

    internal static void Measure(string part, string row, long elements, ShortResult found)
    {
        if (part == Huge)
        {
            Selection.Request = Request(Verb.Huge);
            ShortHuge.Measure(row, elements == 0 ? UsualHuge : elements, found);
            return;
        }
        int count = (int)long.Min(elements, int.MaxValue);
        switch (part)
        {
            case Blocks:
                MeasureBlocks(part, row, Storing.Outside, count == 0 ? UsualBlocks : count, found);
                break;
            case BlocksWritten:
                MeasureBlocks(part, row, Storing.Inside, count == 0 ? UsualBlocks : count, found);
                break;
            case Array:
                Selection.Request = Request(Verb.Safe);
                ShortArray.Measure(row, count == 0 ? UsualElements : count, found);
                break;
            case Text:
                ShortText.Measure(row, count == 0 ? UsualObjects : count, found);
                break;
            case Kernels:
                ShortKernels.Measure(row, count == 0 ? UsualKernelBytes : count, found);
                break;
            case Pairs:
                ShortPairs.Measure(row, count == 0 ? UsualBatch : count, found);
                break;
            default:
                MeasureFragment(part, row, count == 0 ? UsualRounds : count, found);
                break;
        }
    }

    /// <summary>Adds the peak of the measurement. Requires that the proof has not begun, because its blocks must not be
    /// included.</summary>
    internal static void AddPeak(string part, ShortResult found)
    {
        if (found.Proof.Asked != 0)
        {
            throw new InvalidOperationException("The peak was read after the proof allocated its blocks.");
        }
        found.Add("peak private", VariantOf(part), "MiB", ProcessMemory.Now().PrivatePeakBytes / (double)(1 << 20));
    }

    /// <summary>Proves the owner of the row's blocks: <paramref name="show"/> allocates some and shows them.</summary>
    /// <remarks>An owner that counts bytes also counts the runtime's bytes. Memory that the runtime frees meanwhile
    /// hides as many bytes of the shown blocks, so the method first waits until the runtime is quiet, and tries three
    /// times.</remarks>
    internal static void Prove(string row, BlockProof proof, Action show)
    {
        for (int tried = 0; tried < 3 && !proof.IsProven; tried++)
        {
            HotCode.Drain();
            proof.Begin(OwnerOf(row));
            show();
        }
    }

    private static string VariantOf(string part) => part == FragmentUnwritten ? $"{Fragment}, nothing written" : part;

    private static void MeasureBlocks(string part, string row, Storing storing, int count, ShortResult found)
    {
        string name = row switch
        {
            "temp" => "Temp",
            "temp-job" => "TempJob",
            "persistent" => "Persistent",
            "managed" => "Managed",
            "native-memory" => "NativeMemory",
            "native-memory-at-64" => "NativeMemory-aligned",
            "jemalloc" => "jemalloc",
            _ => "",
        };
        if (name.Length == 0)
        {
            found.Error = $"{row} does not take part in {part}";
            return;
        }
        bool isFirstOnly = storing == Storing.Inside;
        LifetimePasses passes = isFirstOnly ? LifetimePasses.FirstOnly : LifetimePasses.FirstAndWarm;
        LifetimeReply reply = LifetimeWorker.Measure(
            LifetimeRow.All.First(each => each.Name == name), count, storing, passes, found.Proof, BeforeProof);
        bool isCollected = name == "Managed"; // its "free" is a collection, at the collector's own time
        Add("first batch" + (isFirstOnly ? ", written" : ""), new(Ns(reply.AllocateTicks), Ns(reply.DeallocateTicks)));
        if (!isFirstOnly)
        {
            Add("warm", reply.Warm);
            Add("warm, written", reply.WarmWritten);
        }

        void BeforeProof()
        {
            if (!isFirstOnly) // after the first batch alone, the memory figures belong to the other part
            {
                AddPeak(part, found);
            }
        }

        double Ns(long ticks) => LifetimesTable.Ns(ticks, count);

        void Add(string batch, WarmNs ns)
        {
            found.Add("alloc", $"{Blocks}, {batch}", "ns/op", ns.Allocate);
            if (!isCollected)
            {
                found.Add("free", $"{Blocks}, {batch}", "ns/op", ns.Deallocate);
            }
        }
    }

    private static void MeasureFragment(string part, string row, int rounds, ShortResult found)
    {
        Selection.Request = Request(Verb.Malloc);
        var settled = new FragmentBenchmarks<byte> { Count = 2, StepBytes = SettledStepBytes, SmallElements = SettledSmallBytes };
        var fragment = new FragmentBenchmarks<byte> { Count = rounds };
        if (KeptOf(part, row, settled) is not { } few || KeptOf(part, row, fragment) is not { } kept)
        {
            found.Error = $"{row} does not take part in {part}";
            return;
        }
        HotCode.Settle(few); // the measured call is the first with big blocks, but its code is already compiled
        long begin = Stopwatch.GetTimestamp();
        kept();
        found.Add("big blocks, small ones kept", VariantOf(part), "ms", Stopwatch.GetElapsedTime(begin).TotalMilliseconds);
        AddPeak(part, found);
        fragment.Count = 1;
        fragment.ArraysHeld = arrays => found.Proof.Show<byte>(arrays.ToArray());
        fragment.BlocksHeld = blocks => found.Proof.Show(blocks.ToArray(), FragmentBenchmarks<byte>.SmallCount);
        Prove(row, found.Proof, kept);
    }

    private static Action? KeptOf(string part, string row, FragmentBenchmarks<byte> fragment)
    {
        bool isWritten = part == Fragment;
        return row switch
        {
            "managed" => isWritten ? fragment.ManagedKeptWritten : fragment.ManagedKept,
            "managed-not-zeroed" => isWritten ? fragment.ManagedKeptUnzeroed : fragment.ManagedKeptUnwritten,
            "native-memory" or "jemalloc" => isWritten ? fragment.SystemKeptWritten : fragment.SystemKept,
            "persistent" => isWritten ? fragment.TenureKeptWritten : fragment.TenureKept,
            _ => null,
        };
    }

    private static BenchRequest Request(Verb verb) => new()
    {
        Verb = verb,
        VerbName = "short",
        Element = ElementType.Of<ulong>("-l -u"),
        Arguments = [],
    };
}
