// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>Equal blocks, taken by any thread and given back by any thread, in any order.</summary>
/// <remarks>
/// <para><b>Use it for</b> blocks of one size that threads hand to each other: messages, jobs, nodes of shared
/// structures. <b>Not for</b> blocks that stay with one thread: <see cref="BlockPool"/>.</para>
/// <para><b>Memory from</b> pages of the system, in segments of 32 MiB of addresses, touched as they are used.
/// <b>Cost</b> a call, and O(1) in the thread's cache; a lock for every 128th call of a kind, oftener for blocks past
/// 512 bytes. <b>Overhead</b> one bit per block; per thread that uses the pool 4 KiB and a cache of free blocks: 256, or
/// 128 KiB of them, or one.</para>
/// <para><b>Threads</b> any, also the free of a block whose allocating thread has ended; not during
/// <see cref="Clear"/>, <see cref="Trim"/> and <see cref="Dispose"/>. <b>When full</b> <see cref="TryAllocate"/> returns
/// null, <see cref="Allocate"/> throws; nothing has changed then.</para>
/// <para>Its blocks go with it, also when the garbage collector takes a pool that nobody disposed: keep it reachable as
/// long as they are used.</para>
/// </remarks>
public sealed unsafe class SharedBlockPool : IDisposable
{
    /// <summary>The largest block, in bytes.</summary>
    public const int MaxBlockBytes = 256 << 20;

    private readonly OwnerHandle _owner;
    private readonly string _what;
    private void* _pool; // null once disposed

    /// <summary>A pool that takes nothing from the system until the first block.</summary>
    /// <param name="blockBytes">Of each block: 1 to <see cref="MaxBlockBytes"/>.</param>
    /// <param name="alignment">A power of two, in bytes.</param>
    /// <exception cref="ArgumentOutOfRangeException">The size or the alignment is out of its range.</exception>
    /// <exception cref="OutOfMemoryException">The system refuses.</exception>
    /// <exception cref="TenureLoadException">There is no native library, or another version's.</exception>
    public SharedBlockPool(nuint blockBytes, nuint alignment = Native.DefaultAlignment)
        : this(blockBytes, alignment, $"A shared pool of blocks of {blockBytes} bytes")
    {
    }

    internal SharedBlockPool(nuint blockBytes, nuint alignment, string what)
    {
        if (blockBytes is 0 or > MaxBlockBytes)
        {
            Throw.OutOfRange(nameof(blockBytes), blockBytes, "A block has from 1 byte to 256 MiB.");
        }
        Throw.UnlessPowerOfTwo(alignment);
        NativeLibraryCheck.Ensure();
        _pool = NativeMethods.tn_shared_pool_create(blockBytes, alignment, null);
        if (_pool == null)
        {
            Throw.Refused(blockBytes, "the system, for a pool");
        }
        BlockBytes = blockBytes;
        _what = what;
        _owner = new OwnerHandle(_pool, &NativeMethods.tn_shared_pool_destroy, what);
    }

    /// <summary>Bytes of each block, as they were asked for.</summary>
    public nuint BlockBytes { get; }

    /// <summary>Takes a block, not initialised.</summary>
    /// <returns>Memory valid until it is given back, or the pool is cleared or disposed.</returns>
    /// <exception cref="OutOfMemoryException">The system refuses; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public void* Allocate()
    {
        void* block = TryAllocate();
        if (block == null)
        {
            Throw.Refused(BlockBytes, _what);
        }
        return block;
    }

    /// <summary>As <see cref="Allocate"/>, without an exception when it is refused.</summary>
    /// <returns>Null when refused, and then nothing has changed.</returns>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public void* TryAllocate()
    {
        void* block = NativeMethods.tn_shared_pool_allocate(Pool);
        GC.KeepAlive(this);
        return block;
    }

    /// <summary>Gives a block back. Null is allowed and does nothing.</summary>
    /// <param name="block">Of this pool, and allocated.</param>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public void Free(void* block)
    {
        NativeMethods.tn_shared_pool_deallocate(Pool, block);
        GC.KeepAlive(this);
    }

    /// <summary>Everything is free; pages are kept. No other thread uses the pool meanwhile.</summary>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public void Clear()
    {
        NativeMethods.tn_shared_pool_clear(Pool);
        GC.KeepAlive(this);
    }

    /// <summary>Gives back empty segments, and the empty pages of others. No other thread uses the pool meanwhile. Cost
    /// a bit per block.</summary>
    /// <returns>The bytes given back: whole segments, touched or not, and pages.</returns>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public nuint Trim()
    {
        nuint bytes = NativeMethods.tn_shared_pool_trim(Pool);
        GC.KeepAlive(this);
        return bytes;
    }

    /// <summary>Blocks allocated now. Cost O(threads), with a lock; while other threads go on, as of some moment during
    /// the call.</summary>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public long Count
    {
        get
        {
            nuint count = NativeMethods.tn_shared_pool_size(Pool);
            GC.KeepAlive(this);
            return (long)count;
        }
    }

    /// <summary>Its figures of now. Cost O(segments), with a lock.</summary>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public AllocatorStats Stats
    {
        get
        {
            var seen = new NativeAllocatorStats();
            NativeMethods.tn_shared_pool_get_stats(Pool, &seen);
            GC.KeepAlive(this);
            return AllocatorStats.From(seen);
        }
    }

    /// <summary>Gives every segment back, whatever is still allocated. A second time does nothing. No other thread uses
    /// the pool any more.</summary>
    public void Dispose()
    {
        _pool = null;
        _owner.Dispose();
    }

    private void* Pool
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            void* pool = _pool;
            if (pool == null)
            {
                Throw.Disposed(_what);
            }
            return pool;
        }
    }
}
