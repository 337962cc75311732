// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tenure;

/// <summary>A separate heap: memory of any size, for any time, on any thread, that can be freed as a whole.</summary>
/// <remarks>
/// <para><b>Use it for</b> a subsystem that you measure, limit or free as a whole. <b>Not for</b> general use: see
/// <see cref="Native"/> for the process heap, which needs no native call; scratch memory: see <see cref="TempScope"/>;
/// one type in bulk: see <see cref="Pool{T}"/>; memory that is freed together: see <see cref="Arena"/>.</para>
/// <para><b>Memory from</b> pages of the system, in segments of 32 MiB of address space. <b>Cost</b> one native call;
/// O(1) up to 32 KiB, above that O(1) under a lock. <b>Overhead</b> no header; sizes are rounded up by an eighth on
/// average.</para>
/// <para><b>Threads</b> any; but no other thread may use the heap during <see cref="Clear"/> and <see cref="Dispose"/>.
/// <b>When full</b> <c>Try…</c> methods return null and the others throw <see cref="OutOfMemoryException"/>; both leave
/// everything unchanged.</para>
/// <para>The heap frees its blocks, even when the garbage collector finalizes a heap that was not disposed. Keep the
/// heap reachable while its blocks are used.</para>
/// </remarks>
public sealed unsafe class NativeHeap : IDisposable
{
    private readonly OwnerHandle _owner;
    private void* _heap; // null after Dispose

    /// <summary>Initializes a heap with default options.</summary>
    /// <exception cref="OutOfMemoryException">There is not enough memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public NativeHeap()
        : this(new NativeHeapOptions())
    {
    }

    /// <summary>Initializes a heap with the given options.</summary>
    /// <param name="options">The options.</param>
    /// <exception cref="ArgumentOutOfRangeException">The purge delay is negative, or the limit is zero.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public NativeHeap(NativeHeapOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        ArgumentOutOfRangeException.ThrowIfLessThan(options.PurgeDelay, TimeSpan.Zero);
        if (options.LimitBytes is 0)
        {
            Throw.OutOfRange(nameof(options), options.LimitBytes, "The limit must be at least one byte. Use null for no limit.");
        }
        NativeLibraryCheck.Ensure();
        Name = options.Name ?? "";
        using var name = new Utf8Text(Name, stackalloc byte[Utf8Text.StackBytes]);
        fixed (byte* text = name.Bytes)
        {
            // In these settings, zero selects the default and the largest number means none.
            ulong purgeDelayNanoseconds = (ulong)options.PurgeDelay.Ticks * 100;
            var settings = new NativeHeapSettings
            {
                Name = new NativeUtf8 { Data = text, Length = (ulong)name.Bytes.Length },
                LimitBytes = options.LimitBytes ?? 0,
                PurgeDelayNanoseconds = purgeDelayNanoseconds == 0 ? ulong.MaxValue : purgeDelayNanoseconds,
                MaxRetainedBytes = options.MaxRetainedBytes == 0 ? ulong.MaxValue : options.MaxRetainedBytes,
            };
            _heap = NativeMethods.tn_heap_create(&settings);
        }
        if (_heap == null)
        {
            Throw.NotCreated($"the heap \"{Name}\"");
        }
        _owner = new OwnerHandle(_heap, &NativeMethods.tn_heap_destroy, $"The heap \"{Name}\"");
    }

    /// <summary>Gets the heap's name in reports.</summary>
    public string Name { get; }

    /// <summary>Allocates uninitialized memory.</summary>
    /// <param name="bytes">The size in bytes; zero counts as one.</param>
    /// <param name="alignment">The alignment in bytes, a power of two.</param>
    /// <returns>Memory valid until it is deallocated, or the heap is cleared or disposed.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The alignment is not a power of two.</exception>
    /// <exception cref="OutOfMemoryException">The system or the heap's limit has no memory left; nothing has
    /// changed.</exception>
    /// <exception cref="ObjectDisposedException">The heap is disposed.</exception>
    public void* Allocate(nuint bytes, nuint alignment = Native.DefaultAlignment)
    {
        void* block = TryAllocate(bytes, alignment);
        if (block == null)
        {
            Throw.Refused(bytes, $"The heap \"{Name}\"");
        }
        return block;
    }

    /// <summary>Allocates as <see cref="Allocate"/> does, but returns null instead of throwing when out of
    /// memory.</summary>
    /// <param name="bytes">The size in bytes; zero counts as one.</param>
    /// <param name="alignment">The alignment in bytes, a power of two.</param>
    /// <returns>The memory; null when out of memory, which changes nothing.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The alignment is not a power of two.</exception>
    /// <exception cref="ObjectDisposedException">The heap is disposed.</exception>
    public void* TryAllocate(nuint bytes, nuint alignment = Native.DefaultAlignment)
    {
        Throw.UnlessPowerOfTwo(alignment);
        void* block = NativeMethods.tn_heap_allocate(Heap, bytes, alignment);
        GC.KeepAlive(this);
        return block;
    }

    /// <summary>Allocates zeroed memory. Memory that the system provides already zeroed is not written again.</summary>
    /// <param name="bytes">The size in bytes; zero counts as one.</param>
    /// <param name="alignment">The alignment in bytes, a power of two.</param>
    /// <returns>The memory, valid as that of <see cref="Allocate"/>.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The alignment is not a power of two.</exception>
    /// <exception cref="OutOfMemoryException">The system or the heap's limit has no memory left; nothing has
    /// changed.</exception>
    /// <exception cref="ObjectDisposedException">The heap is disposed.</exception>
    public void* AllocateZeroed(nuint bytes, nuint alignment = Native.DefaultAlignment)
    {
        Throw.UnlessPowerOfTwo(alignment);
        void* block = NativeMethods.tn_heap_allocate_zeroed(Heap, bytes, alignment);
        GC.KeepAlive(this);
        if (block == null)
        {
            Throw.Refused(bytes, $"The heap \"{Name}\"");
        }
        return block;
    }

    /// <summary>Allocates uninitialized elements.</summary>
    /// <typeparam name="T">The element type. Alignments of up to 16 bytes are met.</typeparam>
    /// <param name="count">The number of elements.</param>
    /// <returns>The elements; the span does not own them.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The count is negative.</exception>
    /// <exception cref="OutOfMemoryException">The system or the heap's limit has no memory left; nothing has
    /// changed.</exception>
    /// <exception cref="ObjectDisposedException">The heap is disposed.</exception>
    public Span<T> AllocateSpan<T>(int count)
        where T : unmanaged
    {
        Throw.IfNegative(count);
        return new Span<T>(Allocate((nuint)(uint)count * (nuint)sizeof(T)), count);
    }

    /// <summary>Resizes a block, in place if possible. Contents are kept up to the smaller size.</summary>
    /// <param name="block">A block of this heap that is not deallocated; null allocates a new block.</param>
    /// <param name="bytes">The new size in bytes; zero counts as one.</param>
    /// <param name="alignment">The alignment in bytes, a power of two.</param>
    /// <returns>The block's new address.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The alignment is not a power of two.</exception>
    /// <exception cref="OutOfMemoryException">The system or the heap's limit has no memory left; the block is
    /// unchanged.</exception>
    /// <exception cref="ObjectDisposedException">The heap is disposed.</exception>
    public void* Reallocate(void* block, nuint bytes, nuint alignment = Native.DefaultAlignment)
    {
        Throw.UnlessPowerOfTwo(alignment);
        void* moved = NativeMethods.tn_heap_reallocate(Heap, block, bytes, alignment);
        GC.KeepAlive(this);
        if (moved == null)
        {
            Throw.Refused(bytes, $"The heap \"{Name}\"");
        }
        return moved;
    }

    /// <summary>Frees a block. Null is allowed and does nothing.</summary>
    /// <param name="block">A block of this heap, not deallocated since.</param>
    /// <exception cref="ObjectDisposedException">The heap is disposed.</exception>
    public void Deallocate(void* block)
    {
        NativeMethods.tn_heap_deallocate(Heap, block);
        GC.KeepAlive(this);
    }

    /// <summary>Frees elements. A default span is allowed and does nothing.</summary>
    /// <typeparam name="T">The element type.</typeparam>
    /// <param name="elements">The elements as they were allocated, starting at the first one.</param>
    /// <exception cref="ObjectDisposedException">The heap is disposed.</exception>
    public void Deallocate<T>(Span<T> elements)
        where T : unmanaged => Deallocate(Unsafe.AsPointer(ref MemoryMarshal.GetReference(elements)));

    /// <summary>Gets the number of usable bytes in a block.</summary>
    /// <param name="block">A block of this heap that is not deallocated; or null.</param>
    /// <returns>The requested size or more; zero for null.</returns>
    /// <exception cref="ObjectDisposedException">The heap is disposed.</exception>
    public nuint UsableSize(void* block)
    {
        nuint bytes = NativeMethods.tn_heap_usable_size(Heap, block);
        GC.KeepAlive(this);
        return bytes;
    }

    /// <summary>Determines whether an address is inside memory of this heap. Any address is allowed.</summary>
    /// <param name="address">The address.</param>
    /// <returns><c>true</c> if it is; otherwise <c>false</c>.</returns>
    /// <exception cref="ObjectDisposedException">The heap is disposed.</exception>
    public bool Owns(void* address)
    {
        bool owns = NativeMethods.tn_heap_owns(Heap, address) != 0;
        GC.KeepAlive(this);
        return owns;
    }

    /// <summary>Frees every block. The memory is retained as after any free.</summary>
    /// <remarks>Cost: O(pages + large blocks). No other thread may use the heap during the call.</remarks>
    /// <exception cref="ObjectDisposedException">The heap is disposed.</exception>
    public void Clear()
    {
        NativeMethods.tn_heap_clear(Heap);
        GC.KeepAlive(this);
    }

    /// <summary>Returns free pages to the system. Cost: O(pages).</summary>
    /// <returns>The number of bytes returned.</returns>
    /// <exception cref="ObjectDisposedException">The heap is disposed.</exception>
    public nuint Trim()
    {
        nuint bytes = NativeMethods.tn_heap_trim(Heap);
        GC.KeepAlive(this);
        return bytes;
    }

    /// <summary>Gets the current statistics. Cost: O(threads x sizes), with locks.</summary>
    /// <exception cref="ObjectDisposedException">The heap is disposed.</exception>
    public AllocatorStats Stats
    {
        get
        {
            var seen = new NativeAllocatorStats();
            NativeMethods.tn_heap_get_stats(Heap, &seen);
            GC.KeepAlive(this);
            return AllocatorStats.From(seen);
        }
    }

    /// <summary>Returns all memory to the system, including blocks still allocated. A second call does nothing. No
    /// other thread may use the heap during or after the call.</summary>
    public void Dispose()
    {
        _heap = null;
        _owner.Dispose();
    }

    private void* Heap
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            void* heap = _heap;
            if (heap == null)
            {
                Throw.Disposed(nameof(NativeHeap));
            }
            return heap;
        }
    }
}
