// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Globalization;
using System.Linq;

namespace Tenure.Bench;

/// <summary>Formats nanoseconds in a suitable unit.</summary>
internal static class TimeText
{
    internal static string Of(double ns) => ns switch
    {
        >= 1e9 => Text(ns / 1e9, "s"),
        >= 1e6 => Text(ns / 1e6, "ms"),
        >= 1e3 => Text(ns / 1e3, "us"),
        _ => Text(ns, "ns"),
    };

    private static string Text(double value, string unit) =>
        value.ToString(value >= 100 ? "0.0" : value >= 10 ? "0.00" : "0.000", CultureInfo.InvariantCulture) + " " + unit;
}

/// <summary>Statistics of measured times.</summary>
internal static class SampleStatistics
{
    internal static double Median(double[] samples)
    {
        double[] sorted = [.. samples.Order()];
        int half = sorted.Length / 2;
        return sorted.Length == 0 ? double.NaN : sorted.Length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    }

    internal static double Mean(double[] samples) => samples.Length == 0 ? double.NaN : samples.Average();

    internal static double Deviation(double[] samples)
    {
        double mean = Mean(samples);
        return samples.Length < 2 ? double.NaN : Math.Sqrt(samples.Sum(each => (each - mean) * (each - mean)) / (samples.Length - 1));
    }
}
