// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System.Globalization;

namespace Tenure.Bench;

/// <summary>Formats "1 round", "7 rounds".</summary>
internal static class CountText
{
    internal static string Of(long count, string noun) =>
        $"{count.ToString(CultureInfo.InvariantCulture)} {noun}{(count == 1 ? "" : "s")}";
}
