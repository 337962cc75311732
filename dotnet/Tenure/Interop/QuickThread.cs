// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

namespace Tenure;

/// <summary>Allocates and frees without a native call, as the C++ inline paths do; see tn_quick_layout.</summary>
/// <remarks>
/// <para>A call from C# into C costs 3 ns, twice the cost of the allocation itself. This class therefore reads and
/// writes the thread's caches of free blocks, its Temp and TempJob positions and the table of size classes directly, at the offsets
/// that tenure_quick.h fixes.</para>
/// <para>The fixed values are constants here, so the compiler puts them into the instructions. They are compared with
/// the library's values before the first use. If one differs, or if the library requires every call (checked builds,
/// passthrough), the thread statics below stay zero and all requests take the slow path. A single test therefore shows
/// both that the thread is attached and that the quick paths may be used.</para>
/// <para>The garbage collector may stop a thread between any two of these loads and stores. That is safe: only the
/// owning thread writes this data, except for TempJob's limit, which another thread may set to zero, and the state bytes
/// of its blocks, which any thread may free.</para>
/// </remarks>
internal static unsafe class QuickThread
{
    internal const nuint ClassesLimitBytes = 1024;
    internal const nuint JobLimitBytes = 1 << 15; // the library decides whether larger blocks share a chunk
    private const int CachesOffset = 0;
    private const int SegmentShift = 25;
    private const int SliceShift = 15;
    private const int ClassesOfSlicesOffset = 0;
    private const int JobChunkShift = 16;
    private const int JobStatesOffset = 64;
    private const nuint SegmentMask = ((nuint)1 << SegmentShift) - 1;

    /// <summary>The location of the calling thread's pointer to its heap cache; zero until <see cref="Attach"/>, and
    /// always zero if the quick paths are not available.</summary>
    [ThreadStatic]
    internal static nint HeapCache;

    /// <summary>The calling thread's <see cref="NativeTempState"/>; zero as for <see cref="HeapCache"/>.</summary>
    [ThreadStatic]
    internal static nint Temp;

    /// <summary>The location of the calling thread's pointer to its <see cref="NativeTempJobState"/>; zero as for
    /// <see cref="HeapCache"/>.</summary>
    [ThreadStatic]
    internal static nint TempJob;

    /// <summary>The number of open <see cref="TempScope"/>s on the calling thread, which is the number of the innermost
    /// one.</summary>
    [ThreadStatic]
    internal static uint InnermostScope;

    /// <summary>The distance from a thread's Temp state to its owner tag. It is the same for all threads, since both
    /// are in the library.</summary>
    private static nint _tagFromTemp;

    /// <summary>0 not checked, 1 available, 2 not available: every request takes the slow path.</summary>
    private static int _availability;

    private static nint _noTemp;

    /// <summary>The size class for each size divided by eight. Blocks are at multiples of 16, so the class of 8 bytes
    /// is not used.</summary>
    private static ReadOnlySpan<byte> ClassOfEights =>
    [
        1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 9, 9, 10, 10, 10,
        10, 11, 11, 11, 11, 12, 12, 12, 12, 13, 13, 13, 13, 13, 13, 13, 13, 14, 14, 14, 14, 14, 14, 14,
        14, 15, 15, 15, 15, 15, 15, 15, 15, 16, 16, 16, 16, 16, 16, 16, 16, 17, 17, 17, 17, 17, 17, 17,
        17, 17, 17, 17, 17, 17, 17, 17, 17, 18, 18, 18, 18, 18, 18, 18, 18, 18, 18, 18, 18, 18, 18, 18,
        18, 19, 19, 19, 19, 19, 19, 19, 19, 19, 19, 19, 19, 19, 19, 19, 19, 20, 20, 20, 20, 20, 20, 20,
        20, 20, 20, 20, 20, 20, 20, 20, 20,
    ];

    // The callers write out the steps below instead of sharing a function that returns success: the compiler would test
    // that result again, which costs half a nanosecond per free.

    /// <summary>Gets the cache of free blocks for a size, at multiples of 16. Requires at most
    /// <see cref="ClassesLimitBytes"/>.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static NativeBlockCache* BlocksFor(nint cache, nuint bytes) =>
        Blocks(cache, NumberFor(bytes));

    /// <summary>Gets the cache of free blocks of a class.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static NativeBlockCache* Blocks(nint cache, nuint number) =>
        (NativeBlockCache*)(cache + CachesOffset) + number;

    /// <summary>Gets the number of the class of a size. Requires at most <see cref="ClassesLimitBytes"/>.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static nuint NumberFor(nuint bytes) =>
        Unsafe.Add(ref MemoryMarshal.GetReference(ClassOfEights), (bytes + 7) >> 3);

    /// <summary>Whether the pointer is null or the start of a segment, which is never a small block.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static bool IsSpecial(void* block) => ((nuint)block & SegmentMask) == 0;

    /// <summary>Gets the number of a block's class from its segment, or that of a class whose cache has no room.
    /// Requires a block that is not special.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static nuint NumberOf(void* block)
    {
        nuint inside = (nuint)block & SegmentMask;
        return ((byte*)block - inside + ClassesOfSlicesOffset)[inside >> SliceShift];
    }

    /// <summary>Takes the last block. Requires that <paramref name="count"/> is the cache's count and not
    /// zero.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static void* Take(NativeBlockCache* blocks, uint count)
    {
        void* block = blocks->Blocks[count - 1];
        blocks->Count = count - 1;
        return block;
    }

    /// <summary>Appends a block. Requires that <paramref name="count"/> is the cache's count and below its
    /// capacity.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static void Put(NativeBlockCache* blocks, uint count, void* block)
    {
        blocks->Blocks[count] = block;
        Volatile.Write(ref blocks->Count, count + 1); // the count is written last, for the child of a fork
    }

    /// <summary>Whether an owner tag is set on the thread of this Temp state, which is the calling thread.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static bool HasTag(NativeTempState* state) => *(ushort*)((byte*)state + _tagFromTemp) != 0;

    /// <summary>Allocates a block from the calling thread's Temp at a multiple of 16; null if there is no
    /// room.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static void* Bump(NativeTempState* state, nuint bytes)
    {
        ulong cursor = state->Cursor;
        ulong end = cursor + Rounded(bytes);
        // Sizes near the maximum wrap around to the cursor or below it.
        if (end > state->Limit || end <= cursor)
        {
            return null;
        }
        state->Cursor = end;
        return (void*)cursor;
    }

    /// <summary>Gets the end of a Temp block that begins at the cursor; not past the cursor if the sum
    /// overflows.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static ulong EndOf(ulong cursor, nuint bytes) => cursor + Rounded(bytes);

    /// <summary>Gets the space of a Temp block: a multiple of 16, and 16 for zero bytes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static ulong Rounded(nuint bytes) => ((ulong)bytes + (bytes == 0 ? 16u : 15u)) & ~15ul;

    /// <summary>Gets the end of a TempJob block, with its header, that begins at the cursor.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static ulong EndOfJob(ulong cursor, nuint bytes) =>
        cursor + (((ulong)bytes + (bytes == 0 ? 24u : 23u)) & ~15ul);

    /// <summary>Allocates the TempJob block whose header begins at the cursor. Requires <paramref name="end"/> from
    /// <see cref="EndOfJob"/>, at most the limit.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static void* TakeJob(NativeTempJobState* state, ulong cursor, ulong end, nuint bytes)
    {
        *(ulong*)cursor = state->Word | bytes;
        byte* block = (byte*)cursor + sizeof(ulong);
        Volatile.Write(ref *StateOfJob(block), 1); // a thread that sees the block live also sees its header
        Volatile.Write(ref state->Cursor, end); // the end of a frame sees the blocks before the cursor
        return block;
    }

    /// <summary>Frees a TempJob block of any thread.</summary>
    /// <returns><c>false</c> if only the library can free it or report it.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static bool PutJob(void* block)
    {
        bool inChunk = ((long*)block)[-1] >= 0;
        byte* state = StateOfJob(block);
        if (!inChunk || Volatile.Read(ref *state) == 0)
        {
            return false;
        }
        Volatile.Write(ref *state, 0);
        return true;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static byte* StateOfJob(void* block)
    {
        nuint inside = (nuint)block & (((nuint)1 << JobChunkShift) - 1);
        return (byte*)block - inside + JobStatesOffset + (inside >> 4);
    }

    /// <summary>Replaces a thread's Temp state in scopes where every request is a native call: it has no room and
    /// matches no region.</summary>
    internal static NativeTempState* NoTemp
    {
        get
        {
            if (_noTemp == 0)
            {
                var made = (NativeTempState*)RuntimeHelpers.AllocateTypeAssociatedMemory(
                    typeof(QuickThread), sizeof(NativeTempState));
                made->Region = ulong.MaxValue;
                Interlocked.CompareExchange(ref _noTemp, (nint)made, 0); // if not first, these 24 bytes are lost
            }
            return (NativeTempState*)_noTemp;
        }
    }

    /// <summary>Makes the quick paths available on the calling thread, if the process has them.</summary>
    /// <returns><c>true</c> if the process has them; otherwise <c>false</c>.</returns>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    [MethodImpl(MethodImplOptions.NoInlining)]
    internal static bool Attach()
    {
        if (HeapCache != 0)
        {
            return true;
        }
        int availability = Volatile.Read(ref _availability);
        if (availability == 0)
        {
            NativeLibraryCheck.Ensure();
            availability = IsAsExpected() ? 1 : 2;
            Volatile.Write(ref _availability, availability);
        }
        if (availability != 1)
        {
            return false;
        }
        var thread = new NativeQuickThread();
        NativeMethods.tn_get_quick_thread(&thread);
        nint tagFromTemp = (nint)thread.Tag - (nint)thread.Temp;
        if (Interlocked.CompareExchange(ref _tagFromTemp, tagFromTemp, 0) is var known && (known == 0 || known == tagFromTemp))
        {
            Temp = (nint)thread.Temp;
        }
        TempJob = (nint)thread.TempJob;
        HeapCache = (nint)thread.HeapCache;
        return true;
    }

    /// <summary>Whether the library's layout matches the constants here.</summary>
    private static bool IsAsExpected()
    {
        var layout = new NativeQuickLayout();
        NativeMethods.tn_get_quick_layout(&layout);
        if (layout.IsAvailable == 0)
        {
            return false;
        }
        bool known = layout.CachesOffset == CachesOffset && layout.ClassesLimitBytes == ClassesLimitBytes
            && layout.SegmentShift == SegmentShift && layout.SliceShift == SliceShift
            && layout.ClassesOfSlicesOffset == ClassesOfSlicesOffset
            && layout.JobChunkShift == JobChunkShift && layout.JobStatesOffset == JobStatesOffset;
        ReadOnlySpan<byte> here = ClassOfEights;
        for (int eights = 0; known && eights < here.Length; eights++)
        {
            known = here[eights] == layout.ClassOfEights[eights < 2 ? 2 : eights];
        }
        return known;
    }
}
