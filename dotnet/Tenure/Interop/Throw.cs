// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics.CodeAnalysis;
using System.Numerics;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>Throws exceptions, outside the code that checks.</summary>
internal static class Throw
{
    [DoesNotReturn]
    [MethodImpl(MethodImplOptions.NoInlining)]
    internal static void Refused(nuint bytes, string of) =>
        throw new OutOfMemoryException($"{bytes} bytes were refused by {of}; nothing has changed.");

    [DoesNotReturn]
    [MethodImpl(MethodImplOptions.NoInlining)]
    internal static void Disposed(string type) =>
        throw new ObjectDisposedException(type, "Its memory was given back by Dispose.");

    [DoesNotReturn]
    [MethodImpl(MethodImplOptions.NoInlining)]
    internal static void OutOfRange(string name, object? value, string wanted) =>
        throw new ArgumentOutOfRangeException(name, value, wanted);

    /// <summary>Rejects an alignment that is not a power of two.</summary>
    internal static void UnlessPowerOfTwo(nuint alignment, [CallerArgumentExpression(nameof(alignment))] string name = "")
    {
        if (!BitOperations.IsPow2(alignment))
        {
            OutOfRange(name, alignment, "An alignment is a power of two, in bytes.");
        }
    }

    internal static void IfNegative(long count, [CallerArgumentExpression(nameof(count))] string name = "")
    {
        if (count < 0)
        {
            OutOfRange(name, count, "A count is not negative.");
        }
    }

    internal static void UnlessLifetime(Lifetime lifetime)
    {
        if (lifetime > Lifetime.Persistent)
        {
            OutOfRange(nameof(lifetime), lifetime, "A lifetime is Temp, TempJob or Persistent.");
        }
    }
}
