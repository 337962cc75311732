// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.IO;
using System.Text.RegularExpressions;

namespace Tenure.Bench;

/// <summary>The output files; checked before anything is measured.</summary>
internal static partial class OutputFiles
{
    internal const string StandardOutput = "-";

    /// <summary>Sends tables and other text to standard error if standard output must contain only JSON.</summary>
    internal static void LeaveStandardOutput(BenchRequest request)
    {
        if (request.JsonFile == StandardOutput)
        {
            Console.SetOut(Console.Error);
        }
    }

    /// <summary>Renames BenchmarkDotNet's files, whose names contain types with commas and spaces, to names that need
    /// no quotes in a shell.</summary>
    internal static void Rename(string folder)
    {
        string results = Path.Combine(folder, "results");
        foreach (string file in Directory.Exists(results) ? Directory.GetFiles(results) : [])
        {
            string name = UnwantedInNames().Replace(Path.GetFileName(file), "_").Replace("_-", "-", StringComparison.Ordinal);
            File.Move(file, Path.Combine(results, name), overwrite: true);
        }
    }

    [GeneratedRegex("[^A-Za-z0-9.-]+")]
    private static partial Regex UnwantedInNames();

    /// <summary>Gets the reason why a result cannot be written; null if it can.</summary>
    internal static string? Refuse(BenchRequest request)
    {
        try
        {
            if (request.OutFolder is { } folder)
            {
                Directory.CreateDirectory(folder);
                string probe = Path.Combine(folder, Path.GetRandomFileName());
                File.WriteAllText(probe, "");
                File.Delete(probe);
            }
            if (request.JsonFile is { } file and not StandardOutput)
            {
                using FileStream probe = File.Open(file, FileMode.Append);
            }
            return null;
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException or ArgumentException)
        {
            return failure.Message;
        }
    }
}
