// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Numerics;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>Memory that dies together: allocate freely, give it all back at once.</summary>
/// <remarks>
/// <para><b>Use it for</b> data of one request, one level, one build step. <b>Not for</b> single objects that die
/// early: <see cref="Pool{T}"/>.</para>
/// <para><b>Memory from</b> pages of the system; grows by chunks that double up to 8 MiB, keeps them for the next time.
/// <b>Cost</b> allocate O(1), an add and a compare, without a call into native code; clear and rewind O(1); trim
/// O(chunks). <b>Overhead</b> none per allocation; one header of 64 bytes per chunk.</para>
/// <para><b>Threads</b> one at a time; give each thread its own. <b>When full</b> asks the system; throws
/// <see cref="OutOfMemoryException"/> when that refuses, and nothing has changed.</para>
/// <para>Its memory goes with it, also when the garbage collector takes an arena that nobody disposed: keep it
/// reachable as long as its spans are used. A span from before a clear or a rewind is not checked.</para>
/// </remarks>
public sealed unsafe class Arena : IDisposable
{
    /// <summary>Without room, and zero throughout: stands for the arena that was disposed.</summary>
    private static readonly nint _closed =
        RuntimeHelpers.AllocateTypeAssociatedMemory(typeof(Arena), sizeof(NativeArena));

    private readonly OwnerHandle _owner;
    private NativeArena* _arena; // once disposed, one without room: the quick path needs no look at it

    // What may be rewound to: markers at one place in a row share a serial, so a loop of Mark and Rewind adds none.
    private readonly List<ulong> _open = []; // ascending
    private NativeArenaMarker _newest; // the place of the last of them
    private ulong _serials;

    /// <summary>An arena that takes nothing from the system until the first allocation.</summary>
    /// <param name="firstChunkBytes">How much it takes then; at least 1 KiB is.</param>
    /// <exception cref="ArgumentOutOfRangeException">Zero bytes.</exception>
    /// <exception cref="OutOfMemoryException">The system refuses.</exception>
    /// <exception cref="TenureLoadException">There is no native library, or another version's.</exception>
    public Arena(nuint firstChunkBytes = 64 * 1024)
    {
        ArgumentOutOfRangeException.ThrowIfZero(firstChunkBytes);
        NativeLibraryCheck.Ensure();
        _arena = NativeMethods.tn_arena_create(firstChunkBytes, null);
        if (_arena == null)
        {
            Throw.Refused(firstChunkBytes, "the system, for an arena");
        }
        _owner = new OwnerHandle(_arena, &NativeMethods.tn_arena_destroy, "An arena");
    }

    /// <summary>Allocates elements after what was allocated last, not initialised.</summary>
    /// <typeparam name="T">What they are. They lie at a multiple of their own alignment.</typeparam>
    /// <param name="count">How many.</param>
    /// <returns>Elements valid until the next clear, a rewind to an earlier marker, or the arena's end.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The count is negative.</exception>
    /// <exception cref="OutOfMemoryException">The system refuses; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The arena is disposed.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Span<T> Allocate<T>(int count)
        where T : unmanaged
    {
        Throw.IfNegative(count);
        return new Span<T>(AllocateBytes((nuint)(uint)count * (nuint)sizeof(T), AlignmentOf<T>.Bytes), count);
    }

    /// <summary>Allocates elements, all zero.</summary>
    /// <typeparam name="T">What they are. They lie at a multiple of their own alignment.</typeparam>
    /// <param name="count">How many.</param>
    /// <returns>As <see cref="Allocate{T}"/>.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The count is negative.</exception>
    /// <exception cref="OutOfMemoryException">The system refuses; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The arena is disposed.</exception>
    public Span<T> AllocateZeroed<T>(int count)
        where T : unmanaged
    {
        Span<T> elements = Allocate<T>(count);
        elements.Clear();
        return elements;
    }

    /// <summary>Allocates memory after what was allocated last, without rounding: two blocks of 4 bytes lie 4 bytes
    /// apart.</summary>
    /// <param name="bytes">How much; zero counts as one.</param>
    /// <param name="alignment">A power of two, in bytes.</param>
    /// <returns>Memory, not initialised, valid until the next clear, a rewind to an earlier marker, or the arena's
    /// end.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The alignment is no power of two.</exception>
    /// <exception cref="OutOfMemoryException">The system refuses; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The arena is disposed.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void* AllocateBytes(nuint bytes, nuint alignment = Native.DefaultAlignment)
    {
        NativeArena* arena = _arena;
        ulong block = (arena->Cursor + (alignment - 1)) & ~((ulong)alignment - 1);
        ulong end = block + bytes + (bytes == 0 ? 1u : 0u);
        // Sizes near the end of the number range come round to less. An alignment that is none is the slow path's.
        if (end > arena->Limit || end <= block || !BitOperations.IsPow2(alignment))
        {
            return AllocateByCall(bytes, alignment);
        }
        arena->Cursor = end;
        GC.KeepAlive(this);
        return (void*)block;
    }

    /// <summary>Copies elements into the arena.</summary>
    /// <typeparam name="T">What they are.</typeparam>
    /// <param name="elements">What is copied.</param>
    /// <returns>The copies, valid as those of <see cref="Allocate{T}"/>.</returns>
    /// <exception cref="OutOfMemoryException">The system refuses; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The arena is disposed.</exception>
    public Span<T> Copy<T>(ReadOnlySpan<T> elements)
        where T : unmanaged
    {
        Span<T> copies = Allocate<T>(elements.Length);
        elements.CopyTo(copies);
        return copies;
    }

    /// <summary>Takes memory back when it is what was allocated last; otherwise does nothing until a rewind or
    /// clear.</summary>
    /// <param name="block">Of this arena; null does nothing.</param>
    /// <param name="bytes">What it was allocated with.</param>
    /// <exception cref="ObjectDisposedException">The arena is disposed.</exception>
    public void Deallocate(void* block, nuint bytes)
    {
        NativeMethods.tn_arena_deallocate(Open, block, bytes);
        GC.KeepAlive(this);
    }

    /// <summary>The place behind what was allocated last.</summary>
    /// <remarks>8 bytes of managed memory for each place that is marked, until a rewind or a clear drops it.</remarks>
    /// <returns>For <see cref="Rewind"/>.</returns>
    /// <exception cref="ObjectDisposedException">The arena is disposed.</exception>
    public ArenaMarker Mark()
    {
        NativeArenaMarker place;
        NativeMethods.tn_arena_mark(Open, &place);
        GC.KeepAlive(this);
        if (_open.Count == 0 || place.Chunk != _newest.Chunk || place.Cursor != _newest.Cursor)
        {
            _open.Add(++_serials);
            _newest = place;
        }
        return new ArenaMarker(this, place, _open[^1]);
    }

    /// <summary>Everything allocated since the marker is gone; chunks are kept.</summary>
    /// <param name="to">Of this arena; it may be rewound to again.</param>
    /// <exception cref="ArgumentException">The marker is another arena's, or none, or a clear or a rewind to an earlier
    /// marker came after it; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The arena is disposed.</exception>
    public void Rewind(ArenaMarker to)
    {
        NativeArena* arena = Open;
        int index = to.Owner == this ? _open.BinarySearch(to.Serial) : -1;
        if (index < 0)
        {
            throw new ArgumentException(
                to.Owner == this
                    ? "The arena was cleared, or rewound to an earlier marker, after the marker was set."
                    : "The marker is not of this arena.",
                nameof(to));
        }
        NativeArenaMarker place = to.Place;
        NativeMethods.tn_arena_rewind(arena, &place);
        _open.RemoveRange(index + 1, _open.Count - index - 1);
        _newest = place;
        GC.KeepAlive(this);
    }

    /// <summary>Everything allocated is gone; its chunks are kept.</summary>
    /// <exception cref="ObjectDisposedException">The arena is disposed.</exception>
    public void Clear()
    {
        NativeMethods.tn_arena_clear(Open);
        _open.Clear();
        GC.KeepAlive(this);
    }

    /// <summary>Gives back the chunks that hold nothing. Cost O(chunks).</summary>
    /// <returns>The bytes given back.</returns>
    /// <exception cref="ObjectDisposedException">The arena is disposed.</exception>
    public nuint Trim()
    {
        nuint bytes = NativeMethods.tn_arena_trim(Open);
        GC.KeepAlive(this);
        return bytes;
    }

    /// <summary>Its figures of now: bytes in use with alignment gaps, no count. Cost O(chunks).</summary>
    /// <exception cref="ObjectDisposedException">The arena is disposed.</exception>
    public AllocatorStats Stats
    {
        get
        {
            var seen = new NativeAllocatorStats();
            NativeMethods.tn_arena_get_stats(Open, &seen);
            GC.KeepAlive(this);
            return AllocatorStats.From(seen);
        }
    }

    /// <summary>Gives every chunk back. A second time does nothing.</summary>
    public void Dispose()
    {
        _arena = (NativeArena*)_closed;
        _owner.Dispose();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void* AllocateByCall(nuint bytes, nuint alignment)
    {
        Throw.UnlessPowerOfTwo(alignment);
        void* block = NativeMethods.tn_arena_allocate(Open, bytes, alignment);
        GC.KeepAlive(this);
        if (block == null)
        {
            Throw.Refused(bytes, "an arena");
        }
        return block;
    }

    private NativeArena* Open
    {
        get
        {
            if (_arena == (NativeArena*)_closed)
            {
                Throw.Disposed(nameof(Arena));
            }
            return _arena;
        }
    }
}
