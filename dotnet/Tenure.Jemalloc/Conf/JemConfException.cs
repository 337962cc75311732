// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

/// <summary>A configuration is malformed: the message says where, and what is wanted there. Nothing of it was applied.</summary>
public sealed class JemConfException : FormatException
{
    /// <summary>Without a place.</summary>
    public JemConfException()
    {
    }

    /// <summary>With a sentence.</summary>
    /// <param name="message">The sentence.</param>
    public JemConfException(string? message)
        : base(message)
    {
    }

    /// <summary>With a sentence and a cause.</summary>
    /// <param name="message">The sentence.</param>
    /// <param name="innerException">The cause.</param>
    public JemConfException(string? message, Exception? innerException)
        : base(message, innerException)
    {
    }

    internal JemConfException(string conf, int position, string wanted)
        : base($"\"{conf}\" is malformed at position {position}: {wanted}. A configuration is KEY:VALUE,KEY:VALUE; nothing was applied.") =>
        Position = position;

    /// <summary>Where, from 0.</summary>
    public int Position { get; }
}
