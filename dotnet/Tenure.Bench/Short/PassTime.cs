// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics;

namespace Tenure.Bench;

/// <summary>Times passes of a loop, in nanoseconds.</summary>
internal static class PassTime
{
    internal static double Of(Action pass)
    {
        long begin = Stopwatch.GetTimestamp();
        pass();
        return Stopwatch.GetElapsedTime(begin).TotalNanoseconds;
    }

    /// <summary>Gets the median of some passes, after one that does not count.</summary>
    internal static double Median(int passes, Action pass)
    {
        pass();
        double[] times = new double[passes];
        for (int each = 0; each < times.Length; each++)
        {
            times[each] = Of(pass);
        }
        return SampleStatistics.Median(times);
    }
}
