// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Tenure;

/// <summary>A pool of native memory for what takes <see cref="MemoryPool{T}"/>: what is given back is rented
/// again.</summary>
/// <remarks>
/// <para>Sizes are powers of two. What was given back is kept up to a limit of bytes; what is more is freed.</para>
/// <para>Cost: one small object per rental, and a lock per size. After a rental was given back, its
/// <see cref="Memory{T}"/>
/// throws <see cref="ObjectDisposedException"/>, also when the memory is somebody else's by then. One that is pinned
/// cannot be given back. Threads: any.</para>
/// </remarks>
/// <typeparam name="T">Any unmanaged structure.</typeparam>
public sealed class NativeMemoryPool<T> : MemoryPool<T>
    where T : unmanaged
{
    /// <summary>Bytes that are kept when nothing is said: 64 MiB.</summary>
    public const long DefaultKeptBytes = 64L << 20;

    private const int DefaultBytes = 4096;
    private const int LeastLog = 4;

    private readonly BufferOptions _options;
    private readonly long _maxKeptBytes;
    private readonly Kept[] _kept = new Kept[31 - LeastLog];
    private long _keptBytes;
    private volatile bool _disposed;

    /// <summary>A pool of its own.</summary>
    /// <param name="keptBytes">So many bytes are kept for the next rental.</param>
    /// <param name="options">The alignment; and whether each rental is zeroed (by default), or as the last one left
    /// it.</param>
    /// <exception cref="ArgumentOutOfRangeException">The number of bytes is negative.</exception>
    /// <exception cref="ArgumentException">The alignment is no power of two.</exception>
    public NativeMemoryPool(long keptBytes = DefaultKeptBytes, BufferOptions options = default)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(keptBytes);
        options.Check(nameof(options));
        _maxKeptBytes = keptBytes;
        _options = options;
        for (int i = 0; i < _kept.Length; i++)
        {
            _kept[i] = new Kept();
        }
    }

    /// <summary>The process's own pool, whose memory is as its last user left it. Disposing of it does
    /// nothing.</summary>
    [SuppressMessage("Design", "CA1000", Justification = "As MemoryPool<T> has it.")]
    public static new NativeMemoryPool<T> Shared { get; } = new(options: new BufferOptions { Fill = AllocationFill.Unwritten });

    /// <summary>2^30 elements.</summary>
    public override int MaxBufferSize => 1 << 30;

    /// <summary>Bytes that wait for the next rental.</summary>
    public long KeptBytes => Interlocked.Read(ref _keptBytes);

    /// <summary>Takes memory.</summary>
    /// <param name="minBufferSize">At least so many elements; -1 for about 4 KiB of them.</param>
    /// <returns>Dispose of it to give the memory back.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The number is less than -1 or more than
    /// <see cref="MaxBufferSize"/>.</exception>
    /// <exception cref="ObjectDisposedException">The pool was disposed of.</exception>
    /// <exception cref="OutOfMemoryException">The memory was refused.</exception>
    public override IMemoryOwner<T> Rent(int minBufferSize = -1)
    {
        ObjectDisposedException.ThrowIf(_disposed, this);
        if (minBufferSize == -1)
        {
            minBufferSize = int.Max(1, DefaultBytes / Unsafe.SizeOf<T>());
        }
        if ((uint)minBufferSize > (uint)MaxBufferSize)
        {
            throw new ArgumentOutOfRangeException(nameof(minBufferSize), minBufferSize, $"From -1 to {MaxBufferSize} elements.");
        }
        int log = int.Max(LeastLog, minBufferSize <= 1 ? 0 : BitOperations.Log2((uint)minBufferSize - 1) + 1);
        SafeArray<T>? array = _kept[log - LeastLog].Take();
        if (array is null)
        {
            array = new SafeArray<T>(1 << log, _options);
        }
        else
        {
            Interlocked.Add(ref _keptBytes, -array.Size);
            if (_options.Fill == AllocationFill.Zero)
            {
                array.Clear();
            }
        }
        return new Rental(this, array, log - LeastLog);
    }

    /// <summary>Frees what is kept, now. What is rented stays, and is kept again when it is given back.</summary>
    /// <returns>The bytes.</returns>
    public long Trim()
    {
        long bytes = 0;
        foreach (Kept kept in _kept)
        {
            while (kept.Take() is SafeArray<T> array)
            {
                bytes += array.Size;
                Interlocked.Add(ref _keptBytes, -array.Size);
                array.Dispose();
            }
        }
        return bytes;
    }

    /// <inheritdoc/>
    protected override void Dispose(bool disposing)
    {
        if (disposing && this != Shared)
        {
            _disposed = true;
            Trim();
        }
    }

    private void Return(SafeArray<T> array, int size)
    {
        bool room = Interlocked.Add(ref _keptBytes, array.Size) <= _maxKeptBytes;
        if (room && !_disposed)
        {
            _kept[size].Put(array);
            if (_disposed)
            {
                Trim();
            }
            return;
        }
        Interlocked.Add(ref _keptBytes, -array.Size);
        array.Dispose();
    }

    /// <summary>What is kept of one size; the last one given back is the first one rented, its pages being
    /// warm.</summary>
    private sealed class Kept
    {
        private readonly object _lock = new();
        private SafeArray<T>?[] _arrays = new SafeArray<T>?[8];
        private int _count;

        internal SafeArray<T>? Take()
        {
            lock (_lock)
            {
                if (_count == 0)
                {
                    return null;
                }
                SafeArray<T>? last = _arrays[--_count];
                _arrays[_count] = null;
                return last;
            }
        }

        internal void Put(SafeArray<T> array)
        {
            lock (_lock)
            {
                if (_count == _arrays.Length)
                {
                    Array.Resize(ref _arrays, 2 * _count);
                }
                _arrays[_count++] = array;
            }
        }
    }

    /// <summary>A rental: an object of its own each time, so that memory of an earlier one never shows a later
    /// one's.</summary>
    private sealed unsafe class Rental(NativeMemoryPool<T> pool, SafeArray<T> array, int size) : MemoryManager<T>
    {
        private int _returned;

        public override Memory<T> Memory
        {
            get
            {
                ThrowIfReturned();
                return CreateMemory(array.Length);
            }
        }

        public override Span<T> GetSpan()
        {
            ThrowIfReturned();
            return array.Span;
        }

        public override MemoryHandle Pin(int elementIndex = 0)
        {
            if ((uint)elementIndex > (uint)array.Length)
            {
                BufferErrors.ThrowStart(elementIndex, array.Length, nameof(elementIndex));
            }
            // First the count, then the look: the return sets its mark first and looks at the count then.
            array.Acquire();
            if (Volatile.Read(ref _returned) != 0)
            {
                array.Release();
                ThrowIfReturned();
            }
            return new MemoryHandle(array.View.Pointer + elementIndex, default, this);
        }

        public override void Unpin() => array.Release();

        protected override void Dispose(bool disposing)
        {
            if (!disposing || Interlocked.Exchange(ref _returned, 1) != 0)
            {
                return;
            }
            int holders = array.RefCount;
            if (holders != 0)
            {
                Volatile.Write(ref _returned, 0);
                BufferErrors.ThrowStillHeld(holders);
            }
            pool.Return(array, size);
        }

        private void ThrowIfReturned() => ObjectDisposedException.ThrowIf(Volatile.Read(ref _returned) != 0, typeof(IMemoryOwner<T>));
    }
}
