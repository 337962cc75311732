// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Globalization;
using BenchmarkDotNet.Attributes;

namespace Tenure.Bench;

/// <summary>Question: what does it cost to create and release an array of strings, managed or native?</summary>
/// <remarks>
/// Both are created from the same characters, formatted on the stack. A String uses two bytes per character, a
/// FixedUtf8String one. The native strings are freed one by one within the time; the managed ones are left to the
/// garbage collector.
/// </remarks>
public class TextBenchmarks : CountedBenchmarks
{
    private const string Create = "create strings and give up";

    /// <summary>A row.</summary>
    [Benchmark(Baseline = true), BenchmarkCategory(Create), Row(RowKind.Managed, "String[]")]
    public string[] Managed()
    {
        string[] made = new string[OfManaged];
        Span<char> room = stackalloc char[64];
        for (int i = 0; i < made.Length; i++)
        {
            made[i] = new string(Format(room, i));
        }
        return made;
    }

    /// <summary>A row.</summary>
    [Benchmark, BenchmarkCategory(Create), Row(RowKind.Tenure, "Tenure SafeArray<FixedUtf8String>")]
    public void Native()
    {
        using var made = new SafeArray<FixedUtf8String>((int)Count, new BufferOptions { Fill = AllocationFill.Unwritten });
        Span<char> room = stackalloc char[64];
        Span<FixedUtf8String> texts = made.Span;
        for (int i = 0; i < texts.Length; i++)
        {
            texts[i] = new FixedUtf8String(Format(room, i));
        }
        if (texts[^1].Length != Format(room, texts.Length - 1).Length)
        {
            throw new InvalidOperationException("A string has another length than its source.");
        }
        foreach (ref FixedUtf8String text in texts)
        {
            text.Free();
        }
    }

    private static ReadOnlySpan<char> Format(Span<char> room, int number)
    {
        room.TryWrite(CultureInfo.InvariantCulture, $"Gavial Buxarinovich, number {number:D9}", out int written);
        return room[..written];
    }
}
