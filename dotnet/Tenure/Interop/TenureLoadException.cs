// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.InteropServices;

namespace Tenure;

/// <summary>The native library is missing, cannot be loaded, or is another version's; the message says what to
/// do.</summary>
/// <remarks>Thrown by whatever first needs the library, and again each time until it is found.</remarks>
public sealed class TenureLoadException : DllNotFoundException
{
    /// <summary>Without a message of our own.</summary>
    public TenureLoadException()
    {
    }

    /// <summary>With what was wanted, what was found, and the next step.</summary>
    /// <param name="message">A sentence for each.</param>
    public TenureLoadException(string? message)
        : base(message)
    {
    }

    /// <summary>With what was wanted, what was found, the next step, and what the runtime threw.</summary>
    /// <param name="message">A sentence for each.</param>
    /// <param name="inner">What the runtime threw.</param>
    public TenureLoadException(string? message, Exception? inner)
        : base(message, inner)
    {
    }

    /// <summary>The file that was found; null when there was none.</summary>
    public string? LibraryPath { get; init; }

    /// <summary>The ABI version that the file has; null when it was not loaded, or has none.</summary>
    public uint? FoundAbiVersion { get; init; }

    /// <summary>The ABI version that this assembly was written for.</summary>
    public uint WantedAbiVersion { get; } = NativeMethods.AbiVersion;

    /// <summary>The platform for which the running .NET was built, such as linux-x64.</summary>
    public string Platform { get; } = RuntimeInformation.RuntimeIdentifier;
}
