// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Globalization;
using System.IO;

namespace Tenure.Bench;

/// <summary>What this process has resident, as the system counts it. Zeros where it does not say.</summary>
/// <param name="PrivateBytes">Nobody else's: neither a file's nor shared.</param>
/// <param name="FileBytes">Of files and shared memory.</param>
/// <param name="PeakBytes">The most of both since <see cref="ForgetPeak"/>.</param>
internal readonly record struct ProcessMemory(long PrivateBytes, long FileBytes, long PeakBytes)
{
    /// <summary>The most that was private, as far as it is known: files are taken to have been as much as now.</summary>
    internal long PrivatePeakBytes => Math.Max(PeakBytes - FileBytes, PrivateBytes);

    internal static ProcessMemory Now()
    {
        try
        {
            return Parse(File.ReadAllText("/proc/self/status"));
        }
        catch (IOException)
        {
            return default;
        }
    }

    /// <summary>Of the text of /proc/self/status.</summary>
    internal static ProcessMemory Parse(string status) => new(
        Field(status, "RssAnon:"), Field(status, "RssFile:") + Field(status, "RssShmem:"), Field(status, "VmHWM:"));

    /// <summary>The peak begins anew from what is resident now.</summary>
    internal static void ForgetPeak()
    {
        try
        {
            File.WriteAllText("/proc/self/clear_refs", "5");
        }
        catch (Exception refused) when (refused is IOException or UnauthorizedAccessException)
        {
            // The peak then is that of the whole process.
        }
    }

    /// <summary>"Name:   123 kB" in bytes.</summary>
    internal static long Field(string text, string name)
    {
        int begin = text.IndexOf(name, StringComparison.Ordinal);
        if (begin < 0)
        {
            return 0;
        }
        ReadOnlySpan<char> rest = text.AsSpan(begin + name.Length).TrimStart();
        int end = rest.IndexOfAny(' ', '\n');
        return long.TryParse(end < 0 ? rest : rest[..end], NumberStyles.None, CultureInfo.InvariantCulture, out long kib) ? kib * 1024 : 0;
    }
}
