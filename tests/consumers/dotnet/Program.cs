// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Uses the package as a stranger would, in every form in which a program can be published, and says what it tried.
// With "missing" or "other" the native library was taken away or exchanged: then the refusal is what is tried. With
// "jemalloc" the package contains a jemalloc; with "no-jemalloc" that was taken away.

using System;
using System.Linq;
using System.Runtime.InteropServices;
using Tenure;

int failures = 0;
string how = args.Length > 0 ? args[0] : "";
Console.WriteLine($"{RuntimeInformation.FrameworkDescription}, {RuntimeInformation.RuntimeIdentifier}");

switch (how)
{
    case "missing":
        Try("a missing native library is refused with the next step", () =>
            Refused() is { LibraryPath: null, FoundAbiVersion: null } refused
            && refused.Message.Contains("libtenure.so", StringComparison.Ordinal)
            && refused.Message.Contains("Next step", StringComparison.Ordinal));
        Try("it is looked for again", () => Refused() is not null);
        break;
    case "other":
        Try("a native library of another version is refused with both versions and its path", () =>
            Refused() is { FoundAbiVersion: 4711, LibraryPath: not null } refused
            && refused.Message.Contains("4711", StringComparison.Ordinal));
        break;
    case "foreign":
        Try("a library of that name that is not Tenure's is refused", () =>
            Refused() is { FoundAbiVersion: null, LibraryPath: not null } refused
            && refused.Message.Contains("tn_abi_version", StringComparison.Ordinal));
        break;
    case "no-jemalloc":
        Try("without jemalloc, its calls use Tenure's heap", () =>
        {
            nint block = Jem.Malloc(1000);
            return Jem.Backend == JemBackend.Tenure && Jem.LibraryPath is null && Jem.MallocUsableSize(block) >= 1000 && Jem.Free(block);
        });
        Try("its settings are refused with the reason and the next step", () =>
            Jem.TryInit("narenas:3") is { Succeeded: false } result
            && result.ToString().Contains("The jemalloc of the package Tenure.Jemalloc (libtenure_jemalloc.so) was not found.", StringComparison.Ordinal)
            && result.ToString().Contains("MALLOC_CONF=narenas:3 tenure run", StringComparison.Ordinal));
        break;
    default:
        if (how == "jemalloc")
        {
            Try("jemalloc starts in this process, with the settings of the first call", () =>
            {
                JemInitResult result = Jem.Init("narenas:3,background_thread:true,prof:true,lg_prof_sample:21");
                nint block = Jem.Mallocx(100_000, Jem.MallocxZero);
                return result.Applied.Count == 4 && Jem.Backend == JemBackend.Jemalloc && !Jem.ServesPersistentMemory
                    && Jem.GetMallCtlUInt32("opt.narenas") == 3 && Jem.GetMallCtlBool("background_thread")
                    && Jem.GetMallCtlBool("prof.active") && Jem.AllocatedBytes >= 100_000 && Jem.Free(block);
            });
            Try("a second start is refused", () => Jem.TryInit("narenas:4") is { Refused.Count: 1 });
        }
        Try("the native library is found", () => TenureLibrary.AbiVersion > 0);
        Try("text is built without managed memory", () =>
        {
            Span<byte> memory = stackalloc byte[200];
            long before = 0;
            var text = new Utf8Builder(memory);
            for (int pass = 0; pass < 2; pass++) // in the first one, the runtime makes its tables of the culture
            {
                text.Clear();
                before = GC.GetAllocatedBytesForCurrentThread();
                text.Append($"{1,3} {2.5:F2} {new DateTime(2026, 11, 23):yyyy-MM-dd} {Guid.Empty} {true} {'c'} {"größer"} ");
                text.AppendFixed(0.125, 2);
                before -= GC.GetAllocatedBytesForCurrentThread();
            }
            return before == 0 && text.WrittenSpan.SequenceEqual("  1 2.50 2026-11-23 00000000-0000-0000-0000-000000000000 True c größer 0.12"u8);
        });
        Try("vector maths is right in every lane and in the tail", () =>
        {
            ulong[] numbers = [.. Enumerable.Range(0, 1003).Select(i => (ulong)i)];
            VectorMaths.Multiply<ulong>(numbers, 3, numbers);
            return numbers.Select((number, i) => number == (ulong)i * 3).All(same => same)
                && VectorMaths.Sum(numbers) == 3UL * 1002 * 1003 / 2;
        });
        Try("the lesser of two zeros and of NaN is that of IEEE 754-2019", () =>
        {
            float[] left = [0f, -0f, float.NaN, 1f, 0f, -0f, float.NaN, 1f, 2f];
            float[] right = [-0f, 0f, 1f, float.NaN, -0f, 0f, 1f, float.NaN, 3f];
            var lesser = new float[9];
            VectorMaths.Minimum<float>(left, right, lesser);
            return float.IsNegative(lesser[0]) && float.IsNegative(lesser[1])
                && float.IsNaN(lesser[2]) && float.IsNaN(lesser[7]) && lesser[8] == 2;
        });
        Try("what is beyond an integer becomes its greatest", () =>
        {
            var integers = new int[3];
            VectorMaths.Convert<double, int>([1e300, double.NaN, -1.9], integers);
            return integers is [int.MaxValue, 0, -1];
        });
        break;
}
return failures == 0 ? 0 : 1;

void Try(string what, Func<bool> holds)
{
    string result;
    try
    {
        result = holds() ? "ok" : "FAILED";
    }
    catch (Exception exception)
    {
        result = $"FAILED: {exception}";
    }
    failures += result == "ok" ? 0 : 1;
    Console.WriteLine($"{result,-6} {what}");
}

static TenureLoadException? Refused()
{
    try
    {
        TenureLibrary.Load();
        return null;
    }
    catch (TenureLoadException refused)
    {
        return refused;
    }
}
