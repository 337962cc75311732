// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;

namespace Tenure.Bench;

/// <summary>The mappings of this process, as read from /proc/self/maps.</summary>
internal sealed class MemoryMap
{
    private readonly List<(nuint Begin, nuint End, string Line)> _mappings = [];

    private MemoryMap(IEnumerable<string> lines)
    {
        foreach (string line in lines)
        {
            int dash = line.IndexOf('-', StringComparison.Ordinal);
            int space = line.IndexOf(' ', StringComparison.Ordinal);
            if (dash > 0 && space > dash && TryHex(line.AsSpan(0, dash), out nuint begin)
                && TryHex(line.AsSpan(dash + 1, space - dash - 1), out nuint end))
            {
                _mappings.Add((begin, end, line));
            }
        }
    }

    internal static MemoryMap Now() => new(File.ReadAllLines("/proc/self/maps"));

    /// <summary>Describes the mapping of an address: "7f00-7f10 rw-p [heap]", which is the range, the access, and the
    /// name if any. Empty if the address is not mapped.</summary>
    internal string Describe(nint address)
    {
        string[] fields = LineOf(address).Split(' ', 6, StringSplitOptions.RemoveEmptyEntries);
        return fields.Length < 5 ? "" : $"{fields[0]} {fields[1]} {(fields.Length == 6 ? fields[5].Trim() : "")}".TrimEnd();
    }

    /// <summary>Gets the file mapped at an address; empty if there is none.</summary>
    internal string FileAt(nint address)
    {
        string line = LineOf(address);
        int slash = line.IndexOf('/', StringComparison.Ordinal);
        return slash < 0 ? "" : line[slash..];
    }

    private string LineOf(nint address)
    {
        foreach ((nuint begin, nuint end, string line) in _mappings)
        {
            if ((nuint)address >= begin && (nuint)address < end)
            {
                return line;
            }
        }
        return "";
    }

    private static bool TryHex(ReadOnlySpan<char> text, out nuint value) =>
        nuint.TryParse(text, NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out value);
}
