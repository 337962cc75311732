// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics;
using System.IO;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Xunit;

namespace Tenure.Tests;

/// <summary>Runs the explicit tests of a class in a process of their own: with other options, with another native library,
/// or alone where the figures of the whole process are looked at.</summary>
internal static class ChildProcess
{
    private const string LibraryVariable = "TENURE_TESTS_LIBRARY";

    internal static string Run(Type tests, params (string Name, string Value)[] environment)
    {
        string assembly = typeof(ChildProcess).Assembly.Location;
        // Published for another system, the program has its runtime with it, and there is no dotnet.
        string own = Environment.ProcessPath ?? "";
        bool isOwn = Path.GetFileNameWithoutExtension(own) == Path.GetFileNameWithoutExtension(assembly);
        string[] arguments = ["-class", tests.FullName!, "-explicit", "only", "-noLogo", "-noColor"];
        var start = new ProcessStartInfo(isOwn ? own : "dotnet", isOwn ? arguments : [assembly, .. arguments])
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        start.Environment["DOTNET_CLI_UI_LANGUAGE"] = "en";
        foreach ((string name, string value) in environment)
        {
            start.Environment[name] = value;
        }
        using Process child = Process.Start(start)!;
        System.Threading.Tasks.Task<string> errors = child.StandardError.ReadToEndAsync();
        string output = child.StandardOutput.ReadToEnd() + errors.Result;
        child.WaitForExit();
        Assert.True(child.ExitCode == 0 && !output.Contains("Total: 0", StringComparison.Ordinal), output);
        return output;
    }

    /// <summary>The same with the checked native library; skips where this tree has not built it.</summary>
    internal static string RunChecked(Type tests)
    {
        string source = "";
        foreach (AssemblyMetadataAttribute each in typeof(ChildProcess).Assembly.GetCustomAttributes<AssemblyMetadataAttribute>())
        {
            source = each.Key == "SourceFolder" ? each.Value! : source;
        }
        string library = Path.GetFullPath(Path.Combine(source, "..", "build", "release", "libtenure_checked.so"));
        Assert.SkipUnless(File.Exists(library), "The checked library is not built: ninja -C build/release checked_shared");
        return Run(tests, (LibraryVariable, library));
    }

    [ModuleInitializer]
    internal static void TakeOtherLibrary()
    {
        // The C library, where it has another name.
        if (OperatingSystem.IsWindows())
        {
            NativeLibrary.SetDllImportResolver(
                typeof(ChildProcess).Assembly, (name, _, _) => name == "libc" ? NativeLibrary.Load("msvcrt.dll") : 0);
        }
        string? path = Environment.GetEnvironmentVariable(LibraryVariable);
        if (path is not null)
        {
            NativeLibrary.SetDllImportResolver(
                typeof(Native).Assembly,
                (name, _, _) => name == "libtenure" ? NativeLibrary.Load(path) : 0);
        }
    }
}
