// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Buffers;

namespace Tenure;

/// <summary>A growing list of elements in native memory, for code that takes <see cref="IBufferWriter{T}"/>.</summary>
/// <remarks>Grows by doubling and copies the written elements. Growing invalidates spans and memory taken earlier.
/// Dispose of the writer when done. Threads: one at a time.</remarks>
/// <typeparam name="T">The type of the elements: any unmanaged type.</typeparam>
public sealed class NativeBufferWriter<T> : IBufferWriter<T>, IDisposable
    where T : unmanaged
{
    private const int DefaultCapacity = 256;

    private static readonly BufferOptions s_options = new() { Fill = AllocationFill.Unwritten };

    private SafeArray<T> _array;
    private int _count;

    /// <summary>Initializes a new, empty writer.</summary>
    /// <param name="capacity">The number of elements that can be written before the writer grows.</param>
    /// <exception cref="ArgumentOutOfRangeException">The number is negative.</exception>
    /// <exception cref="OutOfMemoryException">Out of memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing or has a different version.</exception>
    public NativeBufferWriter(int capacity = DefaultCapacity)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(capacity);
        _array = new SafeArray<T>(capacity, s_options);
    }

    /// <summary>Gets the number of elements written.</summary>
    public int WrittenCount => _count;

    /// <summary>Gets the total capacity in elements, written and free.</summary>
    public int Capacity => _array.Length;

    /// <summary>Gets the number of elements that can be written before the writer grows.</summary>
    public int FreeCapacity => _array.Length - _count;

    /// <summary>Gets the written elements. Valid until the writer grows.</summary>
    /// <exception cref="ObjectDisposedException">The object was disposed of.</exception>
    public ReadOnlySpan<T> WrittenSpan => _array.Slice(0, _count);

    /// <summary>Gets the written elements. Checked at each use; invalid after the writer grows.</summary>
    /// <exception cref="ObjectDisposedException">The object was disposed of.</exception>
    public ReadOnlyMemory<T> WrittenMemory => _array.Memory[.._count];

    /// <summary>Advances past elements written to the span or memory taken last.</summary>
    /// <param name="count">The number of elements, 0 to <see cref="FreeCapacity"/>.</param>
    /// <exception cref="ArgumentOutOfRangeException">The number is negative or greater than
    /// <see cref="FreeCapacity"/>.</exception>
    /// <exception cref="ObjectDisposedException">The object was disposed of.</exception>
    public void Advance(int count)
    {
        _array.View.ThrowIfStale();
        if ((uint)count > (uint)FreeCapacity)
        {
            throw new ArgumentOutOfRangeException(nameof(count), count, $"The count must be from 0 to {FreeCapacity}, the free capacity.");
        }
        _count += count;
    }

    /// <summary>Gets free space to write to.</summary>
    /// <param name="sizeHint">The minimum number of elements; 0 means at least one.</param>
    /// <returns>All free space. Elements written there count after <see cref="Advance"/>.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The number is negative.</exception>
    /// <exception cref="ObjectDisposedException">The object was disposed of.</exception>
    /// <exception cref="OutOfMemoryException">Out of memory; nothing has changed.</exception>
    public Span<T> GetSpan(int sizeHint = 0)
    {
        Grow(sizeHint);
        return _array.Slice(_count);
    }

    /// <summary>Gets free space to write to.</summary>
    /// <param name="sizeHint">The minimum number of elements; 0 means at least one.</param>
    /// <returns>All free space. Elements written there count after <see cref="Advance"/>.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The number is negative.</exception>
    /// <exception cref="ObjectDisposedException">The object was disposed of.</exception>
    /// <exception cref="OutOfMemoryException">Out of memory; nothing has changed.</exception>
    public Memory<T> GetMemory(int sizeHint = 0)
    {
        Grow(sizeHint);
        return _array.Memory[_count..];
    }

    /// <summary>Discards the written elements and keeps the memory.</summary>
    public void Clear() => _count = 0;

    /// <summary>Frees the memory. A second call does nothing.</summary>
    /// <exception cref="InvalidOperationException">Memory taken from the writer is pinned.</exception>
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
            throw new OutOfMemoryException($"A buffer writer holds at most {int.MaxValue} elements, but {least} were requested. Nothing has changed. Call Clear, or use several writers.");
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
