// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Tenure;

/// <summary>A pool of native memory for code that takes <see cref="MemoryPool{T}"/>. Returned memory is rented
/// again.</summary>
/// <remarks>
/// <para>Sizes are powers of two. The pool retains returned memory up to a limit in bytes and frees the rest.</para>
/// <para>Cost: one small object per rental and a lock per size. After a rental was returned, its
/// <see cref="Memory{T}"/> throws <see cref="ObjectDisposedException"/>, even when the memory was rented again. A
/// pinned rental cannot be returned. Threads: any.</para>
/// </remarks>
/// <typeparam name="T">The type of the elements: any unmanaged type.</typeparam>
public sealed class NativeMemoryPool<T> : MemoryPool<T>
    where T : unmanaged
{
    /// <summary>The default limit for retained memory in bytes: 64 MiB.</summary>
    public const long DefaultRetainedBytes = 64L << 20;

    private const int DefaultBytes = 4096;
    private const int LeastLog = 4;

    private readonly BufferOptions _options;
    private readonly long _maxRetainedBytes;
    private readonly Kept[] _kept = new Kept[31 - LeastLog];
    private long _retainedBytes;
    private volatile bool _disposed;

    /// <summary>Initializes a new pool.</summary>
    /// <param name="retainedBytes">The maximum number of bytes to retain for later rentals.</param>
    /// <param name="options">The alignment, and whether each rental is zeroed (the default) or keeps the contents left
    /// by the previous one.</param>
    /// <exception cref="ArgumentOutOfRangeException">The number of bytes is negative.</exception>
    /// <exception cref="ArgumentException">The alignment is not a power of two, or the lifetime is Temp.</exception>
    public NativeMemoryPool(long retainedBytes = DefaultRetainedBytes, BufferOptions options = default)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(retainedBytes);
        options.Check(nameof(options));
        _maxRetainedBytes = retainedBytes;
        _options = options;
        for (int i = 0; i < _kept.Length; i++)
        {
            _kept[i] = new Kept();
        }
    }

    /// <summary>Gets the pool of the process. Its memory keeps the contents left by the previous user. Disposing of it
    /// does nothing.</summary>
    [SuppressMessage("Design", "CA1000", Justification = "As MemoryPool<T> has it.")]
    public static new NativeMemoryPool<T> Shared { get; } = new(options: new BufferOptions { Fill = AllocationFill.Unwritten });

    /// <summary>Gets the maximum number of elements of a rental: 2^30.</summary>
    public override int MaxBufferSize => 1 << 30;

    /// <summary>Gets the number of bytes retained for later rentals.</summary>
    public long RetainedBytes => Interlocked.Read(ref _retainedBytes);

    /// <summary>Rents memory.</summary>
    /// <param name="minBufferSize">The minimum number of elements; -1 for about 4 KiB of elements.</param>
    /// <returns>The rental. Dispose of it to return the memory.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The number is less than -1 or greater than
    /// <see cref="MaxBufferSize"/>.</exception>
    /// <exception cref="ObjectDisposedException">The pool was disposed of.</exception>
    /// <exception cref="OutOfMemoryException">Out of memory.</exception>
    public override IMemoryOwner<T> Rent(int minBufferSize = -1)
    {
        ObjectDisposedException.ThrowIf(_disposed, this);
        if (minBufferSize == -1)
        {
            minBufferSize = int.Max(1, DefaultBytes / Unsafe.SizeOf<T>());
        }
        if ((uint)minBufferSize > (uint)MaxBufferSize)
        {
            throw new ArgumentOutOfRangeException(nameof(minBufferSize), minBufferSize, $"The size must be from -1 to {MaxBufferSize}.");
        }
        int log = int.Max(LeastLog, minBufferSize <= 1 ? 0 : BitOperations.Log2((uint)minBufferSize - 1) + 1);
        SafeArray<T>? array = _kept[log - LeastLog].Take();
        if (array is null)
        {
            array = new SafeArray<T>(1 << log, _options);
        }
        else
        {
            Interlocked.Add(ref _retainedBytes, -array.Size);
            if (_options.Fill == AllocationFill.Zero)
            {
                array.Clear();
            }
        }
        return new Rental(this, array, log - LeastLog);
    }

    /// <summary>Frees the retained memory now. Rented memory is unaffected and can be retained again when it is
    /// returned.</summary>
    /// <returns>The number of bytes freed.</returns>
    public long Trim()
    {
        long bytes = 0;
        foreach (Kept kept in _kept)
        {
            while (kept.Take() is SafeArray<T> array)
            {
                bytes += array.Size;
                Interlocked.Add(ref _retainedBytes, -array.Size);
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
        bool room = Interlocked.Add(ref _retainedBytes, array.Size) <= _maxRetainedBytes;
        if (room && !_disposed)
        {
            _kept[size].Put(array);
            if (_disposed)
            {
                Trim();
            }
            return;
        }
        Interlocked.Add(ref _retainedBytes, -array.Size);
        array.Dispose();
    }

    /// <summary>The retained arrays of one size. The last one returned is the first one rented, because its pages are
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

    /// <summary>A rental. Each rental is a new object, so that memory of an earlier rental never shows a later one's
    /// data.</summary>
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
            // Acquire first, then check: the return sets its mark first and then checks the hold count.
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
