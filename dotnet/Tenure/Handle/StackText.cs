// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Text;

namespace Tenure;

/// <summary>Formats return addresses of native code as text.</summary>
internal static class StackText
{
    /// <summary>Returns one line per address: the mapped file and the offset in it, or the method name from the perf
    /// map of the process if there is one (DOTNET_PerfMapEnabled). Null when there are no addresses.</summary>
    internal static string? Of(ReadOnlySpan<nint> addresses)
    {
        if (addresses.IsEmpty)
        {
            return null;
        }
        List<(ulong Begin, ulong End, ulong Offset, string File)> files = Files();
        var text = new StringBuilder();
        foreach (nint address in addresses)
        {
            ulong at = (ulong)address;
            text.Append(text.Length == 0 ? "" : "\n").Append("   at ");
            (ulong begin, _, ulong offset, string? file) = files.Find(each => at >= each.Begin && at < each.End);
            if (file is not null && file.StartsWith('/'))
            {
                text.Append(CultureInfo.InvariantCulture, $"{Path.GetFileName(file)}+0x{at - begin + offset:x}");
            }
            else
            {
                text.Append(Method(at) ?? string.Create(CultureInfo.InvariantCulture, $"0x{at:x}"));
            }
        }
        return text.ToString();
    }

    /// <summary>Returns the mapped files and their addresses; empty when the system does not provide them.</summary>
    private static List<(ulong Begin, ulong End, ulong Offset, string File)> Files()
    {
        var files = new List<(ulong, ulong, ulong, string)>();
        foreach (string line in Lines("/proc/self/maps"))
        {
            // 7f00-7f10 r-xp 00001000 08:01 1234   /usr/lib/libc.so.6
            string[] parts = line.Split(' ', 6, StringSplitOptions.RemoveEmptyEntries);
            string[] ends = parts[0].Split('-');
            if (parts.Length == 6 && ends.Length == 2 && Hex(ends[0], out ulong begin) && Hex(ends[1], out ulong end)
                && Hex(parts[2], out ulong offset))
            {
                files.Add((begin, end, offset, parts[5].Trim()));
            }
        }
        return files;
    }

    private static string? Method(ulong address)
    {
        foreach (string line in Lines(string.Create(CultureInfo.InvariantCulture, $"/tmp/perf-{Environment.ProcessId}.map")))
        {
            string[] parts = line.Split(' ', 3);
            if (parts.Length == 3 && Hex(parts[0], out ulong begin) && Hex(parts[1], out ulong size) && address - begin < size)
            {
                return parts[2];
            }
        }
        return null;
    }

    private static bool Hex(string text, out ulong value) =>
        ulong.TryParse(text, NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out value);

    private static string[] Lines(string path)
    {
        try
        {
            return File.Exists(path) ? File.ReadAllLines(path) : [];
        }
        catch (IOException)
        {
            return [];
        }
        catch (UnauthorizedAccessException)
        {
            return [];
        }
    }
}
