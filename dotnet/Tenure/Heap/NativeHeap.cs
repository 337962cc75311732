// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tenure;

/// <summary>A heap of its own: memory of any size, held for any time, from any thread, that is dropped as a
/// whole.</summary>
/// <remarks>
/// <para><b>Use it for</b> a subsystem that is to be measured, limited or dropped as a whole.
/// <b>Not for</b> what the process heap serves as well: <see cref="Native"/>, without a call; scratch memory:
/// <see cref="TempScope"/>; one type in bulk: <see cref="Pool{T}"/>; what dies together: <see cref="Arena"/>.</para>
/// <para><b>Memory from</b> pages of the system, in segments of 32 MiB of addresses. <b>Cost</b> a call, and O(1) in it
/// up to 32 KiB; above, O(1) under a lock. <b>Overhead</b> no header; sizes are rounded up by an eighth on
/// average.</para>
/// <para><b>Threads</b> any, for everything but <see cref="Clear"/> and <see cref="Dispose"/>, during which no other
/// may use the heap. <b>When full</b> <c>Try…</c> returns null, the others throw <see cref="OutOfMemoryException"/>;
/// nothing has changed then.</para>
/// <para>Its blocks go with it, also when the garbage collector takes a heap that nobody disposed: keep it reachable as
/// long as they are used.</para>
/// </remarks>
public sealed unsafe class NativeHeap : IDisposable
{
    private readonly OwnerHandle _owner;
    private void* _heap; // null once disposed

    /// <summary>A heap with the usual options.</summary>
    /// <exception cref="OutOfMemoryException">The system refuses.</exception>
    /// <exception cref="TenureLoadException">There is no native library, or another version's.</exception>
    public NativeHeap()
        : this(new NativeHeapOptions())
    {
    }

    /// <summary>A heap as the options say.</summary>
    /// <param name="options">How it is to be.</param>
    /// <exception cref="ArgumentOutOfRangeException">The keeping time is negative, or the limit is zero.</exception>
    /// <exception cref="OutOfMemoryException">The system refuses.</exception>
    /// <exception cref="TenureLoadException">There is no native library, or another version's.</exception>
    public NativeHeap(NativeHeapOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        ArgumentOutOfRangeException.ThrowIfLessThan(options.PurgeDelay, TimeSpan.Zero);
        if (options.LimitBytes is 0)
        {
            Throw.OutOfRange(nameof(options), options.LimitBytes, "A limit is at least one byte; null is none.");
        }
        NativeLibraryCheck.Ensure();
        Name = options.Name ?? "";
        using var name = new Utf8Text(Name, stackalloc byte[Utf8Text.StackBytes]);
        fixed (byte* text = name.Bytes)
        {
            // Zero stands for the default there, and the largest number for none.
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
            Throw.Refused(0, "the system, for a heap");
        }
        _owner = new OwnerHandle(_heap, &NativeMethods.tn_heap_destroy, $"The heap \"{Name}\"");
    }

    /// <summary>What it is called in reports.</summary>
    public string Name { get; }

    /// <summary>Allocates memory, not initialised.</summary>
    /// <param name="bytes">How much; zero counts as one.</param>
    /// <param name="alignment">A power of two, in bytes.</param>
    /// <returns>Memory valid until it is deallocated, or the heap is cleared or disposed.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The alignment is no power of two.</exception>
    /// <exception cref="OutOfMemoryException">The system or the limit refuses; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The heap is disposed.</exception>
    public void* Allocate(nuint bytes, nuint alignment = Native.DefaultAlignment)
    {
        void* block = TryAllocate(bytes, alignment);
        if (block == null)
        {
            Throw.Refused(bytes, $"the heap \"{Name}\"");
        }
        return block;
    }

    /// <summary>As <see cref="Allocate"/>, without an exception when it is refused.</summary>
    /// <param name="bytes">How much; zero counts as one.</param>
    /// <param name="alignment">A power of two, in bytes.</param>
    /// <returns>Null when refused, and then nothing has changed.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The alignment is no power of two.</exception>
    /// <exception cref="ObjectDisposedException">The heap is disposed.</exception>
    public void* TryAllocate(nuint bytes, nuint alignment = Native.DefaultAlignment)
    {
        Throw.UnlessPowerOfTwo(alignment);
        void* block = NativeMethods.tn_heap_allocate(Heap, bytes, alignment);
        GC.KeepAlive(this);
        return block;
    }

    /// <summary>Allocates memory, all zero. Memory that the system gave as zero is not written.</summary>
    /// <param name="bytes">How much; zero counts as one.</param>
    /// <param name="alignment">A power of two, in bytes.</param>
    /// <returns>As <see cref="Allocate"/>.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The alignment is no power of two.</exception>
    /// <exception cref="OutOfMemoryException">The system or the limit refuses; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The heap is disposed.</exception>
    public void* AllocateZeroed(nuint bytes, nuint alignment = Native.DefaultAlignment)
    {
        Throw.UnlessPowerOfTwo(alignment);
        void* block = NativeMethods.tn_heap_allocate_zeroed(Heap, bytes, alignment);
        GC.KeepAlive(this);
        if (block == null)
        {
            Throw.Refused(bytes, $"the heap \"{Name}\"");
        }
        return block;
    }

    /// <summary>Allocates elements, not initialised.</summary>
    /// <typeparam name="T">What they are. An alignment of at most 16 bytes is met.</typeparam>
    /// <param name="count">How many.</param>
    /// <returns>The elements; the span does not own them.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The count is negative.</exception>
    /// <exception cref="OutOfMemoryException">The system or the limit refuses; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The heap is disposed.</exception>
    public Span<T> AllocateSpan<T>(int count)
        where T : unmanaged
    {
        Throw.IfNegative(count);
        return new Span<T>(Allocate((nuint)(uint)count * (nuint)sizeof(T)), count);
    }

    /// <summary>Makes a block larger or smaller, where it is if that can be; contents are kept up to the smaller
    /// size.</summary>
    /// <param name="block">Of this heap, not deallocated; null is allocated.</param>
    /// <param name="bytes">Its new size; zero counts as one.</param>
    /// <param name="alignment">A power of two, in bytes.</param>
    /// <returns>The block's begin from now on.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The alignment is no power of two.</exception>
    /// <exception cref="OutOfMemoryException">The system or the limit refuses; the block is as it was.</exception>
    /// <exception cref="ObjectDisposedException">The heap is disposed.</exception>
    public void* Reallocate(void* block, nuint bytes, nuint alignment = Native.DefaultAlignment)
    {
        Throw.UnlessPowerOfTwo(alignment);
        void* moved = NativeMethods.tn_heap_reallocate(Heap, block, bytes, alignment);
        GC.KeepAlive(this);
        if (moved == null)
        {
            Throw.Refused(bytes, $"the heap \"{Name}\"");
        }
        return moved;
    }

    /// <summary>Gives a block back. Null is allowed and does nothing.</summary>
    /// <param name="block">Of this heap, not deallocated since.</param>
    /// <exception cref="ObjectDisposedException">The heap is disposed.</exception>
    public void Deallocate(void* block)
    {
        NativeMethods.tn_heap_deallocate(Heap, block);
        GC.KeepAlive(this);
    }

    /// <summary>Gives elements back. A span of nowhere does nothing.</summary>
    /// <typeparam name="T">What they are.</typeparam>
    /// <param name="elements">As they were allocated: from the first one on.</param>
    /// <exception cref="ObjectDisposedException">The heap is disposed.</exception>
    public void Deallocate<T>(Span<T> elements)
        where T : unmanaged => Deallocate(Unsafe.AsPointer(ref MemoryMarshal.GetReference(elements)));

    /// <summary>Bytes of a block that may be used.</summary>
    /// <param name="block">Of this heap, not deallocated; or null.</param>
    /// <returns>What was asked for, or more; zero for null.</returns>
    /// <exception cref="ObjectDisposedException">The heap is disposed.</exception>
    public nuint UsableSize(void* block)
    {
        nuint bytes = NativeMethods.tn_heap_usable_size(Heap, block);
        GC.KeepAlive(this);
        return bytes;
    }

    /// <summary>Whether an address is inside memory of this heap. Any may be asked for.</summary>
    /// <param name="address">Anything.</param>
    /// <returns>Whether it is.</returns>
    /// <exception cref="ObjectDisposedException">The heap is disposed.</exception>
    public bool Owns(void* address)
    {
        bool owns = NativeMethods.tn_heap_owns(Heap, address) != 0;
        GC.KeepAlive(this);
        return owns;
    }

    /// <summary>Everything is free; memory is kept as after any free.</summary>
    /// <remarks>Cost O(pages + large blocks). No other thread uses the heap meanwhile.</remarks>
    /// <exception cref="ObjectDisposedException">The heap is disposed.</exception>
    public void Clear()
    {
        NativeMethods.tn_heap_clear(Heap);
        GC.KeepAlive(this);
    }

    /// <summary>Gives free pages back to the system. Cost O(pages).</summary>
    /// <returns>The bytes given back.</returns>
    /// <exception cref="ObjectDisposedException">The heap is disposed.</exception>
    public nuint Trim()
    {
        nuint bytes = NativeMethods.tn_heap_trim(Heap);
        GC.KeepAlive(this);
        return bytes;
    }

    /// <summary>Its figures of now. Cost O(threads x sizes), with locks.</summary>
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

    /// <summary>Gives everything back, whatever is still allocated. A second time does nothing. No other thread uses
    /// the heap any more.</summary>
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
