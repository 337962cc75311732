// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>Blocks of the collections, and the exceptions that the collections share.</summary>
internal static unsafe class CollectionMemory
{
    /// <summary>Resizes a block. The contents are kept up to <paramref name="usedBytes"/>.</summary>
    /// <param name="block">The block; null allocates a new one.</param>
    /// <param name="bytes">The block's size in bytes; zero for null.</param>
    /// <param name="newBytes">The new size in bytes, at least one.</param>
    /// <param name="usedBytes">The number of bytes to keep, at most the smaller size.</param>
    /// <param name="alignment">The alignment in bytes.</param>
    /// <param name="lifetime">The block's lifetime.</param>
    /// <returns>The block's new address.</returns>
    /// <exception cref="OutOfMemoryException">There is not enough memory; the block is unchanged.</exception>
    internal static void* Resize(
        void* block, nuint bytes, nuint newBytes, nuint usedBytes, nuint alignment, Lifetime lifetime)
    {
        if (lifetime == Lifetime.Persistent)
        {
            return Native.Reallocate(block, newBytes, alignment); // in place where possible
        }
        if (lifetime == Lifetime.Temp && Native.TryResizeNewestTemp(block, bytes, newBytes))
        {
            return block;
        }
        void* moved = Native.Allocate(newBytes, lifetime, alignment);
        if (block != null)
        {
            Buffer.MemoryCopy(block, moved, newBytes, usedBytes);
            Free(block, bytes, lifetime);
        }
        return moved;
    }

    /// <summary>Frees a block. Null is allowed and does nothing.</summary>
    internal static void Free(void* block, nuint bytes, Lifetime lifetime)
    {
        if (lifetime == Lifetime.Temp)
        {
            Native.Deallocate(block, bytes, lifetime); // the size frees the newest block immediately
            return;
        }
        Native.Deallocate(block, lifetime);
    }

    /// <summary>Gets the alignment of blocks of elements.</summary>
    internal static nuint AlignmentFor<T>()
        where T : unmanaged => Math.Max(Native.DefaultAlignment, AlignmentOf<T>.Bytes);

    /// <summary>Rejects a lifetime that an object with a Dispose method cannot have.</summary>
    internal static void UnlessHeld(Lifetime lifetime, string instead)
    {
        Throw.UnlessLifetime(lifetime);
        if (lifetime == Lifetime.Temp)
        {
            throw new ArgumentException(
                $"The lifetime is Temp, but the end of a TempScope would free the memory while this object still refers to it. {instead}",
                nameof(lifetime));
        }
    }

    [DoesNotReturn]
    [MethodImpl(MethodImplOptions.NoInlining)]
    internal static void ThrowIndex(long index, long count) =>
        throw new IndexOutOfRangeException($"Index {index} is out of range: the collection has {count} elements.");

    [DoesNotReturn]
    [MethodImpl(MethodImplOptions.NoInlining)]
    internal static void ThrowPosition(string name, long index, long count) =>
        throw new ArgumentOutOfRangeException(name, index, $"The index is out of range: the collection has {count} elements.");

    [DoesNotReturn]
    [MethodImpl(MethodImplOptions.NoInlining)]
    internal static void ThrowTooMany(long count) =>
        throw new OutOfMemoryException(
            $"The list cannot have {count} elements: at most {int.MaxValue} fit into a span. Nothing has changed. Use a NativeChunkedList.");

    [DoesNotReturn]
    [MethodImpl(MethodImplOptions.NoInlining)]
    internal static void ThrowEmpty() =>
        throw new InvalidOperationException("The collection has no element to remove. Check Count first.");

    [DoesNotReturn]
    [MethodImpl(MethodImplOptions.NoInlining)]
    internal static void ThrowNotCreated(string type, string method) =>
        throw new ObjectDisposedException(type, $"This is a default value, not a list of a scope. Create one with TempScope.{method}().");
}
