// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Text;
using Xunit;

namespace Tenure.Tests;

/// <summary>The built tool, started as a person would start it.</summary>
internal sealed record BenchTool(int ExitCode, string Output, string Errors)
{
    internal static BenchTool Run(params string[] arguments) => Run(null, null, arguments);

    /// <summary>With a variable of the environment.</summary>
    internal static BenchTool RunWith((string Name, string Value) variable, params string[] arguments) => Run(null, variable, arguments);

    /// <summary>Ctrl-C comes as soon as the tool's errors have these words.</summary>
    internal static BenchTool RunUntil(string words, params string[] arguments) => Run(words, null, arguments);

    /// <summary>A file of the built tool.</summary>
    internal static string FileOf(string name) =>
        Path.GetFullPath(Path.Combine(Metadata("BuildFolder"), "Tenure.Bench", Metadata("BuildConfiguration"), name));

    private static BenchTool Run(string? interruptAt, (string Name, string Value)? variable, string[] arguments)
    {
        string tool = FileOf("Tenure.Bench.dll");
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
        if (variable is { } set)
        {
            start.Environment[set.Name] = set.Value;
        }
        using Process child = Process.Start(start)!;
        System.Threading.Tasks.Task<string> output = child.StandardOutput.ReadToEndAsync();
        var errors = new StringBuilder();
        for (int read; (read = child.StandardError.Read()) >= 0;)
        {
            errors.Append((char)read);
            if (interruptAt is not null && errors.ToString().Contains(interruptAt, StringComparison.Ordinal))
            {
                Assert.Equal(0, kill(child.Id, Sigint));
                interruptAt = null;
            }
        }
        child.WaitForExit();
        return new(child.ExitCode, output.Result, errors.ToString());
    }

    /// <summary>A folder that goes at the end of a test.</summary>
    internal sealed class Folder : IDisposable
    {
        internal string Path { get; } = Directory.CreateTempSubdirectory("jembench-test-").FullName;

        internal string File(string name) => System.IO.Path.Combine(Path, name);

        public void Dispose() => Directory.Delete(Path, recursive: true);
    }

    private const int Sigint = 2;

    [DllImport("libc")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static extern int kill(int process, int signal);

    private static string Metadata(string key) => typeof(BenchTool).Assembly
        .GetCustomAttributes<AssemblyMetadataAttribute>().First(attribute => attribute.Key == key).Value!;
}
