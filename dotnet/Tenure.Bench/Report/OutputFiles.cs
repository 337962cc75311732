// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.IO;
using System.Text.RegularExpressions;

namespace Tenure.Bench;

/// <summary>Where results go: looked at before anything is measured.</summary>
internal static partial class OutputFiles
{
    internal const string StandardOutput = "-";

    /// <summary>Where the standard output is to be JSON and nothing else, tables and the like go to the standard error.</summary>
    internal static void LeaveStandardOutput(BenchRequest request)
    {
        if (request.JsonFile == StandardOutput)
        {
            Console.SetOut(Console.Error);
        }
    }

    /// <summary>BenchmarkDotNet names files by types, with commas and spaces: a name that needs no quotes in a shell.</summary>
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

    /// <summary>Why a result could not be written; null: it can.</summary>
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
