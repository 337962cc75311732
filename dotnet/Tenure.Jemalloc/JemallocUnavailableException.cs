// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

/// <summary>Something was asked for that only jemalloc has, and this process does not run on it. The message says how to start it so.</summary>
/// <remarks>jemalloc cannot be loaded into a running .NET process, because its thread-local state does not fit: it serves a
/// process from its start or not at all.</remarks>
public sealed class JemallocUnavailableException : InvalidOperationException
{
    /// <summary>The command that starts a program on jemalloc.</summary>
    public const string Command = "tenure run --heap=jemalloc -- dotnet app.dll";

    /// <summary>With what is the case in this process, and the command.</summary>
    public JemallocUnavailableException()
        : base(Text(null))
    {
    }

    /// <summary>With a sentence about what was asked for; what is the case in this process, and the command, follow it.</summary>
    /// <param name="message">The sentence; null for none.</param>
    public JemallocUnavailableException(string? message)
        : base(Text(message))
    {
    }

    /// <summary>With a sentence about what was asked for, and a cause.</summary>
    /// <param name="message">The sentence; null for none.</param>
    /// <param name="innerException">The cause.</param>
    public JemallocUnavailableException(string? message, Exception? innerException)
        : base(Text(message), innerException)
    {
    }

    internal static string Text(string? asked) => (string.IsNullOrEmpty(asked) ? "" : asked + " ") + JemallocSymbols.WhyNot()
        + " Start the program on jemalloc: " + Command
        + " (the package libjemalloc2 of Debian and Ubuntu brings it; without the command: LD_PRELOAD=libjemalloc.so.2 TENURE_PASSTHROUGH=heap).";
}
