// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

/// <summary>A key of <c>mallctl</c> was refused: the message names it and says why.</summary>
public sealed class MallCtlException : InvalidOperationException
{
    /// <summary>Without a reason.</summary>
    public MallCtlException()
    {
    }

    /// <summary>With a sentence.</summary>
    /// <param name="message">The sentence.</param>
    public MallCtlException(string? message)
        : base(message)
    {
    }

    /// <summary>With a sentence and a cause.</summary>
    /// <param name="message">The sentence.</param>
    /// <param name="innerException">The cause.</param>
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

    /// <summary>The key.</summary>
    public string Key { get; } = "";

    /// <summary>What C says: 1 (EPERM), 2 (ENOENT), 11 (EAGAIN), 14 (EFAULT) or 22 (EINVAL); zero when it was not asked.</summary>
    public int ErrorCode { get; }
}
