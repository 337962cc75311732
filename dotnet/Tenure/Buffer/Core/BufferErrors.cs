// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics.CodeAnalysis;
using System.IO;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tenure;

/// <summary>What the checks of handles and buffers throw, out of the way of the code that checks.</summary>
/// <remarks>
/// A helper is one throw and nothing else, and may be inlined: so the compiler sees that it does not return, and keeps
/// nothing in registers for what would come after. What makes the exception is never inlined.
/// </remarks>
internal static unsafe class BufferErrors
{
    [DoesNotReturn]
    internal static void ThrowStale(ulong* word, uint generation) => throw Stale(word, generation);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static ObjectDisposedException Stale(ulong* word, uint generation)
    {
        if (generation == 0)
        {
            return new ObjectDisposedException("buffer", "It was never allocated: it is a default value.");
        }
        return new ObjectDisposedException(
            "buffer", $"Its memory was freed, from this copy or from another one (entry {HandleWords.EntryOf(word)}, generation {generation}).");
    }

    [DoesNotReturn]
    internal static void ThrowIndex(long index, long length) => throw Index(index, length);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static IndexOutOfRangeException Index(long index, long length) =>
        new IndexOutOfRangeException($"Index {index} is not in a buffer of {length} elements.");

    /// <summary>An index that is not inside, unless the memory is not there: that counts for more.</summary>
    [DoesNotReturn]
    internal static void ThrowIndex(long index, long length, ulong* word, uint generation) =>
        throw Index(index, length, word, generation);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static Exception Index(long index, long length, ulong* word, uint generation) =>
        HandleWords.IsLive(word, generation) ? Index(index, length) : Stale(word, generation);

    /// <summary>A value that goes past the end, or begins outside.</summary>
    [DoesNotReturn]
    internal static void ThrowPart(long bytes, long index, long length, long elementBytes) =>
        throw Part(bytes, index, length, elementBytes);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static IndexOutOfRangeException Part(long bytes, long index, long length, long elementBytes) =>
        (ulong)index >= (ulong)length
            ? Index(index, length)
            : new IndexOutOfRangeException(
                $"From element {index} on, a buffer of {length} elements has {(length - index) * elementBytes} bytes, "
                + $"and {bytes} are asked for.");

    [DoesNotReturn]
    internal static void ThrowStart(long start, long length, string name = "start") => throw Start(start, length, name);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static ArgumentOutOfRangeException Start(long start, long length, string name) =>
        new ArgumentOutOfRangeException(name, start, $"A start is from 0 to the length, {length}.");

    [DoesNotReturn]
    internal static void ThrowCount(long count, long rest, string name = "length") => throw Count(count, rest, name);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static ArgumentOutOfRangeException Count(long count, long rest, string name) =>
        new ArgumentOutOfRangeException(name, count, $"From there it has {rest} elements.");

    [DoesNotReturn]
    internal static void ThrowStillHeld(long holders) => throw StillHeld(holders);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static InvalidOperationException StillHeld(long holders) =>
        new InvalidOperationException(
            $"It is held {holders} time{(holders == 1 ? "" : "s")}: release it, or end its leases, before it is freed.");

    [DoesNotReturn]
    internal static void ThrowNotHeld() => throw NotHeld();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static InvalidOperationException NotHeld() =>
        new InvalidOperationException("It was released as often as it was acquired.");

    [DoesNotReturn]
    internal static void ThrowHeldTooOften() => throw HeldTooOften();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static InvalidOperationException HeldTooOften() =>
        new InvalidOperationException("It is held 2147483647 times; no more are counted.");

    [DoesNotReturn]
    internal static void ThrowLeaseEnded() => throw LeaseEnded();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static ObjectDisposedException LeaseEnded() => new ObjectDisposedException("lease", "The lease has ended.");

    [DoesNotReturn]
    internal static void ThrowTooLong(long count, long room, string name) => throw TooLong(count, room, name);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static ArgumentException TooLong(long count, long room, string name) =>
        new ArgumentException($"{count} elements do not fit into {room}.", name);

    [DoesNotReturn]
    internal static void ThrowUnlikeLengths(long left, long right, string name) => throw UnlikeLengths(left, right, name);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static ArgumentException UnlikeLengths(long left, long right, string name) =>
        new ArgumentException($"It has {right} elements, and the buffer {left}.", name);

    [DoesNotReturn]
    internal static void ThrowPastSpan(long length) => throw PastSpan(length);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static InvalidOperationException PastSpan(long length) =>
        new InvalidOperationException(
            $"A span has at most {int.MaxValue} elements, and this buffer {length}: take spans of parts of it.");

    [DoesNotReturn]
    internal static void ThrowNoVector(Type type) => throw NoVector(type);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static NotSupportedException NoVector(Type type) =>
        new NotSupportedException(
            $"{type.Name} is no element of a vector: those are sbyte, byte, short, ushort, int, uint, long, ulong, nint, "
            + "nuint, float and double. For other numbers go through the elements, or copy them into a buffer of one of "
            + "these.");

    [DoesNotReturn]
    internal static void ThrowVectorLength(long length, int count) => throw VectorLength(length, count);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static InvalidOperationException VectorLength(long length, int count) =>
        new InvalidOperationException($"One vector has {count} elements, and this buffer {length}.");

    [DoesNotReturn]
    internal static void ThrowTooLarge(long count, long elementBytes) => throw TooLarge(count, elementBytes);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static OutOfMemoryException TooLarge(long count, long elementBytes) =>
        new OutOfMemoryException($"{count} elements of {elementBytes} bytes are more than there are addresses; nothing has changed.");

    [DoesNotReturn]
    internal static void ThrowTableMissing() => throw TableMissing();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static TenureLoadException TableMissing() =>
        new TenureLoadException(
            "Tenure's native library gives no table of handles. Next step: look whether the process may reserve "
            + "addresses (ulimit -v).");

    [DoesNotReturn]
    internal static void ThrowRefused(int status, nint bytes, string? file, int systemError = 0) =>
        throw Refused(status, bytes, file, systemError);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static Exception Refused(int status, nint bytes, string? file, int systemError)
    {
        string reason = systemError == 0 ? "" : $" The system said: {Marshal.GetPInvokeErrorMessage(systemError)}.";
        return status switch
        {
            NativeMethods.FileError => new IOException(
                $"The file cannot be opened, made larger or mapped with {bytes} bytes: {file}.{reason}"),
            NativeMethods.InvalidArgument => new ArgumentException("A size or an alignment is out of its range."),
            _ => new OutOfMemoryException(
                $"{bytes} bytes were refused{(file is null ? "" : " for " + file)}; nothing has changed.{reason}"),
        };
    }
}
