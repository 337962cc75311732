// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

/// <summary>The exception that is thrown when a configuration is malformed. The message gives the position and what is
/// expected there. No setting was applied.</summary>
public sealed class JemConfException : FormatException
{
    /// <summary>Initializes a new instance of the class.</summary>
    public JemConfException()
    {
    }

    /// <summary>Initializes a new instance of the class with a message.</summary>
    /// <param name="message">The message.</param>
    public JemConfException(string? message)
        : base(message)
    {
    }

    /// <summary>Initializes a new instance of the class with a message and an inner exception.</summary>
    /// <param name="message">The message.</param>
    /// <param name="innerException">The exception that is the cause.</param>
    public JemConfException(string? message, Exception? innerException)
        : base(message, innerException)
    {
    }

    internal JemConfException(string conf, int position, string wanted)
        : base($"\"{conf}\" is malformed at position {position}: {wanted}. Write a configuration as KEY:VALUE,KEY:VALUE. No setting was applied.") =>
        Position = position;

    /// <summary>Gets the position in the configuration, from 0.</summary>
    public int Position { get; }
}
