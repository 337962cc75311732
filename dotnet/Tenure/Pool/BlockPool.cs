// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>Equal blocks, taken and given back in any order.</summary>
/// <remarks>
/// <para><b>Use it for</b> many blocks of one size that come and go: nodes, messages, entities.
/// <b>Not for</b> mixed sizes, nor a handful of blocks; objects of one type: <see cref="Pool{T}"/>.</para>
/// <para><b>Memory from</b> pages of the system, in segments of 32 MiB of addresses, touched as they are used.
/// <b>Cost</b> a call, and O(1) in it; clear O(segments) and a bit per block.
/// <b>Overhead</b> none in or beside a block; one bit per block and 1/64 of that again, apart from the blocks.</para>
/// <para><b>Threads</b> one at a time: see <see cref="SharedBlockPool"/> for the other case.
/// <b>When full</b> <see cref="TryAllocate"/> returns null, <see cref="Allocate"/> throws; nothing has changed
/// then.</para>
/// <para>Its blocks go with it, also when the garbage collector takes a pool that nobody disposed: keep it reachable as
/// long as they are used.</para>
/// </remarks>
public sealed unsafe class BlockPool : IDisposable
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
    public BlockPool(nuint blockBytes, nuint alignment = Native.DefaultAlignment)
        : this(blockBytes, alignment, $"A pool of blocks of {blockBytes} bytes")
    {
    }

    internal BlockPool(nuint blockBytes, nuint alignment, string what)
    {
        if (blockBytes is 0 or > MaxBlockBytes)
        {
            Throw.OutOfRange(nameof(blockBytes), blockBytes, "A block has from 1 byte to 256 MiB.");
        }
        Throw.UnlessPowerOfTwo(alignment);
        NativeLibraryCheck.Ensure();
        _pool = NativeMethods.tn_pool_create(blockBytes, alignment, null);
        if (_pool == null)
        {
            Throw.Refused(blockBytes, "the system, for a pool");
        }
        BlockBytes = blockBytes;
        _what = what;
        _owner = new OwnerHandle(_pool, &NativeMethods.tn_pool_destroy, what);
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
        void* block = NativeMethods.tn_pool_allocate(Pool);
        GC.KeepAlive(this);
        return block;
    }

    /// <summary>Gives a block back. Null is allowed and does nothing.</summary>
    /// <param name="block">Of this pool, and allocated.</param>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public void Free(void* block)
    {
        NativeMethods.tn_pool_deallocate(Pool, block);
        GC.KeepAlive(this);
    }

    /// <summary>Everything is free; pages are kept.</summary>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public void Clear()
    {
        NativeMethods.tn_pool_clear(Pool);
        GC.KeepAlive(this);
    }

    /// <summary>Gives back empty segments, and the empty pages of others. Cost a bit per block.</summary>
    /// <returns>The bytes given back: whole segments, touched or not, and pages.</returns>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public nuint Trim()
    {
        nuint bytes = NativeMethods.tn_pool_trim(Pool);
        GC.KeepAlive(this);
        return bytes;
    }

    /// <summary>Blocks allocated now. Cost O(1).</summary>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public long Count
    {
        get
        {
            nuint count = NativeMethods.tn_pool_size(Pool);
            GC.KeepAlive(this);
            return (long)count;
        }
    }

    /// <summary>Its figures of now. Cost O(segments).</summary>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public AllocatorStats Stats
    {
        get
        {
            var seen = new NativeAllocatorStats();
            NativeMethods.tn_pool_get_stats(Pool, &seen);
            GC.KeepAlive(this);
            return AllocatorStats.From(seen);
        }
    }

    /// <summary>Gives every segment back, whatever is still allocated. A second time does nothing.</summary>
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
