// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

namespace Tenure;

/// <summary>Accesses the words of the handle table without calling the library.</summary>
/// <remarks>A word has the generation in its lower half and the number of holds in its upper half. The steps and their
/// order are those of handle/handle_table.hpp: add first, check the result, and undo the addition when the handle was
/// stale.</remarks>
internal static unsafe class HandleWords
{
    internal const long OneHolder = 1L << 32;

    /// <summary>The word of a handle with 2^31 - 1 holds, the maximum.</summary>
    private const ulong MaxHolders = (ulong)int.MaxValue << 32;

    /// <summary>The word of entry zero, in the table too. Its generation is even, so no handle compared with it is
    /// live.</summary>
    private const ulong NothingWord = uint.MaxValue - 1;

    private static bool s_nothing;

    // No static constructor and no exception: a program without the native library can still check whether a handle is
    // live.
    private static readonly ulong* s_words = Find();
    private static readonly uint* s_generations = s_nothing ? (uint*)s_words : NativeMethods.tn_handle_generations();

    /// <summary>Gets a value that indicates whether the table existed when it was first looked up.</summary>
    internal static bool AreThere => (uint)*s_words == (uint)NothingWord && !s_nothing;

    private static ulong* Find()
    {
        ulong* words = null;
        try
        {
            NativeLibraryCheck.Ensure();
            words = NativeMethods.tn_handle_words();
        }
        catch (TenureLoadException)
        {
        }
        if (words is null)
        {
            s_nothing = true;
            words = (ulong*)NativeMemory.Alloc(sizeof(ulong));
            *words = NothingWord;
        }
        return words;
    }

    /// <summary>Returns the address of an entry's word. Buffers store this address, so that a check does not need the
    /// table.</summary>
    internal static ulong* Of(uint entry) => s_words + entry;

    internal static uint EntryOf(ulong* word) => word is null ? 0 : (uint)(word - s_words);

    /// <summary>Checks with one load and one compare, never reordered with later reads of the caller. Requires a
    /// word.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static bool IsStale(ulong* word, uint generation) => (uint)Volatile.Read(ref *word) != generation;

    /// <summary>Same check for a handle that may be a default value, which has no word.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static bool IsLive(ulong* word, uint generation) => word is not null && !IsStale(word, generation);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static void ThrowIfStale(ulong* word, uint generation)
    {
        if (!IsLive(word, generation))
        {
            BufferErrors.ThrowStale(word, generation);
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static void Acquire(ulong* word, uint generation)
    {
        if (word is null)
        {
            BufferErrors.ThrowStale(word, generation);
        }
        long before = Interlocked.Add(ref *(long*)word, OneHolder) - OneHolder;
        if ((uint)before != generation || (ulong)before >= MaxHolders)
        {
            UndoAcquire(word, before, generation);
        }
    }

    /// <summary>Releases one hold. Checks first, with the generation stored apart from the count: a mistaken release
    /// must not take a hold of the entry's current owner.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static void Release(ulong* word, uint generation)
    {
        if (word is null || GenerationOf(word) != generation)
        {
            BufferErrors.ThrowStale(word, generation);
        }
        long before = Interlocked.Add(ref *(long*)word, -OneHolder) + OneHolder;
        if ((uint)before != generation || (ulong)before < (ulong)OneHolder)
        {
            UndoRelease(word, before, generation);
        }
    }

    /// <summary>Reads the generation of an entry. Generations are half as large as words.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static uint GenerationOf(ulong* word) =>
        Volatile.Read(ref *(uint*)((byte*)s_generations + (((byte*)word - (byte*)s_words) >> 1)));

    /// <summary>Returns the count, or zero while a mistaken release is about to be undone: a count of 2^31 or more is
    /// really one below zero.</summary>
    internal static int Counted(uint holders) => (int)holders < 0 ? 0 : (int)holders;

    /// <summary>Returns the number of holds; zero when the handle is stale.</summary>
    internal static int Holders(ulong* word, uint generation)
    {
        if (word is null)
        {
            return 0;
        }
        ulong seen = Volatile.Read(ref *word);
        return (uint)seen == generation ? Counted((uint)(seen >> 32)) : 0;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void UndoAcquire(ulong* word, long before, uint generation)
    {
        Interlocked.Add(ref *(long*)word, -OneHolder);
        if ((uint)before != generation)
        {
            BufferErrors.ThrowStale(word, generation);
        }
        // No handle has this many holds: a count below zero is a mistaken release that has not been undone yet. The
        // library waits for it.
        var handle = new NativeHandle(0, 0, EntryOf(word), generation);
        int status = NativeMethods.tn_handle_acquire(&handle);
        if (status == NativeMethods.StaleHandle)
        {
            BufferErrors.ThrowStale(word, generation);
        }
        if (status != NativeMethods.Ok)
        {
            BufferErrors.ThrowHeldTooOften();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void UndoRelease(ulong* word, long before, uint generation)
    {
        Interlocked.Add(ref *(long*)word, OneHolder);
        if ((uint)before != generation)
        {
            BufferErrors.ThrowStale(word, generation);
        }
        BufferErrors.ThrowNotHeld();
    }
}
