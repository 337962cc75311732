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
        throw new OutOfMemoryException(
            $"{of} cannot allocate {bytes} bytes: out of memory. Nothing has changed. Free memory, or raise the memory limit.");

    [DoesNotReturn]
    [MethodImpl(MethodImplOptions.NoInlining)]
    internal static void NotCreated(string what) =>
        throw new OutOfMemoryException(
            $"Cannot create {what}: the system is out of memory. Free memory, or raise the memory limit of the process.");

    [DoesNotReturn]
    [MethodImpl(MethodImplOptions.NoInlining)]
    internal static void Disposed(string type) =>
        throw new ObjectDisposedException(type, "The object was used after it was disposed. Move the call of Dispose behind the last use, or create a new object.");

    [DoesNotReturn]
    [MethodImpl(MethodImplOptions.NoInlining)]
    internal static void OutOfRange(string name, object? value, string wanted) =>
        throw new ArgumentOutOfRangeException(name, value, wanted);

    /// <summary>Rejects an alignment that is not a power of two.</summary>
    internal static void UnlessPowerOfTwo(nuint alignment, [CallerArgumentExpression(nameof(alignment))] string name = "")
    {
        if (!BitOperations.IsPow2(alignment))
        {
            OutOfRange(name, alignment, "The alignment must be a power of two.");
        }
    }

    internal static void IfNegative(long count, [CallerArgumentExpression(nameof(count))] string name = "")
    {
        if (count < 0)
        {
            OutOfRange(name, count, "The count must not be negative.");
        }
    }

    internal static void UnlessLifetime(Lifetime lifetime)
    {
        if (lifetime > Lifetime.Persistent)
        {
            OutOfRange(nameof(lifetime), lifetime, "The lifetime must be Temp, TempJob or Persistent.");
        }
    }
}
