// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

namespace Tenure;

/// <summary>What lets C# allocate and free as the C++ inline paths do, without a call: see tn_quick_layout.</summary>
/// <remarks>
/// <para>A call from C# into C costs 3 ns, twice what the allocation itself does. So the thread's caches of free
/// blocks, its place in Temp and the table of size classes are read and written here, at the places that tenure.h
/// fixes.</para>
/// <para>What is fixed is written as constants, which the compiler puts into the instructions, and compared with what
/// the library says before the first use: where one differs, and where the library wants every call (checked builds,
/// passthrough), the thread statics below stay zero and everything goes the long way. So the test whether a thread has
/// been here before is also the test whether the quick paths may be taken, and no second one is needed.</para>
/// <para>A collection may stop a thread between any two of these loads and stores. Nothing is lost by it: what they
/// touch is the thread's own, and others read the counts at most.</para>
/// </remarks>
internal static unsafe class QuickThread
{
    internal const nuint ClassesLimitBytes = 1024;
    private const int CachesOffset = 128;
    private const int SegmentShift = 25;
    private const int SliceShift = 15;
    private const int ClassesOfSlicesOffset = 0;
    private const nuint SegmentMask = ((nuint)1 << SegmentShift) - 1;

    /// <summary>Where the calling thread's pointer to its heap cache lies; zero until <see cref="Attach"/>, or for
    /// good.</summary>
    [ThreadStatic]
    internal static nint HeapCache;

    /// <summary>The calling thread's <see cref="NativeTempState"/>; zero as above.</summary>
    [ThreadStatic]
    internal static nint Temp;

    /// <summary>How many <see cref="TempScope"/>s the calling thread has open: the number of the innermost
    /// one.</summary>
    [ThreadStatic]
    internal static uint InnermostScope;

    /// <summary>How far the number of a thread's owner tag lies from its Temp: the same for all, as both are the
    /// library's.</summary>
    private static nint _tagFromTemp;

    /// <summary>0 not asked, 1 available, 2 not: every request takes the long way.</summary>
    private static int _availability;

    private static nint _noTemp;

    /// <summary>The class of a size by eights. Blocks lie at multiples of 16, so the class of 8 bytes is not among
    /// them.</summary>
    private static ReadOnlySpan<byte> ClassOfEights =>
    [
        1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 9, 9, 10, 10, 10,
        10, 11, 11, 11, 11, 12, 12, 12, 12, 13, 13, 13, 13, 13, 13, 13, 13, 14, 14, 14, 14, 14, 14, 14,
        14, 15, 15, 15, 15, 15, 15, 15, 15, 16, 16, 16, 16, 16, 16, 16, 16, 17, 17, 17, 17, 17, 17, 17,
        17, 17, 17, 17, 17, 17, 17, 17, 17, 18, 18, 18, 18, 18, 18, 18, 18, 18, 18, 18, 18, 18, 18, 18,
        18, 19, 19, 19, 19, 19, 19, 19, 19, 19, 19, 19, 19, 19, 19, 19, 19, 20, 20, 20, 20, 20, 20, 20,
        20, 20, 20, 20, 20, 20, 20, 20, 20,
    ];

    // The callers below write out what they do with these, instead of sharing a function that says whether it worked:
    // the compiler tests such an answer once more, and a free costs half a nanosecond more for it.

    /// <summary>Free blocks that serve a size, at multiples of 16. Requires at most
    /// <see cref="ClassesLimitBytes"/>.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static NativeBlockCache* BlocksFor(nint cache, nuint bytes) =>
        Blocks(cache, NumberFor(bytes));

    /// <summary>Free blocks of a class.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static NativeBlockCache* Blocks(nint cache, nuint number) =>
        (NativeBlockCache*)(cache + CachesOffset) + number;

    /// <summary>The number of a size's class. Requires at most <see cref="ClassesLimitBytes"/>.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static nuint NumberFor(nuint bytes) =>
        Unsafe.Add(ref MemoryMarshal.GetReference(ClassOfEights), (bytes + 7) >> 3);

    /// <summary>Whether it is null or the begin of a segment, which no small block is.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static bool IsSpecial(void* block) => ((nuint)block & SegmentMask) == 0;

    /// <summary>The number of a block's class, or one whose cache has no room, as its segment says. Requires a block
    /// that is not special.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static nuint NumberOf(void* block)
    {
        nuint inside = (nuint)block & SegmentMask;
        return ((byte*)block - inside + ClassesOfSlicesOffset)[inside >> SliceShift];
    }

    /// <summary>Takes the last block. Requires <paramref name="count"/> is the cache's, and not zero.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static void* Take(NativeBlockCache* blocks, uint count)
    {
        void* block = blocks->Blocks[count - 1];
        blocks->Count = count - 1;
        return block;
    }

    /// <summary>Puts a block at the end. Requires <paramref name="count"/> is the cache's, and below its
    /// capacity.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static void Put(NativeBlockCache* blocks, uint count, void* block)
    {
        blocks->Blocks[count] = block;
        Volatile.Write(ref blocks->Count, count + 1); // in this order for the child of a fork
    }

    /// <summary>Whether an owner tag is set on the thread whose Temp this is: the calling one.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static bool HasTag(NativeTempState* state) => *(ushort*)((byte*)state + _tagFromTemp) != 0;

    /// <summary>A block of the calling thread's Temp at a multiple of 16; null when there is no room.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static void* Bump(NativeTempState* state, nuint bytes)
    {
        ulong cursor = state->Cursor;
        ulong end = cursor + Rounded(bytes);
        // Sizes near the end of the number range come round to less than the cursor, or to the cursor itself.
        if (end > state->Limit || end <= cursor)
        {
            return null;
        }
        state->Cursor = end;
        return (void*)cursor;
    }

    /// <summary>Where a block of Temp that begins at the cursor would end; not past the cursor when there is no
    /// room.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static ulong EndOf(ulong cursor, nuint bytes) => cursor + Rounded(bytes);

    /// <summary>What a block of Temp takes up: a multiple of 16, and one granule for zero bytes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static ulong Rounded(nuint bytes) => ((ulong)bytes + (bytes == 0 ? 16u : 15u)) & ~15ul;

    /// <summary>Stands for a thread's Temp in scopes where every request is a call: it has no room, and no region is
    /// its.</summary>
    internal static NativeTempState* NoTemp
    {
        get
        {
            if (_noTemp == 0)
            {
                var made = (NativeTempState*)RuntimeHelpers.AllocateTypeAssociatedMemory(
                    typeof(QuickThread), sizeof(NativeTempState));
                made->Region = ulong.MaxValue;
                Interlocked.CompareExchange(ref _noTemp, (nint)made, 0); // the other one, if any, is lost: 24 bytes
            }
            return (NativeTempState*)_noTemp;
        }
    }

    /// <summary>Makes the calling thread's quick paths available, where the process has them.</summary>
    /// <returns>Whether it has.</returns>
    /// <exception cref="TenureLoadException">There is no library, or another version's.</exception>
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
        HeapCache = (nint)thread.HeapCache;
        return true;
    }

    /// <summary>Whether blocks may be handed out and taken back without a call.</summary>
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
            && layout.ClassesOfSlicesOffset == ClassesOfSlicesOffset;
        ReadOnlySpan<byte> here = ClassOfEights;
        for (int eights = 0; known && eights < here.Length; eights++)
        {
            known = here[eights] == layout.ClassOfEights[eights < 2 ? 2 : eights];
        }
        return known;
    }
}
