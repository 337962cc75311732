// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.InteropServices;

namespace Tenure;

/// <summary>The exception that is thrown when the native library is missing, cannot be loaded, or has another ABI
/// version. The message says what to do.</summary>
/// <remarks>It is thrown by the first use of the library, and by every later use until the library is found.</remarks>
public sealed class TenureLoadException : DllNotFoundException
{
    /// <summary>Initializes a new instance of the class.</summary>
    public TenureLoadException()
    {
    }

    /// <summary>Initializes a new instance of the class with a message.</summary>
    /// <param name="message">The message: what was required, what was found, and what to do.</param>
    public TenureLoadException(string? message)
        : base(message)
    {
    }

    /// <summary>Initializes a new instance of the class with a message and an inner exception.</summary>
    /// <param name="message">The message: what was required, what was found, and what to do.</param>
    /// <param name="inner">The exception that the runtime threw.</param>
    public TenureLoadException(string? message, Exception? inner)
        : base(message, inner)
    {
    }

    /// <summary>Gets the file that was found; null if there was none.</summary>
    public string? LibraryPath { get; init; }

    /// <summary>Gets the ABI version of the file; null if it was not loaded or has none.</summary>
    public uint? FoundAbiVersion { get; init; }

    /// <summary>Gets the ABI version that this assembly requires.</summary>
    public uint WantedAbiVersion { get; } = NativeMethods.AbiVersion;

    /// <summary>Gets the platform for which the running .NET was built, such as linux-x64.</summary>
    public string Platform { get; } = RuntimeInformation.RuntimeIdentifier;
}
