// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

/// <summary>The exception that is thrown when a <c>mallctl</c> key is rejected. The message names the key and the
/// reason.</summary>
public sealed class MallCtlException : InvalidOperationException
{
    /// <summary>Initializes a new instance of the class.</summary>
    public MallCtlException()
    {
    }

    /// <summary>Initializes a new instance of the class with a message.</summary>
    /// <param name="message">The message.</param>
    public MallCtlException(string? message)
        : base(message)
    {
    }

    /// <summary>Initializes a new instance of the class with a message and an inner exception.</summary>
    /// <param name="message">The message.</param>
    /// <param name="innerException">The exception that is the cause.</param>
    public MallCtlException(string? message, Exception? innerException)
        : base(message, innerException)
    {
    }

    internal MallCtlException(string key, int error, string message)
        : base(message)
    {
        Key = key;
        ErrorCode = error;
    }

    /// <summary>Gets the key.</summary>
    public string Key { get; } = "";

    /// <summary>Gets the C error code: 1 (EPERM), 2 (ENOENT), 11 (EAGAIN), 14 (EFAULT) or 22 (EINVAL); zero if jemalloc
    /// was not called.</summary>
    public int ErrorCode { get; }
}
