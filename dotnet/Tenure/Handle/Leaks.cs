// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Threading;

namespace Tenure;

/// <summary>Lists native memory that was not freed and where it was allocated, on demand, without waiting for a garbage
/// collection.</summary>
/// <remarks>Buffers of C# and handles of C and C++ are in the same list. For tests, see
/// <see cref="LeakScope"/>.</remarks>
public static class Leaks
{
    private static long s_collected;

    /// <summary>Gets or sets a value that indicates whether listings include the call stack of each allocation made by
    /// C#. Costs about 10 µs and 2 KB per handle.</summary>
    /// <remarks>Off unless the AppContext switch <c>Tenure.Leaks.Stacks</c> is on. Turning it off discards the recorded
    /// stacks. Handles of C and C++ have stacks when the option <c>handle_stack_frames</c> is set.</remarks>
    public static bool CaptureStacks
    {
        get => HandleWatch.CapturesStacks;
        set => HandleWatch.CapturesStacks = value;
    }

    /// <summary>Gets the number of buffers of class type that the garbage collector freed because they were not
    /// disposed of.</summary>
    public static long CollectedCount => Interlocked.Read(ref s_collected);

    /// <summary>Lists everything that is live. Cost: reads every entry of the table that was ever used.</summary>
    /// <returns>The live handles, oldest first.</returns>
    /// <exception cref="TenureLoadException">The native library is missing or has a different version.</exception>
    public static IReadOnlyList<LiveHandle> Snapshot()
    {
        List<LiveHandle> live = HandleListing.Live();
        live.Sort(static (left, right) => right.Age.CompareTo(left.Age));
        return live;
    }

    /// <summary>Writes the live handles, one per line, and then the total.</summary>
    /// <param name="writer">The destination.</param>
    /// <param name="leastAge">The minimum age of the handles to include; by default all are included.</param>
    /// <returns>The number of live handles of at least that age.</returns>
    /// <exception cref="TenureLoadException">The native library is missing or has a different version.</exception>
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
            CultureInfo.InvariantCulture, $"{handles.Count} handle{(handles.Count == 1 ? " is" : "s are")} live, {bytes} bytes in total."));
        return text.ToString();
    }
}
