// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics;
using System.Runtime.InteropServices;

namespace Tenure.Bench;

/// <summary>Huge part: fills an array of more than 2^31 elements that was written before, and the largest managed array,
/// beside a memset of the same pages.</summary>
/// <remarks>
/// A fill and a memset alternate over the same memory, so that both have the machine's quiet and busy moments; the ratio
/// is that of each pair. The time is per element, because the managed array has fewer. The first fill, in the time of
/// "create and fill", touches new pages in every row.
/// </remarks>
internal static unsafe class ShortHuge
{
    private const int Pairs = 5;
    private const int ShownElements = 1 << 20;

    internal static void Measure(string row, long count, ShortResult found)
    {
        if (row == "managed")
        {
            count = Math.Min(count, Array.MaxLength);
        }
        long bytes = count * sizeof(int);
        MachineMemory memory = MachineMemory.Now();
        if (!memory.Fits(bytes))
        {
            found.Error = $"{CountText.Of(count, "element")} of Int32 need {ByteText.Of(bytes)} of memory, and {memory.Describe()}";
            return;
        }
        int value = Pattern.Of<int>();
        int[]? managed = null;
        OwnHugeArray<int> own = default;
        long begin = Stopwatch.GetTimestamp();
        switch (row)
        {
            case "managed":
                managed = new int[count];
                managed.AsSpan().Fill(value);
                break;
            case "huge-array":
                own = OwnHugeArray<int>.Create(count, AllocationFill.Unwritten);
                own.Fill(value);
                break;
            default:
                found.Error = $"{row} does not take part in {ShortPart.Huge}";
                return;
        }
        double create = Stopwatch.GetElapsedTime(begin).TotalNanoseconds;
        found.Add("create and fill", "huge array, new pages", "ns/element", create / count);
        if (managed is not null)
        {
            fixed (int* first = managed)
            {
                Compare(first, count, () => managed.AsSpan().Fill(value), found);
            }
        }
        else
        {
            Compare(own.Begin, count, () => own.Fill(value), found);
            own.Free();
        }
        ShortPart.Prove(row, found.Proof, () =>
        {
            if (managed is not null)
            {
                found.Proof.Show<int>([new int[ShownElements]]);
                return;
            }
            using var shown = new HugeArray<int>(ShownElements);
            found.Proof.Show([(nint)shown.PointerTo(0)], ShownElements * sizeof(int));
        });
    }

    private static void Compare(int* first, long count, Action fill, ShortResult found)
    {
        double[] fills = new double[Pairs], sets = new double[Pairs], ratios = new double[Pairs];
        for (int pair = 0; pair < Pairs; pair++)
        {
            if (pair % 2 == 0)
            {
                fills[pair] = PassTime.Of(fill);
                Pattern.Check(first, count, Pattern.Of<int>());
            }
            sets[pair] = PassTime.Of(() => NativeMemory.Fill(first, (nuint)count * sizeof(int), (byte)pair));
            if (pair % 2 != 0)
            {
                fills[pair] = PassTime.Of(fill);
            }
            ratios[pair] = fills[pair] / sets[pair];
        }
        found.Add("fill", "huge array, warm", "ns/element", SampleStatistics.Median(fills) / count);
        found.Add("memset of the same pages", "huge array, warm", "ns/element", SampleStatistics.Median(sets) / count);
        found.Add("fill, share of the memset", "huge array, warm", "×", SampleStatistics.Median(ratios));
    }
}
