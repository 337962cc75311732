// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Tenure;

/// <summary>
/// Allocates native memory by how long it is held (<see cref="Lifetime.Temp"/>, <see cref="Lifetime.TempJob"/>,
/// <see cref="Lifetime.Persistent"/>) and ends the frames that the first two depend on.
/// </summary>
/// <remarks>
/// <para><b>Use it for</b> memory that the garbage collector should not manage. <b>Not for</b> many objects of one
/// type: see <see cref="Pool{T}"/>; memory that is freed together: see <see cref="Arena"/>; memory with a checked
/// owner: see the buffers.</para>
/// <para><b>Memory from</b> the process heap, which C and C++ code in this process shares. <b>Cost</b> Persistent up to
/// 1024 bytes, Temp, and TempJob up to 32 KiB: no call into native code while the thread has memory cached; otherwise one call.
/// <b>Overhead</b> Persistent: only rounding, an eighth on average; Temp: rounding to 16 bytes; TempJob: 8 bytes per
/// block.</para>
/// <para><b>Threads</b> any; each thread has its own Temp. <b>When full</b> <c>Try…</c> methods return null and the
/// others throw <see cref="OutOfMemoryException"/>; both leave everything unchanged.</para>
/// <para>Memory is not initialized unless the method's name says so. Nothing here prevents use after free; checked
/// builds of the native library report the cases that they detect.</para>
/// </remarks>
public static unsafe partial class Native
{
    /// <summary>The default alignment of blocks, in bytes.</summary>
    public const int DefaultAlignment = 16;

    /// <summary>The set of alignments up to 16: bit n is set for alignment n.</summary>
    private const uint UsualAlignments = 1u << 1 | 1u << 2 | 1u << 4 | 1u << 8 | 1u << 16;

    /// <summary>Allocates uninitialized memory.</summary>
    /// <param name="bytes">The size in bytes; zero counts as one.</param>
    /// <param name="lifetime">How long the memory is held.</param>
    /// <param name="alignment">The alignment in bytes, a power of two.</param>
    /// <returns>The block, at a multiple of <paramref name="alignment"/>. Temp: valid until the end of the innermost
    /// <see cref="TempScope"/>, reset or frame; otherwise valid until it is deallocated.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The alignment is not a power of two, or the lifetime is not
    /// valid.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void* Allocate(nuint bytes, Lifetime lifetime, nuint alignment = DefaultAlignment)
    {
        // The compiler folds this when lifetime and alignment are constants.
        bool usual = alignment <= DefaultAlignment && (UsualAlignments >> (int)alignment & 1) != 0;
        if (usual && lifetime == Lifetime.Persistent && bytes <= QuickThread.ClassesLimitBytes)
        {
            nint* slot = (nint*)QuickThread.HeapCache;
            if (slot != null && *slot != 0)
            {
                NativeBlockCache* blocks = QuickThread.BlocksFor(*slot, bytes);
                uint count = blocks->Count;
                if (count != 0)
                {
                    return QuickThread.Take(blocks, count);
                }
            }
        }
        else if (usual && lifetime == Lifetime.Temp)
        {
            var state = (NativeTempState*)QuickThread.Temp;
            if (state != null)
            {
                ulong cursor = state->Cursor;
                ulong end = QuickThread.EndOf(cursor, bytes);
                if (end <= state->Limit && end > cursor)
                {
                    state->Cursor = end;
                    return (void*)cursor;
                }
            }
        }
        else if (usual && lifetime == Lifetime.TempJob && bytes <= QuickThread.JobLimitBytes)
        {
            nint* slot = (nint*)QuickThread.TempJob;
            if (slot != null)
            {
                var state = (NativeTempJobState*)*slot;
                ulong cursor = state->Cursor;
                ulong end = QuickThread.EndOfJob(cursor, bytes);
                if (end <= Volatile.Read(ref state->Limit))
                {
                    return QuickThread.TakeJob(state, cursor, end, bytes);
                }
            }
        }
        return AllocateByCall(bytes, lifetime, alignment);
    }

    /// <summary>Allocates uninitialized memory, or returns null when out of memory.</summary>
    /// <param name="bytes">The size in bytes; zero counts as one.</param>
    /// <param name="lifetime">How long the memory is held.</param>
    /// <param name="alignment">The alignment in bytes, a power of two.</param>
    /// <returns>The block, as for <see cref="Allocate(nuint, Lifetime, nuint)"/>; null when out of memory, which
    /// changes nothing.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The alignment is not a power of two, or the lifetime is not
    /// valid.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void* TryAllocate(nuint bytes, Lifetime lifetime, nuint alignment = DefaultAlignment)
    {
        bool usual = alignment <= DefaultAlignment && (UsualAlignments >> (int)alignment & 1) != 0;
        if (usual && lifetime == Lifetime.Persistent && bytes <= QuickThread.ClassesLimitBytes)
        {
            nint* slot = (nint*)QuickThread.HeapCache;
            if (slot != null && *slot != 0)
            {
                NativeBlockCache* blocks = QuickThread.BlocksFor(*slot, bytes);
                uint count = blocks->Count;
                if (count != 0)
                {
                    return QuickThread.Take(blocks, count);
                }
            }
        }
        else if (usual && lifetime == Lifetime.Temp)
        {
            var state = (NativeTempState*)QuickThread.Temp;
            if (state != null)
            {
                ulong cursor = state->Cursor;
                ulong end = QuickThread.EndOf(cursor, bytes);
                if (end <= state->Limit && end > cursor)
                {
                    state->Cursor = end;
                    return (void*)cursor;
                }
            }
        }
        else if (usual && lifetime == Lifetime.TempJob && bytes <= QuickThread.JobLimitBytes)
        {
            nint* slot = (nint*)QuickThread.TempJob;
            if (slot != null)
            {
                var state = (NativeTempJobState*)*slot;
                ulong cursor = state->Cursor;
                ulong end = QuickThread.EndOfJob(cursor, bytes);
                if (end <= Volatile.Read(ref state->Limit))
                {
                    return QuickThread.TakeJob(state, cursor, end, bytes);
                }
            }
        }
        return TryAllocateByCall(bytes, lifetime, alignment);
    }

    /// <summary>Frees a block. Null is allowed and does nothing.</summary>
    /// <remarks>Temp: does nothing until its scope, reset or frame ends. TempJob and Persistent: may be called on any
    /// thread, even after the allocating thread has ended.</remarks>
    /// <param name="block">A block allocated with this lifetime and not deallocated since.</param>
    /// <param name="lifetime">The lifetime that the block was allocated with.</param>
    /// <exception cref="ArgumentOutOfRangeException">The lifetime is not valid.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Deallocate(void* block, Lifetime lifetime)
    {
        if (lifetime == Lifetime.Persistent && !QuickThread.IsSpecial(block))
        {
            nint* slot = (nint*)QuickThread.HeapCache;
            if (slot != null && *slot != 0)
            {
                NativeBlockCache* blocks = QuickThread.Blocks(*slot, QuickThread.NumberOf(block));
                uint count = blocks->Count;
                if (count < blocks->Capacity)
                {
                    QuickThread.Put(blocks, count, block);
                    return;
                }
            }
        }
        else if (lifetime == Lifetime.Temp && QuickThread.Temp != 0)
        {
            return; // its scope frees it; only checked builds check it, and they take the slow path
        }
        else if (lifetime == Lifetime.TempJob && QuickThread.TempJob != 0 && block != null && QuickThread.PutJob(block))
        {
            return;
        }
        DeallocateByCall(block, lifetime);
    }

    /// <summary>Frees a block of known size. Null is allowed and does nothing.</summary>
    /// <remarks>Temp: frees the block immediately if it is the newest one. The others: checked builds compare the
    /// size.</remarks>
    /// <param name="block">A block allocated with this lifetime and size, and not deallocated since.</param>
    /// <param name="bytes">The size that it was allocated with, or last reallocated to.</param>
    /// <param name="lifetime">The lifetime that the block was allocated with.</param>
    /// <exception cref="ArgumentOutOfRangeException">The lifetime is not valid.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Deallocate(void* block, nuint bytes, Lifetime lifetime)
    {
        if (lifetime == Lifetime.Persistent && bytes <= QuickThread.ClassesLimitBytes && !QuickThread.IsSpecial(block))
        {
            nint* slot = (nint*)QuickThread.HeapCache;
            if (slot != null && *slot != 0)
            {
                // The segment determines the block's class, even here: a block that was reallocated in place may have
                // another class than its size gives, and a block of an owner tag must not enter a cache that has no
                // tag. But both nearly always agree, so the size selects the cache: the processor predicts the branch
                // and does not wait for the class. A free directly after its allocation, and the next allocation after
                // it, depend on each other through the cache's count; waiting for the class was half of that delay.
                nuint number = QuickThread.NumberFor(bytes);
                NativeBlockCache* blocks = QuickThread.Blocks(*slot, number);
                uint count = blocks->Count;
                if (QuickThread.NumberOf(block) == number && count < blocks->Capacity)
                {
                    QuickThread.Put(blocks, count, block);
                    return;
                }
            }
        }
        else if (lifetime == Lifetime.Temp && block != null)
        {
            var state = (NativeTempState*)QuickThread.Temp;
            // In the thread's own range, moving the cursor back is enough to free the newest block.
            if (state != null && state->Region == 0 && QuickThread.EndOf((ulong)block, bytes) == state->Cursor)
            {
                state->Cursor = (ulong)block;
                return;
            }
        }
        else if (lifetime == Lifetime.TempJob && QuickThread.TempJob != 0 && block != null && QuickThread.PutJob(block))
        {
            return;
        }
        DeallocateByCall(block, bytes, lifetime);
    }

    /// <summary>Serves scopes when the thread's Temp has no room left.</summary>
    internal static void* AllocateFromTemp(nuint bytes, nuint alignment) => AllocateByCall(bytes, Lifetime.Temp, alignment);

    /// <summary>Resizes a Temp block in place, if it is the newest one and there is room.</summary>
    /// <param name="block">The block, or null.</param>
    /// <param name="bytes">The size that it was allocated with.</param>
    /// <param name="newBytes">The new size in bytes.</param>
    /// <returns><c>true</c> if the block has the new size; <c>false</c> if nothing has changed.</returns>
    internal static bool TryResizeNewestTemp(void* block, nuint bytes, nuint newBytes)
    {
        var state = (NativeTempState*)QuickThread.Temp;
        // Only in the thread's own range, as when freeing the newest block.
        if (block == null || state == null || state->Region != 0 || QuickThread.EndOf((ulong)block, bytes) != state->Cursor)
        {
            return false;
        }
        ulong end = QuickThread.EndOf((ulong)block, newBytes);
        if (end > state->Limit || end <= (ulong)block)
        {
            return false;
        }
        state->Cursor = end;
        return true;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void* AllocateByCall(nuint bytes, Lifetime lifetime, nuint alignment)
    {
        void* block = TryAllocateByCall(bytes, lifetime, alignment);
        if (block == null)
        {
            Throw.Refused(bytes, $"Lifetime.{lifetime}");
        }
        return block;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void* TryAllocateByCall(nuint bytes, Lifetime lifetime, nuint alignment)
    {
        Throw.UnlessLifetime(lifetime);
        Throw.UnlessPowerOfTwo(alignment);
        bool quick = QuickThread.Attach();
        if (lifetime != Lifetime.Persistent || alignment > DefaultAlignment)
        {
            NativeLibraryCheck.Ensure();
            return NativeMethods.tn_allocate(bytes, alignment, (uint)lifetime);
        }
        return quick && bytes > QuickThread.ClassesLimitBytes ? AllocateMedium(bytes) : AllocatePersistent(bytes);
    }

    /// <summary>Handles sizes beyond the class table: tries the thread's cache without leaving managed code.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void* AllocateMedium(nuint bytes)
    {
        void* block = NativeMethods.tn_try_malloc(bytes);
        return block != null ? block : NativeMethods.tn_malloc(bytes);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void* AllocatePersistent(nuint bytes)
    {
        NativeLibraryCheck.Ensure();
        return NativeMethods.tn_malloc(bytes);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void DeallocateByCall(void* block, Lifetime lifetime)
    {
        Throw.UnlessLifetime(lifetime);
        if (block == null)
        {
            return;
        }
        QuickThread.Attach();
        NativeLibraryCheck.Ensure();
        NativeMethods.tn_deallocate(block, (uint)lifetime);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void DeallocateByCall(void* block, nuint bytes, Lifetime lifetime)
    {
        Throw.UnlessLifetime(lifetime);
        if (block == null)
        {
            return;
        }
        bool quick = QuickThread.Attach();
        NativeLibraryCheck.Ensure();
        if (lifetime == Lifetime.Persistent && quick)
        {
            Deallocate(block, lifetime); // the class differs from the size's; the segment's class is used
            return;
        }
        if (lifetime == Lifetime.Persistent)
        {
            NativeMethods.tn_free_sized(block, bytes); // compares the size in checked builds
            return;
        }
        NativeMethods.tn_deallocate_sized(block, bytes, (uint)lifetime);
    }
}
