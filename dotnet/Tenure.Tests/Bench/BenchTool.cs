// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Reflection;
using Xunit;

namespace Tenure.Tests;

/// <summary>The built tool, started as a person would start it.</summary>
internal sealed record BenchTool(int ExitCode, string Output, string Errors)
{
    internal static BenchTool Run(params string[] arguments)
    {
        string folder = Metadata("BuildFolder");
        string tool = Path.GetFullPath(Path.Combine(folder, "Tenure.Bench", Metadata("BuildConfiguration"), "Tenure.Bench.dll"));
        Assert.SkipUnless(File.Exists(tool), $"The tool is not built: {tool}");
        var start = new ProcessStartInfo("dotnet")
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            ArgumentList = { tool },
        };
        foreach (string argument in arguments)
        {
            start.ArgumentList.Add(argument);
        }
        using Process child = Process.Start(start)!;
        System.Threading.Tasks.Task<string> errors = child.StandardError.ReadToEndAsync();
        string output = child.StandardOutput.ReadToEnd();
        child.WaitForExit();
        return new(child.ExitCode, output, errors.Result);
    }

    /// <summary>A folder that goes at the end of a test.</summary>
    internal sealed class Folder : IDisposable
    {
        internal string Path { get; } = Directory.CreateTempSubdirectory("jembench-test-").FullName;

        internal string File(string name) => System.IO.Path.Combine(Path, name);

        public void Dispose() => Directory.Delete(Path, recursive: true);
    }

    private static string Metadata(string key) => typeof(BenchTool).Assembly
        .GetCustomAttributes<AssemblyMetadataAttribute>().First(attribute => attribute.Key == key).Value!;
}
