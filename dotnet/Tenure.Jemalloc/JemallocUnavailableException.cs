// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

/// <summary>The exception that is thrown when a feature requires jemalloc and there is none: the process does not run on
/// it, and the package has none for this platform. The message says what to do.</summary>
/// <remarks>The jemalloc of a distribution cannot be loaded into a running .NET process, because its thread-local state
/// does not fit: it must be present when the process starts.</remarks>
public sealed class JemallocUnavailableException : InvalidOperationException
{
    /// <summary>The command that starts a program on jemalloc.</summary>
    public const string Command = "tenure run --heap=jemalloc -- dotnet app.dll";

    /// <summary>Initializes a new instance with a message about this process and the command to use.</summary>
    public JemallocUnavailableException()
        : base(Text(null))
    {
    }

    /// <summary>Initializes a new instance with a sentence about the request, followed by a message about this process
    /// and the command to use.</summary>
    /// <param name="message">The sentence; null for none.</param>
    public JemallocUnavailableException(string? message)
        : base(Text(message))
    {
    }

    /// <summary>Initializes a new instance with a sentence about the request and an inner exception.</summary>
    /// <param name="message">The sentence; null for none.</param>
    /// <param name="innerException">The exception that is the cause.</param>
    public JemallocUnavailableException(string? message, Exception? innerException)
        : base(Text(message), innerException)
    {
    }

    internal static string Text(string? asked) => (string.IsNullOrEmpty(asked) ? "" : asked + " ") + JemallocSymbols.WhyNot()
        + " Start the program on jemalloc: " + Command
        + " (Debian and Ubuntu: package libjemalloc2; without the command: LD_PRELOAD=libjemalloc.so.2 TENURE_PASSTHROUGH=heap).";
}
