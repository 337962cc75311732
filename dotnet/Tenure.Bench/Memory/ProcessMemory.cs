// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Globalization;
using System.IO;

namespace Tenure.Bench;

/// <summary>The resident memory of this process, as reported by the system. Zero where it reports nothing.</summary>
/// <param name="PrivateBytes">The private resident bytes: neither file-backed nor shared.</param>
/// <param name="FileBytes">The resident bytes of files and shared memory.</param>
/// <param name="PeakBytes">The peak of both since <see cref="ForgetPeak"/>.</param>
internal readonly record struct ProcessMemory(long PrivateBytes, long FileBytes, long PeakBytes)
{
    /// <summary>The private peak as far as it is known, assuming that the file-backed memory was the same as
    /// now.</summary>
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

    /// <summary>Parses the text of /proc/self/status.</summary>
    internal static ProcessMemory Parse(string status) => new(
        Field(status, "RssAnon:"), Field(status, "RssFile:") + Field(status, "RssShmem:"), Field(status, "VmHWM:"));

    /// <summary>Resets the peak to the current resident size.</summary>
    internal static void ForgetPeak()
    {
        try
        {
            File.WriteAllText("/proc/self/clear_refs", "5");
        }
        catch (Exception refused) when (refused is IOException or UnauthorizedAccessException)
        {
            // The peak is then that of the whole process.
        }
    }

    /// <summary>Gets the value of "Name: 123 kB" in bytes.</summary>
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
