// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;

namespace Tenure;

/// <summary>Receives one range; see <see cref="OffsetAllocator.Walk"/>.</summary>
/// <param name="offset">The start of the range.</param>
/// <param name="size">The size of the range.</param>
/// <param name="isFree"><c>true</c> if the range is free.</param>
public delegate void OffsetVisitor(ulong offset, ulong size, bool isFree);

/// <summary>Address ranges that you manage yourself: parts of a GPU buffer, a file or a device.</summary>
/// <remarks>
/// <para><b>Use it for</b> GPU buffers and device memory, files, ring buffers, and anything else that is numbered from
/// 0 to a capacity. <b>Not for</b> memory of the process itself: see <see cref="Native"/>,
/// <see cref="Pool{T}"/>.</para>
/// <para><b>Memory from</b> pages of the system, for its records only; the ranges themselves are never touched.
/// <b>Cost</b> one native call, O(1). <b>Overhead</b> 32 bytes per range, allocated or free; sizes are not
/// rounded.</para>
/// <para><b>Threads</b> one at a time. <see cref="Usage"/>, <see cref="SizeOf"/> and <see cref="Walk"/> only read:
/// several threads may use them at once while no thread uses another member. <b>When full</b>
/// <see cref="TryAllocate"/> returns false and <see cref="Allocate"/> throws; both leave everything
/// unchanged.</para>
/// <para>Checked builds of the native library report a double free of a range, unless its record has been reused for
/// another range.</para>
/// </remarks>
public sealed unsafe class OffsetAllocator : IDisposable
{
    /// <summary>The maximum number of frames by which a deallocation can be delayed.</summary>
    public const int MaxFrames = 63;

    /// <summary>The maximum capacity.</summary>
    public const ulong MaxCapacity = 1ul << 62;

    private const int InvalidArgument = 2;

    private readonly OwnerHandle _owner;
    private void* _offsets; // null after Dispose

    /// <summary>Initializes an allocator for offsets from zero to a capacity.</summary>
    /// <param name="capacity">The capacity, in a unit of your choice; at most <see cref="MaxCapacity"/>.</param>
    /// <exception cref="ArgumentOutOfRangeException">The capacity is larger than the maximum.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public OffsetAllocator(ulong capacity)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(capacity, MaxCapacity);
        NativeLibraryCheck.Ensure();
        _offsets = NativeMethods.tn_offset_create(capacity);
        if (_offsets == null)
        {
            Throw.NotCreated("an offset allocator");
        }
        _owner = new OwnerHandle(_offsets, &NativeMethods.tn_offset_destroy, "An offset allocator");
    }

    /// <summary>Allocates a range. Delayed deallocations whose frame has passed are freed first.</summary>
    /// <param name="size">The size; zero counts as one.</param>
    /// <param name="alignment">The alignment, a power of two: the offset is a multiple of it.</param>
    /// <returns>The range.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The alignment is not a power of two.</exception>
    /// <exception cref="OutOfMemoryException">No free range has the size and alignment; nothing has
    /// changed.</exception>
    /// <exception cref="ObjectDisposedException">The allocator is disposed.</exception>
    public OffsetRange Allocate(ulong size, ulong alignment = 1)
    {
        if (!TryAllocate(size, alignment, out OffsetRange range))
        {
            throw new OutOfMemoryException(
                $"Cannot allocate a range of size {size} at an alignment of {alignment}: no free range has room for it, or there is no "
                + "memory for its record. Nothing has changed. Deallocate ranges, or call Grow.");
        }
        return range;
    }

    /// <summary>Allocates as <see cref="Allocate"/> does, but returns false instead of throwing when there is no
    /// room.</summary>
    /// <param name="size">The size; zero counts as one.</param>
    /// <param name="alignment">The alignment, a power of two: the offset is a multiple of it.</param>
    /// <param name="range">The range; <see cref="OffsetRange.None"/> if there is no room.</param>
    /// <returns><c>true</c> if the range was allocated; <c>false</c> if there was no room, which changes
    /// nothing.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The alignment is not a power of two.</exception>
    /// <exception cref="ObjectDisposedException">The allocator is disposed.</exception>
    public bool TryAllocate(ulong size, ulong alignment, out OffsetRange range)
    {
        Throw.UnlessPowerOfTwo((nuint)alignment, nameof(alignment));
        NativeOffsetRange found;
        int status = NativeMethods.tn_offset_allocate(Offsets, size, alignment, &found);
        GC.KeepAlive(this);
        range = status == 0 ? new OffsetRange(found.Offset, found.Id) : OffsetRange.None;
        return status == 0;
    }

    /// <summary>Frees a range and merges it with free neighbors. <see cref="OffsetRange.None"/> is allowed and does
    /// nothing.</summary>
    /// <param name="range">An allocated range, not deallocated since.</param>
    /// <exception cref="ObjectDisposedException">The allocator is disposed.</exception>
    public void Deallocate(OffsetRange range)
    {
        NativeMethods.tn_offset_deallocate(Offsets, ToNative(range));
        GC.KeepAlive(this);
    }

    /// <summary>Frees a range after a number of frames have ended (<see cref="Native.NextFrame"/>), when the device no
    /// longer uses it. The range is free at the next allocation or <see cref="Collect"/> after that.</summary>
    /// <param name="range">The range; see <see cref="Deallocate"/>.</param>
    /// <param name="frames">The number of frames: 0 to <see cref="MaxFrames"/>.</param>
    /// <exception cref="ArgumentOutOfRangeException">The number of frames is negative or too large.</exception>
    /// <exception cref="ObjectDisposedException">The allocator is disposed.</exception>
    public void DeallocateAfter(OffsetRange range, int frames)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(frames);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(frames, MaxFrames);
        NativeMethods.tn_offset_deallocate_after(Offsets, ToNative(range), (uint)frames);
        GC.KeepAlive(this);
    }

    /// <summary>Frees the delayed ranges whose frame has passed, and completes earlier deallocations. Cost: O(ranges
    /// freed).</summary>
    /// <returns>The number of delayed ranges freed.</returns>
    /// <exception cref="ObjectDisposedException">The allocator is disposed.</exception>
    public ulong Collect()
    {
        ulong count = NativeMethods.tn_offset_collect(Offsets);
        GC.KeepAlive(this);
        return count;
    }

    /// <summary>Increases the capacity and keeps all allocations.</summary>
    /// <param name="capacity">The new capacity: from the current one to <see cref="MaxCapacity"/>.</param>
    /// <exception cref="ArgumentOutOfRangeException">The capacity is smaller than the current one, or too
    /// large.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory for a record; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The allocator is disposed.</exception>
    public void Grow(ulong capacity)
    {
        int status = NativeMethods.tn_offset_grow(Offsets, capacity);
        GC.KeepAlive(this);
        if (status == InvalidArgument)
        {
            Throw.OutOfRange(nameof(capacity), capacity, "The capacity must be from the current one to MaxCapacity.");
        }
        if (status != 0)
        {
            throw new OutOfMemoryException(
                $"Cannot grow the offset allocator to {capacity}: there is no memory for a record. Nothing has changed. Free memory, or "
                + "raise the memory limit of the process.");
        }
    }

    /// <summary>Reduces the capacity and keeps all allocations. Delayed deallocations whose frame has passed are freed
    /// first.</summary>
    /// <param name="capacity">The new capacity: at most the current one.</param>
    /// <returns><c>true</c> if the capacity was reduced; <c>false</c> if an allocation is beyond the new capacity,
    /// which changes nothing.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The capacity is larger than the current one.</exception>
    /// <exception cref="ObjectDisposedException">The allocator is disposed.</exception>
    public bool Shrink(ulong capacity)
    {
        int status = NativeMethods.tn_offset_shrink(Offsets, capacity);
        GC.KeepAlive(this);
        if (status == InvalidArgument)
        {
            Throw.OutOfRange(nameof(capacity), capacity, "The capacity must be at most the current one. Call Grow to raise it.");
        }
        return status == 0;
    }

    /// <summary>Frees every range; do not deallocate earlier ranges afterwards. Cost: O(1).</summary>
    /// <exception cref="ObjectDisposedException">The allocator is disposed.</exception>
    public void Clear()
    {
        NativeMethods.tn_offset_clear(Offsets);
        GC.KeepAlive(this);
    }

    /// <summary>Gets the size that a range was allocated with.</summary>
    /// <param name="range">A range that is allocated or waiting for its frame.</param>
    /// <returns>The size, in the allocator's unit.</returns>
    /// <exception cref="ObjectDisposedException">The allocator is disposed.</exception>
    public ulong SizeOf(OffsetRange range)
    {
        ulong size = NativeMethods.tn_offset_size_of(Offsets, ToNative(range));
        GC.KeepAlive(this);
        return size;
    }

    /// <summary>Gets the current usage. Cost: O(free ranges of the largest sizes), at most O(ranges).</summary>
    /// <exception cref="ObjectDisposedException">The allocator is disposed.</exception>
    public OffsetUsage Usage
    {
        get
        {
            var seen = new NativeOffsetUsage();
            NativeMethods.tn_offset_get_usage(Offsets, &seen);
            GC.KeepAlive(this);
            return new OffsetUsage
            {
                Capacity = seen.Capacity,
                Free = seen.Free,
                LargestFree = seen.LargestFree,
                Waiting = seen.Waiting,
                RangeCount = seen.RangeCount,
                FreeCount = seen.FreeCount,
                RecordBytes = seen.RecordBytes,
            };
        }
    }

    /// <summary>Enumerates all ranges, lowest offset first.</summary>
    /// <param name="visit">Called for each range; must not change the allocator. An exception that it throws ends the walk
    /// and is thrown by this method.</param>
    /// <exception cref="ObjectDisposedException">The allocator is disposed.</exception>
    public void Walk(OffsetVisitor visit)
    {
        ArgumentNullException.ThrowIfNull(visit);
        void* offsets = Offsets;
        var walk = new WalkState(visit);
        var here = GCHandle.Alloc(walk);
        try
        {
            NativeMethods.tn_offset_walk(offsets, &Visit, (void*)GCHandle.ToIntPtr(here));
        }
        finally
        {
            here.Free();
        }
        GC.KeepAlive(this);
        walk.Thrown?.Throw();
    }

    /// <summary>Frees the allocator's records. A second call does nothing.</summary>
    public void Dispose()
    {
        _offsets = null;
        _owner.Dispose();
    }

    private void* Offsets
    {
        get
        {
            void* offsets = _offsets;
            if (offsets == null)
            {
                Throw.Disposed(nameof(OffsetAllocator));
            }
            return offsets;
        }
    }

    private static NativeOffsetRange ToNative(OffsetRange range) => new() { Offset = range.Offset, Id = range.Id };

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static void Visit(void* context, ulong offset, ulong size, uint isFree)
    {
        var walk = (WalkState)GCHandle.FromIntPtr((nint)context).Target!;
        if (walk.Thrown is not null)
        {
            return;
        }
        try
        {
            walk.Visit(offset, size, isFree != 0);
        }
#pragma warning disable CA1031 // no exception may cross native code; Walk rethrows it
        catch (Exception exception)
#pragma warning restore CA1031
        {
            walk.Thrown = ExceptionDispatchInfo.Capture(exception);
        }
    }

    private sealed class WalkState(OffsetVisitor visit)
    {
        internal OffsetVisitor Visit { get; } = visit;

        internal ExceptionDispatchInfo? Thrown { get; set; }
    }
}
