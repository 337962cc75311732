// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Buffers;

namespace Tenure;

/// <summary>A list of elements in native memory that grows at its end, for what takes
/// <see cref="IBufferWriter{T}"/>.</summary>
/// <remarks>
/// Grows by doubling: what was written is copied, and spans and memory taken before a growth are stale. Dispose of it.
/// Threads: one at a time.
/// </remarks>
/// <typeparam name="T">Any unmanaged structure.</typeparam>
public sealed class NativeBufferWriter<T> : IBufferWriter<T>, IDisposable
    where T : unmanaged
{
    private const int DefaultCapacity = 256;

    private static readonly BufferOptions s_options = new() { Fill = AllocationFill.Unwritten };

    private SafeArray<T> _array;
    private int _count;

    /// <summary>An empty one.</summary>
    /// <param name="capacity">Elements for which there is room before it grows.</param>
    /// <exception cref="ArgumentOutOfRangeException">The number is negative.</exception>
    /// <exception cref="OutOfMemoryException">The memory was refused.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, or is another version's.</exception>
    public NativeBufferWriter(int capacity = DefaultCapacity)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(capacity);
        _array = new SafeArray<T>(capacity, s_options);
    }

    /// <summary>How many elements were written.</summary>
    public int WrittenCount => _count;

    /// <summary>How many elements there is room for, written or not.</summary>
    public int Capacity => _array.Length;

    /// <summary>How many elements may be written before it grows.</summary>
    public int FreeCapacity => _array.Length - _count;

    /// <summary>What was written. Valid until it grows.</summary>
    /// <exception cref="ObjectDisposedException">It was disposed of.</exception>
    public ReadOnlySpan<T> WrittenSpan => _array.Slice(0, _count);

    /// <summary>What was written. Checked at each use; stale when it has grown.</summary>
    /// <exception cref="ObjectDisposedException">It was disposed of.</exception>
    public ReadOnlyMemory<T> WrittenMemory => _array.Memory[.._count];

    /// <summary>So many elements of what was taken last are written.</summary>
    /// <param name="count">From 0 to <see cref="FreeCapacity"/>.</param>
    /// <exception cref="ArgumentOutOfRangeException">The number is negative, or there is no room for so
    /// many.</exception>
    /// <exception cref="ObjectDisposedException">It was disposed of.</exception>
    public void Advance(int count)
    {
        _array.View.ThrowIfStale();
        if ((uint)count > (uint)FreeCapacity)
        {
            throw new ArgumentOutOfRangeException(nameof(count), count, $"There is room for {FreeCapacity} elements.");
        }
        _count += count;
    }

    /// <summary>Room for more.</summary>
    /// <param name="sizeHint">At least so many elements; 0 for at least one.</param>
    /// <returns>All the room there is. What is written there counts after <see cref="Advance"/>.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The number is negative.</exception>
    /// <exception cref="ObjectDisposedException">It was disposed of.</exception>
    /// <exception cref="OutOfMemoryException">The memory was refused; nothing has changed.</exception>
    public Span<T> GetSpan(int sizeHint = 0)
    {
        Grow(sizeHint);
        return _array.Slice(_count);
    }

    /// <summary>Room for more.</summary>
    /// <param name="sizeHint">At least so many elements; 0 for at least one.</param>
    /// <returns>All the room there is. What is written there counts after <see cref="Advance"/>.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The number is negative.</exception>
    /// <exception cref="ObjectDisposedException">It was disposed of.</exception>
    /// <exception cref="OutOfMemoryException">The memory was refused; nothing has changed.</exception>
    public Memory<T> GetMemory(int sizeHint = 0)
    {
        Grow(sizeHint);
        return _array.Memory[_count..];
    }

    /// <summary>Nothing is written any more; the memory is kept.</summary>
    public void Clear() => _count = 0;

    /// <summary>Gives the memory back. A second time does nothing.</summary>
    /// <exception cref="InvalidOperationException">Memory taken from it is pinned.</exception>
    public void Dispose() => _array.Dispose();

    private void Grow(int sizeHint)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(sizeHint);
        _array.View.ThrowIfStale();
        int wanted = int.Max(sizeHint, 1);
        if (wanted <= FreeCapacity)
        {
            return;
        }
        long least = (long)_count + wanted;
        if (least > int.MaxValue)
        {
            throw new OutOfMemoryException($"{least} elements are more than a buffer writer has; nothing has changed.");
        }
        int capacity = (int)long.Min(int.MaxValue, long.Max(least, long.Max(DefaultCapacity, 2L * _array.Length)));
        if (_array.IsRetained)
        {
            BufferErrors.ThrowStillHeld(_array.RefCount);
        }
        var larger = new SafeArray<T>(capacity, s_options);
        _array.Slice(0, _count).CopyTo(larger.Span);
        SafeArray<T> old = _array;
        _array = larger;
        old.Dispose();
    }
}
