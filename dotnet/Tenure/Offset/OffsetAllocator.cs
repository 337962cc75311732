// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;

namespace Tenure;

/// <summary>Hears of a range: <see cref="OffsetAllocator.Walk"/>.</summary>
/// <param name="offset">Where it begins.</param>
/// <param name="size">How long it is.</param>
/// <param name="isFree">Whether nobody has it.</param>
public delegate void OffsetVisitor(ulong offset, ulong size, bool isFree);

/// <summary>Ranges of memory that is not ours: which part of a buffer, a file or a device is whose.</summary>
/// <remarks>
/// <para><b>Use it for</b> GPU buffers and device memory, files, ring buffers, anything that is counted from 0 to a
/// capacity. <b>Not for</b> memory of the process itself: <see cref="Native"/>, <see cref="Pool{T}"/>.</para>
/// <para><b>Memory from</b> pages of the system, for its records only; the ranges themselves are never touched.
/// <b>Cost</b> a call, and O(1) in it. <b>Overhead</b> 32 bytes for each range, allocated or free; sizes are not
/// rounded.</para>
/// <para><b>Threads</b> one at a time, also of those that only look. <b>When full</b> <see cref="TryAllocate"/> returns
/// false, <see cref="Allocate"/> throws; nothing has changed then.</para>
/// <para>A range that was given back already is reported by checked builds of the native library, unless its record
/// serves another.</para>
/// </remarks>
public sealed unsafe class OffsetAllocator : IDisposable
{
    /// <summary>Frames that a deallocation may be put off.</summary>
    public const int MaxFrames = 63;

    /// <summary>The largest capacity.</summary>
    public const ulong MaxCapacity = 1ul << 62;

    private const int InvalidArgument = 2;

    private readonly OwnerHandle _owner;
    private void* _offsets; // null once disposed

    /// <summary>An allocator of a room that begins at zero.</summary>
    /// <param name="capacity">Where it ends, in a unit of yours; at most <see cref="MaxCapacity"/>.</param>
    /// <exception cref="ArgumentOutOfRangeException">The capacity is larger.</exception>
    /// <exception cref="OutOfMemoryException">The system refuses.</exception>
    /// <exception cref="TenureLoadException">There is no native library, or another version's.</exception>
    public OffsetAllocator(ulong capacity)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(capacity, MaxCapacity);
        NativeLibraryCheck.Ensure();
        _offsets = NativeMethods.tn_offset_create(capacity);
        if (_offsets == null)
        {
            Throw.Refused(0, "the system, for an offset allocator");
        }
        _owner = new OwnerHandle(_offsets, &NativeMethods.tn_offset_destroy, "An offset allocator");
    }

    /// <summary>Allocates a range. What was deallocated for a frame that has come is free before.</summary>
    /// <param name="size">How long; zero counts as one.</param>
    /// <param name="alignment">A power of two: the offset is a multiple of it.</param>
    /// <returns>The range.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The alignment is no power of two.</exception>
    /// <exception cref="OutOfMemoryException">No free range has the size and alignment; nothing has
    /// changed.</exception>
    /// <exception cref="ObjectDisposedException">The allocator is disposed.</exception>
    public OffsetRange Allocate(ulong size, ulong alignment = 1)
    {
        if (!TryAllocate(size, alignment, out OffsetRange range))
        {
            throw new OutOfMemoryException($"No free range has room for {size} at a multiple of {alignment}; nothing has changed.");
        }
        return range;
    }

    /// <summary>As <see cref="Allocate"/>, without an exception when there is no room.</summary>
    /// <param name="size">How long; zero counts as one.</param>
    /// <param name="alignment">A power of two: the offset is a multiple of it.</param>
    /// <param name="range">The range; <see cref="OffsetRange.None"/> when refused.</param>
    /// <returns>Whether there was room; if not, nothing has changed.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The alignment is no power of two.</exception>
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

    /// <summary>Gives a range back; neighbours that are free become one with it. No range is allowed and does
    /// nothing.</summary>
    /// <param name="range">Allocated, and not given back since.</param>
    /// <exception cref="ObjectDisposedException">The allocator is disposed.</exception>
    public void Deallocate(OffsetRange range)
    {
        NativeMethods.tn_offset_deallocate(Offsets, ToNative(range));
        GC.KeepAlive(this);
    }

    /// <summary>Gives a range back when frames have ended from now (<see cref="Native.NextFrame"/>): when the device
    /// has done with it. It is free at the next allocation or <see cref="Collect"/> after that.</summary>
    /// <param name="range">As <see cref="Deallocate"/>.</param>
    /// <param name="frames">How many: 0 to <see cref="MaxFrames"/>.</param>
    /// <exception cref="ArgumentOutOfRangeException">The frames are negative or too many.</exception>
    /// <exception cref="ObjectDisposedException">The allocator is disposed.</exception>
    public void DeallocateAfter(OffsetRange range, int frames)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(frames);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(frames, MaxFrames);
        NativeMethods.tn_offset_deallocate_after(Offsets, ToNative(range), (uint)frames);
        GC.KeepAlive(this);
    }

    /// <summary>Frees what waits for frames that have come. Cost O(those).</summary>
    /// <returns>How many ranges.</returns>
    /// <exception cref="ObjectDisposedException">The allocator is disposed.</exception>
    public ulong Collect()
    {
        ulong count = NativeMethods.tn_offset_collect(Offsets);
        GC.KeepAlive(this);
        return count;
    }

    /// <summary>More room at the end; allocations stay.</summary>
    /// <param name="capacity">The new end: the present one to <see cref="MaxCapacity"/>.</param>
    /// <exception cref="ArgumentOutOfRangeException">The capacity is less than now, or too large.</exception>
    /// <exception cref="OutOfMemoryException">Memory for a record is refused; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The allocator is disposed.</exception>
    public void Grow(ulong capacity)
    {
        int status = NativeMethods.tn_offset_grow(Offsets, capacity);
        GC.KeepAlive(this);
        if (status == InvalidArgument)
        {
            Throw.OutOfRange(nameof(capacity), capacity, "The room does not become smaller here, nor larger than MaxCapacity.");
        }
        if (status != 0)
        {
            Throw.Refused(0, "the system, for a record");
        }
    }

    /// <summary>Less room; allocations stay. What waits for a frame that has come is free before.</summary>
    /// <param name="capacity">The new end: at most the present one.</param>
    /// <returns>False, and the room has not changed, when an allocation lies past the new end.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The capacity is more than now.</exception>
    /// <exception cref="ObjectDisposedException">The allocator is disposed.</exception>
    public bool Shrink(ulong capacity)
    {
        int status = NativeMethods.tn_offset_shrink(Offsets, capacity);
        GC.KeepAlive(this);
        if (status == InvalidArgument)
        {
            Throw.OutOfRange(nameof(capacity), capacity, "The room does not become larger here.");
        }
        return status == 0;
    }

    /// <summary>Everything is free; ranges from before must not be given back. Cost O(1).</summary>
    /// <exception cref="ObjectDisposedException">The allocator is disposed.</exception>
    public void Clear()
    {
        NativeMethods.tn_offset_clear(Offsets);
        GC.KeepAlive(this);
    }

    /// <summary>The size that a range was allocated with.</summary>
    /// <param name="range">Allocated, or waiting for its frame.</param>
    /// <returns>In the allocator's unit.</returns>
    /// <exception cref="ObjectDisposedException">The allocator is disposed.</exception>
    public ulong SizeOf(OffsetRange range)
    {
        ulong size = NativeMethods.tn_offset_size_of(Offsets, ToNative(range));
        GC.KeepAlive(this);
        return size;
    }

    /// <summary>Its figures of now. Cost O(free ranges of the largest sizes), at most O(ranges).</summary>
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

    /// <summary>Tells all ranges, lowest offset first.</summary>
    /// <param name="visit">Must not use the allocator. What it throws ends the telling, and is thrown here.</param>
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

    /// <summary>Gives its records back. A second time does nothing.</summary>
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
#pragma warning disable CA1031 // whatever it is, it must not cross native code; Walk throws it on
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
