// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Globalization;
using System.IO;

namespace Tenure.Bench;

/// <summary>The memory available to this process.</summary>
/// <param name="TotalBytes">The machine's memory, or the control group's limit if that is smaller.</param>
/// <param name="AvailableBytes">The memory that can be allocated now without evicting anything.</param>
/// <param name="IsLimited">Whether a control group sets the limit.</param>
internal readonly record struct MachineMemory(long TotalBytes, long AvailableBytes, bool IsLimited)
{
    /// <summary>Reserved for the runtime and for other processes.</summary>
    private const long Reserve = 512L << 20;

    internal static MachineMemory Now()
    {
        string text = Read("/proc/meminfo");
        long total = ProcessMemory.Field(text, "MemTotal:");
        long available = ProcessMemory.Field(text, "MemAvailable:");
        if (total == 0)
        {
            GCMemoryInfo known = GC.GetGCMemoryInfo();
            return new(known.TotalAvailableMemoryBytes, known.TotalAvailableMemoryBytes, IsLimited: false);
        }
        (long limit, long left) = OfGroup(Read("/proc/self/cgroup"));
        return left < available ? new(Math.Min(total, limit), left, IsLimited: true) : new(total, available, IsLimited: false);
    }

    internal bool Fits(long bytes) => bytes <= AvailableBytes - Reserve;

    internal string Describe() =>
        $"{ByteText.Of(AvailableBytes)} of {ByteText.Of(TotalBytes)} are available{(IsLimited ? " in this control group" : "")}";

    /// <summary>Gets the tightest limit among a group and its ancestors, and what remains of it.</summary>
    private static (long Limit, long Left) OfGroup(string groups)
    {
        (long Limit, long Left) tightest = (long.MaxValue, long.MaxValue);
        foreach (string line in groups.Split('\n', StringSplitOptions.RemoveEmptyEntries))
        {
            string[] parts = line.Split(':', 3);
            if (parts.Length < 3)
            {
                continue;
            }
            bool isSecond = parts[0] == "0";
            if (!isSecond && !parts[1].Split(',').AsSpan().Contains("memory"))
            {
                continue;
            }
            string root = isSecond ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
            for (string? group = parts[2]; group is not null; group = group.Length <= 1 ? null : Path.GetDirectoryName(group))
            {
                string folder = root + group.TrimEnd('/') + "/";
                long limit = Number(folder + (isSecond ? "memory.max" : "memory.limit_in_bytes"), long.MaxValue);
                if (limit == long.MaxValue || limit > 1L << 60)
                {
                    continue;
                }
                long used = Number(folder + (isSecond ? "memory.current" : "memory.usage_in_bytes"), 0);
                // Inactive files count as used but are evicted first.
                long files = FieldOf(Read(folder + "memory.stat"), isSecond ? "inactive_file " : "total_inactive_file ");
                long left = Math.Max(0, limit - used + files);
                if (left < tightest.Left)
                {
                    tightest = (limit, left);
                }
            }
        }
        return tightest;
    }

    private static long FieldOf(string text, string name) => ProcessMemory.Field(text, name) / 1024;

    private static long Number(string path, long otherwise) =>
        long.TryParse(Read(path).Trim(), NumberStyles.None, CultureInfo.InvariantCulture, out long found) ? found : otherwise;

    private static string Read(string path)
    {
        try
        {
            return File.ReadAllText(path);
        }
        catch (Exception refused) when (refused is IOException or UnauthorizedAccessException)
        {
            return "";
        }
    }
}
