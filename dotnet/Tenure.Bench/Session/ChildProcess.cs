// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.ComponentModel;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Text;

namespace Tenure.Bench;

/// <summary>This program, started again and awaited.</summary>
/// <param name="ExitCode">The exit code.</param>
/// <param name="ProcessId">The process ID.</param>
/// <param name="ErrorText">The end of its standard error output.</param>
internal sealed record ChildProcess(int ExitCode, int ProcessId, string ErrorText)
{
    private const int MaxText = 8192;

    /// <summary>Starts a child with only the given preloaded library, whatever this process has preloaded.</summary>
    internal static ChildProcess Run(IReadOnlyList<string> arguments, string? preload, bool countsCallsAtOnce = false)
    {
        var start = new ProcessStartInfo(Environment.ProcessPath ?? "dotnet")
        {
            RedirectStandardError = true,
            RedirectStandardOutput = true,
            RedirectStandardInput = true,
            UseShellExecute = false,
        };
        if (Path.GetFileNameWithoutExtension(start.FileName) == "dotnet")
        {
            start.ArgumentList.Add(Path.Combine(AppContext.BaseDirectory, typeof(ChildProcess).Assembly.GetName().Name + ".dll"));
        }
        foreach (string argument in arguments)
        {
            start.ArgumentList.Add(argument);
        }
        foreach (string name in start.Environment.Keys.Where(name => name.StartsWith("TENURE_", StringComparison.Ordinal)).ToArray())
        {
            start.Environment.Remove(name);
        }
        start.Environment.Remove(Heaps.PreloadVariable);
        if (preload is not null)
        {
            start.Environment[Heaps.PreloadVariable] = preload;
        }
        if (countsCallsAtOnce)
        {
            start.Environment[HotCode.NoDelay] = "0";
        }
        using var child = new Process { StartInfo = start };
        var text = new StringBuilder();
        child.ErrorDataReceived += (_, line) => Append(text, line.Data);
        child.OutputDataReceived += (_, line) => Append(text, line.Data);
        try
        {
            child.Start();
        }
        catch (Win32Exception refused)
        {
            return new(Bench.ExitCode.Failed, 0, $"it could not be started: {refused.Message}");
        }
        using var end = new ChildEnd(child);
        child.StandardInput.Close();
        child.BeginErrorReadLine();
        child.BeginOutputReadLine();
        child.WaitForExit();
        return new(child.ExitCode, child.Id, text.ToString());
    }

    /// <summary>Explains in one sentence why it returned no result.</summary>
    internal string Explain()
    {
        const int Killed = 128 + 9;
        string said = ErrorText.Split('\n', StringSplitOptions.RemoveEmptyEntries).FirstOrDefault()?.Trim() ?? "";
        return ExitCode == Killed
            ? "its process was killed; the system does this when it runs out of memory"
            : $"its process ended with {ExitCode}{(said.Length == 0 ? "" : ": " + said)}";
    }

    private static void Append(StringBuilder text, string? line)
    {
        lock (text)
        {
            if (line is not null && text.Length < MaxText)
            {
                text.Append(line).Append('\n');
            }
        }
    }

    /// <summary>Ends a child when its parent is interrupted.</summary>
    private sealed class ChildEnd : IDisposable
    {
        private readonly Process _child;

        internal ChildEnd(Process child)
        {
            _child = child;
            Interrupt.Coming += Kill;
            AppDomain.CurrentDomain.ProcessExit += KillAtExit;
            if (Interrupt.Came)
            {
                Kill();
            }
        }

        public void Dispose()
        {
            Interrupt.Coming -= Kill;
            AppDomain.CurrentDomain.ProcessExit -= KillAtExit;
        }

        private void KillAtExit(object? sender, EventArgs arguments) => Kill();

        private void Kill()
        {
            try
            {
                _child.Kill();
            }
            catch (InvalidOperationException)
            {
                // It has ended.
            }
        }
    }
}
