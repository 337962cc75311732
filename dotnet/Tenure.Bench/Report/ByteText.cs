// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System.Globalization;

namespace Tenure.Bench;

/// <summary>Formats bytes in decimal units, as the source and the command line do.</summary>
internal static class ByteText
{
    internal static string Of(long bytes) => bytes switch
    {
        >= 1_000_000_000 => Text(bytes / 1e9, "GB"),
        >= 1_000_000 => Text(bytes / 1e6, "MB"),
        >= 1_000 => Text(bytes / 1e3, "kB"),
        _ => Text(bytes, "B"),
    };

    private static string Text(double value, string unit) =>
        value.ToString(unit == "B" ? "0" : "0.0", CultureInfo.InvariantCulture) + " " + unit;
}
