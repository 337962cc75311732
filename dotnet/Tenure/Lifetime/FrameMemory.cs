// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

/// <summary>Memory that frees itself a fixed number of frames later.</summary>
/// <remarks>
/// <para><b>Use it for</b> what a frame produces and a later frame, another thread or the GPU reads: command lists,
/// visible objects, upload data. Two frames are double buffering, three triple buffering. <b>Not for</b> blocks that
/// live for a varying number of frames: see <see cref="Lifetime.TempJob"/>.</para>
/// <para><b>Memory from</b> pages of the system, in chunks of 256 KiB or more that are used again when their frames have
/// passed. <b>Cost</b> one native call, O(1). <b>Overhead</b> 64 bytes per chunk; sizes are rounded up to 16
/// bytes.</para>
/// <para><b>Threads</b> any thread allocates, and nobody frees. <see cref="Trim"/> and <see cref="Dispose"/> require that
/// no other thread allocates. <b>When full</b> requests another chunk; throws <see cref="OutOfMemoryException"/> if that
/// fails, and changes nothing.</para>
/// <para>A block is valid until <see cref="Native.NextFrame"/> has been called as often as the constructor says. Use of
/// a span after that is not detected: the memory belongs to a later frame. The native library built with checks reports a
/// write outside a block when the memory is used again, and at the end of the memory.</para>
/// </remarks>
public sealed unsafe class FrameMemory : IDisposable
{
    /// <summary>The largest number of frames.</summary>
    public const int MaxFrames = 8;

    private readonly OwnerHandle _owner;
    private void* _memory;

    /// <summary>Initializes the memory. It acquires nothing until the first allocation.</summary>
    /// <param name="frames">The number of calls of <see cref="Native.NextFrame"/> after which a block is freed: 1 to
    /// <see cref="MaxFrames"/>.</param>
    /// <exception cref="ArgumentOutOfRangeException">The number of frames is out of range.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public FrameMemory(int frames = 2)
    {
        if (frames is < 1 or > MaxFrames)
        {
            Throw.OutOfRange(nameof(frames), frames, $"The number of frames must be 1 to {MaxFrames}.");
        }
        NativeLibraryCheck.Ensure();
        _memory = NativeMethods.tn_frame_memory_create((uint)frames, null);
        if (_memory == null)
        {
            Throw.NotCreated("frame memory");
        }
        _owner = new OwnerHandle(_memory, &NativeMethods.tn_frame_memory_destroy, "Frame memory");
    }

    /// <summary>Allocates uninitialized elements.</summary>
    /// <typeparam name="T">The element type. Its alignment of up to 16 bytes is met.</typeparam>
    /// <param name="count">The number of elements.</param>
    /// <returns>Elements that are freed when their frames have passed, or with this object.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The count is negative.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory.</exception>
    /// <exception cref="ObjectDisposedException">The memory is disposed.</exception>
    public Span<T> Allocate<T>(int count)
        where T : unmanaged
    {
        Throw.IfNegative(count);
        return new Span<T>(AllocateBytes((nuint)(uint)count * (nuint)sizeof(T)), count);
    }

    /// <summary>Allocates zeroed elements.</summary>
    /// <typeparam name="T">The element type. Its alignment of up to 16 bytes is met.</typeparam>
    /// <param name="count">The number of elements.</param>
    /// <returns>The elements, valid as those of <see cref="Allocate{T}"/>.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The count is negative.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory.</exception>
    /// <exception cref="ObjectDisposedException">The memory is disposed.</exception>
    public Span<T> AllocateZeroed<T>(int count)
        where T : unmanaged
    {
        Span<T> elements = Allocate<T>(count);
        elements.Clear();
        return elements;
    }

    /// <summary>Allocates uninitialized memory.</summary>
    /// <param name="bytes">The size in bytes; zero counts as one.</param>
    /// <param name="alignment">The alignment in bytes, a power of two.</param>
    /// <returns>Memory that is freed when its frames have passed, or with this object.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The alignment is not a power of two.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory.</exception>
    /// <exception cref="ObjectDisposedException">The memory is disposed.</exception>
    public void* AllocateBytes(nuint bytes, nuint alignment = Native.DefaultAlignment)
    {
        Throw.UnlessPowerOfTwo(alignment);
        void* block = NativeMethods.tn_frame_memory_allocate(Open, bytes, alignment);
        GC.KeepAlive(this);
        if (block == null)
        {
            Throw.Refused(bytes, "Frame memory");
        }
        return block;
    }

    /// <summary>Returns the chunks that no frame uses to the system. No other thread may allocate during the
    /// call.</summary>
    /// <returns>The number of bytes returned.</returns>
    /// <exception cref="ObjectDisposedException">The memory is disposed.</exception>
    public nuint Trim()
    {
        nuint bytes = NativeMethods.tn_frame_memory_trim(Open);
        GC.KeepAlive(this);
        return bytes;
    }

    /// <summary>Gets the current statistics. Cost: O(chunks).</summary>
    /// <exception cref="ObjectDisposedException">The memory is disposed.</exception>
    public AllocatorStats Stats
    {
        get
        {
            var seen = new NativeAllocatorStats();
            NativeMethods.tn_frame_memory_get_stats(Open, &seen);
            GC.KeepAlive(this);
            return AllocatorStats.From(seen);
        }
    }

    /// <summary>Releases all memory, at whatever age. A second call does nothing.</summary>
    public void Dispose()
    {
        _memory = null;
        _owner.Dispose();
    }

    private void* Open
    {
        get
        {
            if (_memory == null)
            {
                Throw.Disposed(nameof(FrameMemory));
            }
            return _memory;
        }
    }
}
