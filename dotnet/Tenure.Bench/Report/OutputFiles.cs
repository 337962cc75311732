// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.IO;

namespace Tenure.Bench;

/// <summary>Where results go: looked at before anything is measured.</summary>
internal static class OutputFiles
{
    internal const string StandardOutput = "-";

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
