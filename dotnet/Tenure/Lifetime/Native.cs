// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>
/// Native memory by how long it is held: <see cref="Lifetime.Temp"/>, <see cref="Lifetime.TempJob"/>,
/// <see cref="Lifetime.Persistent"/>, and the frames that the first two live by.
/// </summary>
/// <remarks>
/// <para><b>Use it for</b> memory that the garbage collector is to know nothing of.
/// <b>Not for</b> many objects of one type: <see cref="Pool{T}"/>; what dies together: <see cref="Arena"/>; memory with
/// an owner that is checked: the buffers.</para>
/// <para><b>Memory from</b> the process heap, which C and C++ in this process share.
/// <b>Cost</b> Persistent up to 1024 bytes, and Temp, without a call into native code while the thread has memory at
/// hand; otherwise a call. <b>Overhead</b> Persistent none but rounding, by an eighth on average; Temp rounds to 16
/// bytes; TempJob 8 bytes a block.</para>
/// <para><b>Threads</b> any; Temp is each thread's own. <b>When full</b> <c>Try…</c> returns null, the others throw
/// <see cref="OutOfMemoryException"/>; nothing has changed then.</para>
/// <para>Memory is not initialised unless a name says so. Nothing here keeps a block from being used after it was
/// freed: checked builds of the native library report what they see of it.</para>
/// </remarks>
public static unsafe partial class Native
{
    /// <summary>What blocks are aligned to when nothing else is asked for, in bytes.</summary>
    public const int DefaultAlignment = 16;

    /// <summary>Alignments up to 16, as a set: bit n for alignment n.</summary>
    private const uint UsualAlignments = 1u << 1 | 1u << 2 | 1u << 4 | 1u << 8 | 1u << 16;

    /// <summary>Allocates memory, not initialised.</summary>
    /// <param name="bytes">How much; zero counts as one.</param>
    /// <param name="lifetime">How long it is held.</param>
    /// <param name="alignment">A power of two, in bytes.</param>
    /// <returns>The block's begin, at a multiple of <paramref name="alignment"/>. Temp: valid until the end of the
    /// innermost <see cref="TempScope"/>, reset or frame; otherwise until it is deallocated.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The alignment is no power of two, or the lifetime is
    /// none.</exception>
    /// <exception cref="OutOfMemoryException">The system refuses; nothing has changed.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void* Allocate(nuint bytes, Lifetime lifetime, nuint alignment = DefaultAlignment)
    {
        // Folds away where lifetime and alignment are constants.
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
        return AllocateByCall(bytes, lifetime, alignment);
    }

    /// <summary>Allocates memory, not initialised, unless it is refused.</summary>
    /// <param name="bytes">How much; zero counts as one.</param>
    /// <param name="lifetime">How long it is held.</param>
    /// <param name="alignment">A power of two, in bytes.</param>
    /// <returns>As <see cref="Allocate(nuint, Lifetime, nuint)"/>; null when refused, and then nothing has
    /// changed.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The alignment is no power of two, or the lifetime is
    /// none.</exception>
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
        return TryAllocateByCall(bytes, lifetime, alignment);
    }

    /// <summary>Gives a block back. Null is allowed and does nothing.</summary>
    /// <remarks>Temp: does nothing until its scope, reset or frame ends. TempJob and Persistent: from any thread, also
    /// when the allocating one has ended.</remarks>
    /// <param name="block">Allocated with this lifetime and not deallocated since.</param>
    /// <param name="lifetime">What it was allocated with.</param>
    /// <exception cref="ArgumentOutOfRangeException">The lifetime is none.</exception>
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
            return; // it waits for its scope; only checked builds look at it, and they take the long way
        }
        DeallocateByCall(block, lifetime);
    }

    /// <summary>Gives a block back whose size is known. Null is allowed and does nothing.</summary>
    /// <remarks>Temp: takes it back at once when it is the newest one. The others: checked builds compare the
    /// size.</remarks>
    /// <param name="block">Allocated with this lifetime and size, and not deallocated since.</param>
    /// <param name="bytes">What it was allocated with, or last reallocated to.</param>
    /// <param name="lifetime">What it was allocated with.</param>
    /// <exception cref="ArgumentOutOfRangeException">The lifetime is none.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Deallocate(void* block, nuint bytes, Lifetime lifetime)
    {
        if (lifetime == Lifetime.Persistent && bytes <= QuickThread.ClassesLimitBytes && !QuickThread.IsSpecial(block))
        {
            nint* slot = (nint*)QuickThread.HeapCache;
            if (slot != null && *slot != 0)
            {
                // The class is what the block's segment says, also here: a block that was reallocated where it is has
                // another than its size would give, and one of an owner tag must not get into a cache that has none.
                // But where both agree, which is nearly always, the cache is found by the size: the processor foresees
                // the branch and does not wait for the class. A free right after its allocation, and the next
                // allocation after it, wait for one another through the cache's count, and this was half of the wait.
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
            // In the thread's own range the newest block is taken back by the cursor alone.
            if (state != null && state->Region == 0 && QuickThread.EndOf((ulong)block, bytes) == state->Cursor)
            {
                state->Cursor = (ulong)block;
                return;
            }
        }
        DeallocateByCall(block, bytes, lifetime);
    }

    /// <summary>For scopes, when the thread's Temp has no room at hand.</summary>
    internal static void* AllocateFromTemp(nuint bytes, nuint alignment) => AllocateByCall(bytes, Lifetime.Temp, alignment);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void* AllocateByCall(nuint bytes, Lifetime lifetime, nuint alignment)
    {
        void* block = TryAllocateByCall(bytes, lifetime, alignment);
        if (block == null)
        {
            Throw.Refused(bytes, lifetime.ToString());
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

    /// <summary>Past the table of classes: what the thread has at hand is asked for without leaving managed
    /// code.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void* AllocateMedium(nuint bytes)
    {
        void* block = NativeMethods.tn_try_alloc(bytes);
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
            Deallocate(block, lifetime); // of another class than the size has: what its segment says is enough
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
