// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Threading;

namespace Tenure;

/// <summary>What native memory is still there, and where it was made: on demand, without waiting for a
/// collection.</summary>
/// <remarks>Buffers of C# and handles of C and C++ stand in one list. For a test, see
/// <see cref="LeakScope"/>.</remarks>
public static class Leaks
{
    private static long s_collected;

    /// <summary>Whether the call stack of what C# makes is kept for listings. About 10 µs and 2 KB for each
    /// handle.</summary>
    /// <remarks>Off unless the AppContext switch <c>Tenure.Leaks.Stacks</c> is on. Switching it off forgets what was
    /// kept. Handles of C and C++ have stacks with the option <c>handle_stack_frames</c>.</remarks>
    public static bool CaptureStacks
    {
        get => HandleWatch.CapturesStacks;
        set => HandleWatch.CapturesStacks = value;
    }

    /// <summary>How many buffers of class type were given back by the garbage collector because nobody disposed of
    /// them.</summary>
    public static long CollectedCount => Interlocked.Read(ref s_collected);

    /// <summary>Everything that is live. Cost: every entry of the table that was ever used is looked at.</summary>
    /// <returns>The oldest first.</returns>
    /// <exception cref="TenureLoadException">The native library is missing, or is another version's.</exception>
    public static IReadOnlyList<LiveHandle> Snapshot()
    {
        List<LiveHandle> live = HandleListing.Live();
        live.Sort(static (left, right) => right.Age.CompareTo(left.Age));
        return live;
    }

    /// <summary>Writes what is live, an item a line, and then the total.</summary>
    /// <param name="writer">Where to.</param>
    /// <param name="leastAge">Only what is at least so old; everything by default.</param>
    /// <returns>How many are live and so old.</returns>
    /// <exception cref="TenureLoadException">The native library is missing, or is another version's.</exception>
    public static int Report(TextWriter writer, TimeSpan leastAge = default)
    {
        ArgumentNullException.ThrowIfNull(writer);
        var listed = new List<LiveHandle>();
        foreach (LiveHandle live in Snapshot())
        {
            if (live.Age >= leastAge)
            {
                listed.Add(live);
            }
        }
        writer.Write(Listing(listed));
        return listed.Count;
    }

    internal static void CountCollected() => Interlocked.Increment(ref s_collected);

    internal static string Listing(IReadOnlyList<LiveHandle> handles)
    {
        using var text = new StringWriter(CultureInfo.InvariantCulture) { NewLine = "\n" };
        long bytes = 0;
        foreach (LiveHandle handle in handles)
        {
            text.WriteLine(handle);
            bytes += handle.Size;
        }
        text.WriteLine(string.Create(
            CultureInfo.InvariantCulture, $"{handles.Count} handle{(handles.Count == 1 ? " is" : "s are")} live, of {bytes} bytes."));
        return text.ToString();
    }
}
