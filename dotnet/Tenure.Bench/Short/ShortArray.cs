// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics;

namespace Tenure.Bench;

/// <summary>Array part: creates, fills and releases an array; fills and multiplies warm memory.</summary>
/// <remarks>
/// Before the measurement, a short array runs through the same calls until they are fully optimized. The measured
/// arrays are larger than the caches, so memory dominates their cost.
/// </remarks>
internal static unsafe class ShortArray
{
    /// <summary>The number of passes; the median counts.</summary>
    private const int Passes = 5;

    private const int FewElements = 1000;

    internal static void Measure(string row, int count, ShortResult found)
    {
        Func<int, Calls>? make = row switch
        {
            "managed" => Managed,
            "managed-not-zeroed" => NotZeroed,
            "native-memory" or "jemalloc" => System,
            "native-memory-at-64" => SystemAligned,
            "safe-array" => Tenure<OwnSafeArray<ulong>, SafeArrayMultiply<ulong>>,
            "safe-array-at-16" => TenureOtherAlignment<OwnSafeArray<ulong>, SafeArrayMultiply<ulong>>,
            "huge-array" => Tenure<OwnHugeArray<ulong>, HugeArrayMultiply<ulong>>,
            _ => null,
        };
        if (make is null)
        {
            found.Error = $"{row} does not take part in {ShortPart.Array}";
            return;
        }
        Settle(make(FewElements));
        Calls all = make(count);
        // The first array has new pages in every row; a later one may get the memory of the one freed before it.
        found.Add("create and fill", "array, new pages", "ms", Once(all.Create));
        found.Add("create and fill", "array, again", "ms", Milliseconds(all.Create));
        bool isWarmMeasured = row != "managed-not-zeroed"; // warm memory is the same with and without zeroing
        all.SetUpFill();
        if (isWarmMeasured)
        {
            found.Add("fill", "array, warm", "ms", Milliseconds(all.Fill));
        }
        all.CheckFill();
        all.SetUpMultiply(); // for the peak even if it is not measured: every row does the same work
        if (isWarmMeasured)
        {
            found.Add("multiply", "array, warm", "ms", Milliseconds(all.Multiply));
        }
        all.CheckMultiply();
        ShortPart.AddPeak(ShortPart.Array, found);
        ShortPart.Prove(row, found.Proof, () =>
        {
            all.SetUpFill();
            all.Show(found.Proof);
            all.CheckFill();
        });
    }

    private static void Settle(Calls few)
    {
        few.SetUpFill();
        few.SetUpMultiply();
        HotCode.Settle(() =>
        {
            few.Create();
            few.Fill();
            few.Multiply();
        });
        few.CheckFill();
        few.CheckMultiply();
    }

    private static double Once(Action measured)
    {
        long begin = Stopwatch.GetTimestamp();
        measured();
        return Stopwatch.GetElapsedTime(begin).TotalMilliseconds;
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

    private static Calls Managed(int count)
    {
        var fill = new FillBenchmarks<ulong, OwnSafeArray<ulong>> { Count = count };
        var multiply = new MultiplyBenchmarks<ulong, OwnSafeArray<ulong>, SafeArrayMultiply<ulong>> { Count = count };
        return new(
            fill.CreateManaged, fill.SetUpManaged, fill.Managed, proof => proof.Show<ulong>([fill.ManagedHeld]), fill.CheckManaged,
            multiply.SetUpManaged, multiply.Tensor, multiply.CheckManaged);
    }

    private static Calls NotZeroed(int count)
    {
        var fill = new FillBenchmarks<ulong, OwnSafeArray<ulong>> { Count = count };
        return Managed(count) with
        {
            Create = fill.CreateManagedUnwritten,
            Show = proof => proof.Show<ulong>([GC.AllocateUninitializedArray<ulong>(count)]),
        };
    }

    private static Calls System(int count)
    {
        var fill = new FillBenchmarks<ulong, OwnSafeArray<ulong>> { Count = count };
        var multiply = new MultiplyBenchmarks<ulong, OwnSafeArray<ulong>, SafeArrayMultiply<ulong>> { Count = count };
        return new(
            fill.CreateSystem, fill.SetUpNative, fill.System, proof => proof.Show([(nint)fill.NativeHeld], Bytes(count)), fill.CheckNative,
            multiply.SetUpNative, multiply.SystemTensor, multiply.CheckNative);
    }

    private static Calls SystemAligned(int count)
    {
        var fill = new FillBenchmarks<ulong, OwnSafeArray<ulong>> { Count = count };
        var multiply = new MultiplyBenchmarks<ulong, OwnSafeArray<ulong>, SafeArrayMultiply<ulong>> { Count = count };
        return new(
            fill.CreateSystemAligned, fill.SetUpAligned, fill.SystemAligned, proof => proof.Show([(nint)fill.NativeHeld], Bytes(count)),
            fill.CheckAligned, multiply.SetUpAligned, multiply.SystemAligned, multiply.CheckAligned);
    }

    private static Calls Tenure<TOwn, TMultiply>(int count)
        where TOwn : struct, IOwnArray<TOwn, ulong>
        where TMultiply : struct, IMultiply<TOwn, ulong>
    {
        var fill = new FillBenchmarks<ulong, TOwn> { Count = count };
        var multiply = new MultiplyBenchmarks<ulong, TOwn, TMultiply> { Count = count };
        return new(
            fill.CreateTenure, fill.SetUpTenure, fill.Tenure, proof => proof.Show([(nint)fill.OwnHeld.Begin], Bytes(count)),
            fill.CheckTenure, multiply.SetUpTenure, multiply.Tenure, multiply.CheckTenure);
    }

    private static Calls TenureOtherAlignment<TOwn, TMultiply>(int count)
        where TOwn : struct, IOwnArray<TOwn, ulong>
        where TMultiply : struct, IMultiply<TOwn, ulong>
    {
        var fill = new FillBenchmarks<ulong, TOwn> { Count = count };
        var multiply = new MultiplyBenchmarks<ulong, TOwn, TMultiply> { Count = count };
        return new(
            fill.CreateOtherAlignment, fill.SetUpOtherAlignment, fill.TenureOtherAlignment,
            proof => proof.Show([(nint)fill.OwnHeld.Begin], Bytes(count)), fill.CheckTenure,
            multiply.SetUpOtherAlignment, multiply.TenureOtherAlignment, multiply.CheckTenure);
    }

    private static nuint Bytes(int count) => sizeof(ulong) * (nuint)count;

    /// <summary>The calls of a row for arrays of one length.</summary>
    private sealed record Calls(
        Action Create, Action SetUpFill, Action Fill, Action<BlockProof> Show, Action CheckFill,
        Action SetUpMultiply, Action Multiply, Action CheckMultiply);
}
