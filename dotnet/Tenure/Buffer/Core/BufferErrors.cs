// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics.CodeAnalysis;
using System.IO;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tenure;

/// <summary>Throws the exceptions of handle and buffer checks, outside the code that checks.</summary>
/// <remarks>Each helper is a single throw and may be inlined. The compiler then sees that it does not return and keeps
/// no registers for code after it. The methods that create the exceptions are never inlined.</remarks>
internal static unsafe class BufferErrors
{
    [DoesNotReturn]
    internal static void ThrowStale(ulong* word, uint generation) => throw Stale(word, generation);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static ObjectDisposedException Stale(ulong* word, uint generation)
    {
        if (generation == 0)
        {
            return new ObjectDisposedException("buffer", "The memory was never allocated: this is a default value. Create it with a constructor.");
        }
        return new ObjectDisposedException(
            "buffer", $"The memory was already freed, from this copy or another one (entry {HandleWords.EntryOf(word)}, generation {generation}). "
            + "Check IsValid, or hold the memory with a lease while it is in use.");
    }

    [DoesNotReturn]
    internal static void ThrowIndex(long index, long length) => throw Index(index, length);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static IndexOutOfRangeException Index(long index, long length) =>
        new IndexOutOfRangeException($"Index {index} is out of range: the buffer has {length} elements.");

    /// <summary>Throws for an index out of range. When the memory is not live, throws for that instead.</summary>
    [DoesNotReturn]
    internal static void ThrowIndex(long index, long length, ulong* word, uint generation) =>
        throw Index(index, length, word, generation);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static Exception Index(long index, long length, ulong* word, uint generation) =>
        HandleWords.IsLive(word, generation) ? Index(index, length) : Stale(word, generation);

    /// <summary>Throws for a value that extends past the end or starts out of range.</summary>
    [DoesNotReturn]
    internal static void ThrowPart(long bytes, long index, long length, long elementBytes) =>
        throw Part(bytes, index, length, elementBytes);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static IndexOutOfRangeException Part(long bytes, long index, long length, long elementBytes) =>
        (ulong)index >= (ulong)length
            ? Index(index, length)
            : new IndexOutOfRangeException(
                $"{bytes} bytes were requested at index {index}, but only {(length - index) * elementBytes} bytes follow in a "
                + $"buffer of {length} elements.");

    [DoesNotReturn]
    internal static void ThrowStart(long start, long length, string name = "start") => throw Start(start, length, name);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static ArgumentOutOfRangeException Start(long start, long length, string name) =>
        new ArgumentOutOfRangeException(name, start, $"The start must be from 0 to {length}, the length.");

    [DoesNotReturn]
    internal static void ThrowCount(long count, long rest, string name = "length") => throw Count(count, rest, name);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static ArgumentOutOfRangeException Count(long count, long rest, string name) =>
        new ArgumentOutOfRangeException(name, count, $"The length must be from 0 to {rest}, the number of elements after the start.");

    [DoesNotReturn]
    internal static void ThrowStillHeld(long holders) => throw StillHeld(holders);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static InvalidOperationException StillHeld(long holders) =>
        new InvalidOperationException(
            $"The memory is held {holders} time{(holders == 1 ? "" : "s")}. Release it or end its leases before freeing it.");

    [DoesNotReturn]
    internal static void ThrowNotHeld() => throw NotHeld();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static InvalidOperationException NotHeld() =>
        new InvalidOperationException("The memory is not held: all holds were already released. Call Release once for each Acquire.");

    [DoesNotReturn]
    internal static void ThrowHeldTooOften() => throw HeldTooOften();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static InvalidOperationException HeldTooOften() =>
        new InvalidOperationException("The memory is already held 2147483647 times, the maximum. Look for an Acquire without its Release.");

    [DoesNotReturn]
    internal static void ThrowLeaseEnded() => throw LeaseEnded();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static ObjectDisposedException LeaseEnded() => new ObjectDisposedException("lease", "The lease has ended. Use it before it is disposed of, or take a new one.");

    [DoesNotReturn]
    internal static void ThrowTooLong(long count, long room, string name) => throw TooLong(count, room, name);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static ArgumentException TooLong(long count, long room, string name) =>
        new ArgumentException($"{count} elements do not fit: there is room for {room}. Copy fewer elements, or use a larger destination.", name);

    [DoesNotReturn]
    internal static void ThrowUnlikeLengths(long left, long right, string name) => throw UnlikeLengths(left, right, name);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static ArgumentException UnlikeLengths(long left, long right, string name) =>
        new ArgumentException($"The right operand must have as many elements as the buffer: it has {right}, the buffer has {left}.", name);

    [DoesNotReturn]
    internal static void ThrowPastSpan(long length) => throw PastSpan(length);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static InvalidOperationException PastSpan(long length) =>
        new InvalidOperationException(
            $"The buffer has {length} elements, but a span has at most {int.MaxValue}. Take spans of parts of it.");

    [DoesNotReturn]
    internal static void ThrowNoVector(Type type) => throw NoVector(type);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static NotSupportedException NoVector(Type type) =>
        new NotSupportedException(
            $"{type.Name} cannot be an element of a vector. Vectors support sbyte, byte, short, ushort, int, uint, long, ulong, "
            + "nint, nuint, float and double. Process the elements in a loop, or copy them into a buffer of one of these "
            + "types.");

    [DoesNotReturn]
    internal static void ThrowVectorLength(long length, int count) => throw VectorLength(length, count);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static InvalidOperationException VectorLength(long length, int count) =>
        new InvalidOperationException($"The buffer has {length} elements, but a vector has {count}. Use a buffer of that length, or take spans of vectors.");

    [DoesNotReturn]
    internal static void ThrowTooLarge(long count, long elementBytes) => throw TooLarge(count, elementBytes);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static OutOfMemoryException TooLarge(long count, long elementBytes) =>
        new OutOfMemoryException($"{count} elements of {elementBytes} bytes exceed the address space. Nothing has changed. Use fewer elements.");

    [DoesNotReturn]
    internal static void ThrowTableMissing() => throw TableMissing();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static TenureLoadException TableMissing() =>
        new TenureLoadException(
            "Tenure's native library has no handle table: it could not reserve address space for it. Raise the limit on "
            + "address space (ulimit -v).");

    [DoesNotReturn]
    internal static void ThrowRefused(int status, nint bytes, string? file, int systemError = 0) =>
        throw Refused(status, bytes, file, systemError);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static Exception Refused(int status, nint bytes, string? file, int systemError)
    {
        string reason = systemError == 0 ? "" : $" The system reported: {Marshal.GetPInvokeErrorMessage(systemError)}.";
        return status switch
        {
            NativeMethods.FileError => new IOException(
                $"Cannot open, extend or map the file {file} with {bytes} bytes.{reason} Check the path, its permissions and the free space."),
            NativeMethods.InvalidArgument => new ArgumentException("The size or the alignment is out of range. The alignment must be a power of two."),
            _ => new OutOfMemoryException(
                $"Out of memory: {bytes} bytes were requested{(file is null ? "" : " for " + file)}. Nothing has changed.{reason} "
                + (file is null
                    ? "Free memory, or raise the memory limit of the process."
                    : "Raise the limit on address space (ulimit -v).")),
        };
    }
}
