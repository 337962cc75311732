// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Text.RegularExpressions;
using System.Threading.Tasks;
using Xunit;

namespace Tenure.Tests;

/// <summary>This program once more, on another malloc, or with another start of jemalloc: both are decided once.</summary>
internal static partial class JemProcess
{
    /// <summary>Set to 0 for a process that must not load the jemalloc of the package.</summary>
    private const string UsePackaged = "TENURE_TESTS_PACKAGED_JEMALLOC";

    private const string Jemalloc = "libjemalloc.so.2";

    internal sealed record Outcome(int Code, string Out, string Error, int Total, int Bad);

    /// <summary>Runs the explicit tests of some classes, one after the other, and expects that there are some and all pass.</summary>
    internal static Outcome Pass(IEnumerable<string> command, Dictionary<string, string> variables, params Type[] classes)
    {
        string program = Path.Combine(AppContext.BaseDirectory, OperatingSystem.IsWindows() ? "Tenure.Tests.exe" : "Tenure.Tests");
        Assert.SkipUnless(File.Exists(program), program + " is not there: the tests run inside another program");
        List<string> words = [.. command, program, "-noColor", "-parallel", "none", "-explicit", "only"];
        foreach (Type each in classes)
        {
            words.AddRange(["-class", each.FullName!]);
        }
        (int code, string output, string error) = Run(words, variables);
        Match summary = Summary().Match(output);
        Assert.True(summary.Success, output + error);
        int total = int.Parse(summary.Groups[1].ValueSpan, null), bad = int.Parse(summary.Groups[2].ValueSpan, null)
            + int.Parse(summary.Groups[3].ValueSpan, null);
        Assert.True(bad == 0 && code == 0 && total > 0, $"{code}\n{output}{error}");
        return new Outcome(code, output, error, total, bad);
    }

    /// <summary>The settings of a process without the jemalloc of the package.</summary>
    internal static Dictionary<string, string> WithoutPackaged => new() { [UsePackaged] = "0" };

    [ModuleInitializer]
    internal static void SwitchPackaged()
    {
        if (Environment.GetEnvironmentVariable(UsePackaged) == "0")
        {
            AppContext.SetSwitch(PackagedJemalloc.Switch, false);
        }
    }

    /// <summary>Skips the test where the source of jemalloc was not available: scripts/build_jemalloc has said why.</summary>
    internal static void RequirePackaged() => Assert.SkipUnless(
        File.Exists(Path.Combine(AppContext.BaseDirectory, PackagedJemalloc.FileName)), "the jemalloc of the package was not built");

    /// <summary>How a program is started on jemalloc: by the command of this tree, or by what that does where it is not built.</summary>
    internal static (string[] Command, Dictionary<string, string> Variables) OnJemalloc()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "only Linux preloads");
        (_, _, string said) = Run(["/bin/true"], new() { ["LD_PRELOAD"] = Jemalloc });
        Assert.SkipWhen(said.Contains("cannot be preloaded", StringComparison.Ordinal), Jemalloc + " is not on this machine; the package libjemalloc2 brings it");
        string root = typeof(JemProcess).Assembly.GetCustomAttributes<AssemblyMetadataAttribute>().First(each => each.Key == "SourceFolder").Value!;
        string command = Path.Combine(root, "../build/release/tenure");
        return File.Exists(command)
            ? ([command, "run", "--heap=jemalloc", "--"], [])
            : ([], new() { ["LD_PRELOAD"] = Jemalloc, ["TENURE_PASSTHROUGH"] = "heap" });
    }

    internal static (int Code, string Out, string Error) Run(IReadOnlyList<string> words, Dictionary<string, string> variables)
    {
        var start = new ProcessStartInfo(words[0], words.Skip(1)) { RedirectStandardOutput = true, RedirectStandardError = true };
        foreach (string name in (string[])["LD_PRELOAD", "MALLOC_CONF", PackagedJemalloc.Variable, "TENURE_PASSTHROUGH", UsePackaged])
        {
            start.Environment.Remove(name);
        }
        foreach ((string name, string value) in variables)
        {
            start.Environment[name] = value;
        }
        using Process process = Process.Start(start)!;
        Task<string> output = process.StandardOutput.ReadToEndAsync(), error = process.StandardError.ReadToEndAsync();
        if (!process.WaitForExit(TimeSpan.FromMinutes(2)))
        {
            process.Kill(entireProcessTree: true);
            Assert.Fail("it hangs: " + string.Join(' ', words));
        }
        return (process.ExitCode, output.Result, error.Result);
    }

    [GeneratedRegex(@"Total: (\d+), Errors: (\d+), Failed: (\d+)")]
    private static partial Regex Summary();
}
