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
        throw new OutOfMemoryException($"{of} is out of memory: {bytes} bytes were requested. Nothing has changed.");

    [DoesNotReturn]
    [MethodImpl(MethodImplOptions.NoInlining)]
    internal static void Disposed(string type) =>
        throw new ObjectDisposedException(type, "The object has been disposed.");

    [DoesNotReturn]
    [MethodImpl(MethodImplOptions.NoInlining)]
    internal static void OutOfRange(string name, object? value, string wanted) =>
        throw new ArgumentOutOfRangeException(name, value, wanted);

    /// <summary>Rejects an alignment that is not a power of two.</summary>
    internal static void UnlessPowerOfTwo(nuint alignment, [CallerArgumentExpression(nameof(alignment))] string name = "")
    {
        if (!BitOperations.IsPow2(alignment))
        {
            OutOfRange(name, alignment, "The alignment is not a power of two.");
        }
    }

    internal static void IfNegative(long count, [CallerArgumentExpression(nameof(count))] string name = "")
    {
        if (count < 0)
        {
            OutOfRange(name, count, "The count is negative.");
        }
    }

    internal static void UnlessLifetime(Lifetime lifetime)
    {
        if (lifetime > Lifetime.Persistent)
        {
            OutOfRange(nameof(lifetime), lifetime, "The lifetime is not Temp, TempJob or Persistent.");
        }
    }
}
