// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;

namespace Tenure.Bench;

/// <summary>Checks that the request fits into this machine before anything starts.</summary>
internal static class Fit
{
    /// <summary>Gets the rows to measure and reports the others. Null if nothing can be measured.</summary>
    internal static IReadOnlyList<CaseInfo>? Check(BenchRequest request, IReadOnlyList<CaseInfo> rows, Action<string> say)
    {
        MachineMemory memory = MachineMemory.Now();
        if (RefuseFolder(request, rows) is { } refused)
        {
            say($"jembench: {refused}");
            return null;
        }
        CaseInfo[] tooLarge = [.. rows.Where(row => !memory.Fits(row.NeedBytes))];
        if (tooLarge.Length == 0)
        {
            return rows;
        }
        CaseInfo worst = tooLarge.MaxBy(row => row.NeedBytes)!;
        if (request.FileFolder is not null && tooLarge.Length < rows.Count)
        {
            foreach (CaseInfo row in tooLarge)
            {
                say($"jembench: left out: {row.Row}, {row.Operation}: "
                    + $"it needs {ByteText.Of(row.NeedBytes)} of memory, and {memory.Describe()}.");
            }
            return [.. rows.Except(tooLarge)];
        }
        string prefix = "jembench: ";
        foreach (string line in Explain(request, worst, memory))
        {
            say(prefix + line);
            prefix = "";
        }
        return null;
    }

    private static IEnumerable<string> Explain(BenchRequest request, CaseInfo worst, MachineMemory memory)
    {
        ElementType element = request.Element;
        string what = request.Operations == Operations.Fragment
            ? $"{CountText.Of(worst.Count, "round")} of {element.Name}"
            : $"{CountText.Of(worst.Elements, "element")} of {element.Name}, {element.Size} bytes each,";
        string need = worst.Count == 1 ? "needs" : "need";
        yield return $"{what} {need} {ByteText.Of(worst.NeedBytes)} of memory, and {memory.Describe()}. Nothing was started. Options:";
        if (request.Operations != Operations.Fragment)
        {
            if (element.Narrower is { } narrower)
            {
                long bytes = worst.Count * narrower.Size;
                string fits = memory.Fits(bytes) ? "which fits" : "which is still too much";
                yield return $"  {narrower.Option} instead of {element.Option}: {narrower.Name} needs {ByteText.Of(bytes)}, {fits}.";
            }
            if (request.Verb == Verb.Huge)
            {
                yield return $"  --file FOLDER: Tenure's array is in a file in that folder, which needs "
                    + $"{ByteText.Of(worst.Count * element.Size)} of space. Rows that do not fit are left out.";
            }
            long most = (long)(memory.AvailableBytes * 0.9) / element.Size / 1_000_000 * 1_000_000;
            if (most > 0)
            {
                yield return $"  fewer elements: up to about {Text(most)} of {element.Name}.";
            }
        }
        else
        {
            yield return "  fewer rounds, or a narrower type.";
        }
    }

    /// <summary>Checks the folder for a file-backed array: it must exist, be writable, have enough space, and not be in
    /// memory.</summary>
    private static string? RefuseFolder(BenchRequest request, IReadOnlyList<CaseInfo> rows)
    {
        if (request.FileFolder is not { } folder)
        {
            return null;
        }
        if (!Directory.Exists(folder))
        {
            return $"--file {folder}: the folder does not exist.";
        }
        long need = rows.Max(row => row.NeedFileBytes);
        try
        {
            var drive = new DriveInfo(Path.GetFullPath(folder));
            if (drive.DriveFormat is "tmpfs" or "ramfs")
            {
                return $"--file {folder}: the folder is in memory ({drive.DriveFormat}). Name a folder on a disk.";
            }
            if (drive.AvailableFreeSpace < need)
            {
                return $"--file {folder}: the array needs {ByteText.Of(need)}, and only {ByteText.Of(drive.AvailableFreeSpace)} are free.";
            }
            File.Delete(Touch(folder));
            return null;
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            return $"--file {folder}: {failure.Message}";
        }
    }

    private static string Touch(string folder)
    {
        string path = Path.Combine(folder, Path.GetRandomFileName());
        File.WriteAllText(path, "");
        return path;
    }

    private static string Text(long number) => number.ToString(CultureInfo.InvariantCulture);
}
