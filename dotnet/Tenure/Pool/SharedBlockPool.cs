// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>Allocates blocks of one size on any thread; any thread may free them, in any order.</summary>
/// <remarks>
/// <para><b>Use it for</b> blocks of one size that threads pass to each other: messages, jobs, nodes of shared
/// structures. <b>Not for</b> blocks that stay on one thread: see <see cref="BlockPool"/>.</para>
/// <para><b>Memory from</b> pages of the system, in segments of 32 MiB of address space, touched as they are used.
/// <b>Cost</b> one native call, O(1) in the thread's cache; a lock on every 128th call of a kind, more often for blocks
/// larger than 512 bytes. <b>Overhead</b> one bit per block; for each thread that uses the pool, 4 KiB and a cache of
/// free blocks: 256 blocks or 128 KiB, whichever is less, but at least one block.</para>
/// <para><b>Threads</b> any; a block may be freed after its allocating thread has ended. No other thread may use the
/// pool during <see cref="Clear"/>, <see cref="Trim"/> and <see cref="Dispose"/>. <b>When full</b>
/// <see cref="TryAllocate"/> returns null and <see cref="Allocate"/> throws; both leave everything unchanged.</para>
/// <para>The pool frees its blocks, even when the garbage collector finalizes a pool that was not disposed. Keep the
/// pool reachable while its blocks are used.</para>
/// </remarks>
public sealed unsafe class SharedBlockPool : IDisposable
{
    /// <summary>The maximum block size, in bytes.</summary>
    public const int MaxBlockBytes = 256 << 20;

    private readonly OwnerHandle _owner;
    private readonly string _what;
    private void* _pool; // null after Dispose

    /// <summary>Initializes a pool. It acquires no memory until the first allocation.</summary>
    /// <param name="blockBytes">The size of each block in bytes: 1 to <see cref="MaxBlockBytes"/>.</param>
    /// <param name="alignment">The alignment in bytes, a power of two.</param>
    /// <exception cref="ArgumentOutOfRangeException">The size or the alignment is out of range.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public SharedBlockPool(nuint blockBytes, nuint alignment = Native.DefaultAlignment)
        : this(blockBytes, alignment, $"A shared pool of blocks of {blockBytes} bytes")
    {
    }

    internal SharedBlockPool(nuint blockBytes, nuint alignment, string what)
    {
        if (blockBytes is 0 or > MaxBlockBytes)
        {
            Throw.OutOfRange(nameof(blockBytes), blockBytes, "The block size must be from 1 byte to 256 MiB.");
        }
        Throw.UnlessPowerOfTwo(alignment);
        NativeLibraryCheck.Ensure();
        _pool = NativeMethods.tn_shared_pool_create(blockBytes, alignment, null);
        if (_pool == null)
        {
            Throw.NotCreated($"a pool of blocks of {blockBytes} bytes");
        }
        BlockBytes = blockBytes;
        _what = what;
        _owner = new OwnerHandle(_pool, &NativeMethods.tn_shared_pool_destroy, what);
    }

    /// <summary>Gets the requested size of each block, in bytes.</summary>
    public nuint BlockBytes { get; }

    /// <summary>Allocates an uninitialized block.</summary>
    /// <returns>Memory valid until it is freed, or the pool is cleared or disposed.</returns>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
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

    /// <summary>Allocates as <see cref="Allocate"/> does, but returns null instead of throwing when out of
    /// memory.</summary>
    /// <returns>The memory; null when out of memory, which changes nothing.</returns>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public void* TryAllocate()
    {
        void* block = NativeMethods.tn_shared_pool_allocate(Pool);
        GC.KeepAlive(this);
        return block;
    }

    /// <summary>Frees a block. Null is allowed and does nothing.</summary>
    /// <param name="block">An allocated block of this pool.</param>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public void Free(void* block)
    {
        NativeMethods.tn_shared_pool_deallocate(Pool, block);
        GC.KeepAlive(this);
    }

    /// <summary>Frees everything and keeps the pages. No other thread may use the pool during the call.</summary>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public void Clear()
    {
        NativeMethods.tn_shared_pool_clear(Pool);
        GC.KeepAlive(this);
    }

    /// <summary>Returns empty segments, and the empty pages of other segments, to the system. No other thread may use
    /// the pool during the call. Cost: one bit per block.</summary>
    /// <returns>The number of bytes returned: whole segments, touched or not, and pages.</returns>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public nuint Trim()
    {
        nuint bytes = NativeMethods.tn_shared_pool_trim(Pool);
        GC.KeepAlive(this);
        return bytes;
    }

    /// <summary>Gets the number of blocks allocated. Cost: O(threads), with a lock. While other threads run, the count
    /// is taken at some moment during the call.</summary>
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

    /// <summary>Gets the current statistics. Cost: O(segments), with a lock.</summary>
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

    /// <summary>Returns all segments to the system, including memory still allocated. A second call does nothing. No
    /// other thread may use the pool during or after the call.</summary>
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
