// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Numerics;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>Bump allocation for objects that are freed together.</summary>
/// <remarks>
/// <para><b>Use it for</b> the data of one request, one level, one build step. <b>Not for</b> objects that are freed
/// one by one: see <see cref="Pool{T}"/>.</para>
/// <para><b>Memory from</b> pages of the system, in chunks that double up to 8 MiB and are reused. <b>Cost</b> allocate
/// O(1): an add and a compare, without a call into native code; clear and rewind O(1); trim O(chunks). <b>Overhead</b>
/// none per allocation; a 64-byte header per chunk.</para>
/// <para><b>Threads</b> not thread-safe; use one arena per thread. <b>When full</b> requests another chunk from the
/// system; throws <see cref="OutOfMemoryException"/> if that fails and leaves the arena unchanged.</para>
/// <para>The arena frees its memory, even when the garbage collector finalizes an arena that was not disposed. Keep the
/// arena reachable while its spans are used. Use of a span from before a clear or a rewind is not detected.</para>
/// </remarks>
public sealed unsafe class Arena : IDisposable
{
    /// <summary>An all-zero arena without room, which replaces a disposed arena.</summary>
    private static readonly nint _closed =
        RuntimeHelpers.AllocateTypeAssociatedMemory(typeof(Arena), sizeof(NativeArena));

    private readonly OwnerHandle _owner;
    private NativeArena* _arena; // an arena without room after Dispose, so the quick path needs no check

    // The valid rewind targets. Consecutive markers at the same position share a serial, so a loop of Mark and Rewind
    // adds none.
    private readonly List<ulong> _open = []; // ascending
    private NativeArenaMarker _newest; // the position of the last marker
    private ulong _serials;

    /// <summary>Initializes an arena. It acquires no memory until the first allocation.</summary>
    /// <param name="firstChunkBytes">The size of the first chunk; at least 1 KiB is acquired.</param>
    /// <exception cref="ArgumentOutOfRangeException">The size is zero.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public Arena(nuint firstChunkBytes = 64 * 1024)
    {
        ArgumentOutOfRangeException.ThrowIfZero(firstChunkBytes);
        NativeLibraryCheck.Ensure();
        _arena = NativeMethods.tn_arena_create(firstChunkBytes, null);
        if (_arena == null)
        {
            Throw.NotCreated($"an arena with a first chunk of {firstChunkBytes} bytes");
        }
        _owner = new OwnerHandle(_arena, &NativeMethods.tn_arena_destroy, "An arena");
    }

    /// <summary>Allocates uninitialized elements after the previous allocation.</summary>
    /// <typeparam name="T">The element type. Elements are placed at a multiple of their own alignment.</typeparam>
    /// <param name="count">The number of elements.</param>
    /// <returns>Elements valid until the next clear, a rewind to an earlier marker, or the arena's disposal.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The count is negative.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The arena is disposed.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Span<T> Allocate<T>(int count)
        where T : unmanaged
    {
        Throw.IfNegative(count);
        return new Span<T>(AllocateBytes((nuint)(uint)count * (nuint)sizeof(T), AlignmentOf<T>.Bytes), count);
    }

    /// <summary>Allocates zeroed elements.</summary>
    /// <typeparam name="T">The element type. Elements are placed at a multiple of their own alignment.</typeparam>
    /// <param name="count">The number of elements.</param>
    /// <returns>The elements, valid as those of <see cref="Allocate{T}"/>.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The count is negative.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The arena is disposed.</exception>
    public Span<T> AllocateZeroed<T>(int count)
        where T : unmanaged
    {
        Span<T> elements = Allocate<T>(count);
        elements.Clear();
        return elements;
    }

    /// <summary>Allocates memory after the previous allocation, without rounding: two blocks of 4 bytes are 4 bytes
    /// apart if the alignment permits.</summary>
    /// <param name="bytes">The size in bytes; zero counts as one.</param>
    /// <param name="alignment">The alignment in bytes, a power of two.</param>
    /// <returns>Uninitialized memory, valid until the next clear, a rewind to an earlier marker, or the arena's
    /// disposal.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The alignment is not a power of two.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The arena is disposed.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void* AllocateBytes(nuint bytes, nuint alignment = Native.DefaultAlignment)
    {
        NativeArena* arena = _arena;
        ulong block = (arena->Cursor + (alignment - 1)) & ~((ulong)alignment - 1);
        ulong end = block + bytes + (bytes == 0 ? 1u : 0u);
        // Sizes near the maximum wrap around to a smaller end. The slow path rejects invalid alignments.
        if (end > arena->Limit || end <= block || !BitOperations.IsPow2(alignment))
        {
            return AllocateByCall(bytes, alignment);
        }
        arena->Cursor = end;
        GC.KeepAlive(this);
        return (void*)block;
    }

    /// <summary>Copies elements into the arena.</summary>
    /// <typeparam name="T">The element type.</typeparam>
    /// <param name="elements">The elements to copy.</param>
    /// <returns>The copies, valid as the elements of <see cref="Allocate{T}"/>.</returns>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The arena is disposed.</exception>
    public Span<T> Copy<T>(ReadOnlySpan<T> elements)
        where T : unmanaged
    {
        Span<T> copies = Allocate<T>(elements.Length);
        elements.CopyTo(copies);
        return copies;
    }

    /// <summary>Frees memory if it is the newest allocation; otherwise does nothing until a rewind or clear.</summary>
    /// <param name="block">Memory of this arena; null does nothing.</param>
    /// <param name="bytes">The size that it was allocated with.</param>
    /// <exception cref="ObjectDisposedException">The arena is disposed.</exception>
    public void Deallocate(void* block, nuint bytes)
    {
        NativeMethods.tn_arena_deallocate(Open, block, bytes);
        GC.KeepAlive(this);
    }

    /// <summary>Marks the position after the newest allocation.</summary>
    /// <remarks>Each marked position uses 8 bytes of managed memory until a rewind or a clear drops it.</remarks>
    /// <returns>A marker for <see cref="Rewind"/>.</returns>
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

    /// <summary>Frees everything allocated since the marker and keeps the chunks.</summary>
    /// <param name="to">A marker of this arena; it can be rewound to again.</param>
    /// <exception cref="ArgumentException">The marker is from another arena, is the default value, or was invalidated
    /// by a clear or by a rewind to an earlier marker; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The arena is disposed.</exception>
    public void Rewind(ArenaMarker to)
    {
        NativeArena* arena = Open;
        int index = to.Owner == this ? _open.BinarySearch(to.Serial) : -1;
        if (index < 0)
        {
            throw new ArgumentException(
                to.Owner == this
                    ? "The marker is no longer valid: after Mark, the arena was cleared or rewound to an earlier marker. Call Mark again."
                    : "The marker does not belong to this arena. Pass a marker that Mark of this arena returned.",
                nameof(to));
        }
        NativeArenaMarker place = to.Place;
        NativeMethods.tn_arena_rewind(arena, &place);
        _open.RemoveRange(index + 1, _open.Count - index - 1);
        _newest = place;
        GC.KeepAlive(this);
    }

    /// <summary>Frees every allocation and keeps the chunks.</summary>
    /// <exception cref="ObjectDisposedException">The arena is disposed.</exception>
    public void Clear()
    {
        NativeMethods.tn_arena_clear(Open);
        _open.Clear();
        GC.KeepAlive(this);
    }

    /// <summary>Returns empty chunks to the system. Cost: O(chunks).</summary>
    /// <returns>The number of bytes returned.</returns>
    /// <exception cref="ObjectDisposedException">The arena is disposed.</exception>
    public nuint Trim()
    {
        nuint bytes = NativeMethods.tn_arena_trim(Open);
        GC.KeepAlive(this);
        return bytes;
    }

    /// <summary>Gets the current statistics: bytes in use including alignment gaps, and no count. Cost:
    /// O(chunks).</summary>
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

    /// <summary>Returns all chunks to the system. A second call does nothing.</summary>
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
            Throw.Refused(bytes, "An arena");
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
