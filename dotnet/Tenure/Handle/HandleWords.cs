// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

namespace Tenure;

/// <summary>What C# does with the words of the handle table without a call.</summary>
/// <remarks>
/// A word has the generation in its lower half and the number of holders in its upper one. The same steps in the same
/// order as in handle/handle_table.hpp: additions that are looked at afterwards, and undone when the handle was
/// stale.
/// </remarks>
internal static unsafe class HandleWords
{
    internal const long OneHolder = 1L << 32;

    /// <summary>The word of what is held 2^31 - 1 times, which is as often as anything may be.</summary>
    private const ulong MaxHolders = (ulong)int.MaxValue << 32;

    /// <summary>What entry zero has, in the table too: an even generation, so that nothing it is compared with is
    /// live.</summary>
    private const ulong NothingWord = uint.MaxValue - 1;

    private static bool s_nothing;

    // No static constructor and no exception: a program without the native library may still ask a handle whether it is
    // live.
    private static readonly ulong* s_words = Find();
    private static readonly uint* s_generations = s_nothing ? (uint*)s_words : NativeMethods.tn_handle_generations();

    /// <summary>Whether the table was there when it was first looked for.</summary>
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

    /// <summary>Where an entry's word is: what buffers carry, so that a check needs no table.</summary>
    internal static ulong* Of(uint entry) => s_words + entry;

    internal static uint EntryOf(ulong* word) => word is null ? 0 : (uint)(word - s_words);

    /// <summary>One load and one compare, never reordered with what the caller reads after it. Requires a
    /// word.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static bool IsStale(ulong* word, uint generation) => (uint)Volatile.Read(ref *word) != generation;

    /// <summary>The same for what may be a default value, which has no word.</summary>
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

    /// <summary>Looks first, at the generation that lies apart from what is counted: a release by mistake must not take
    /// the count of whoever has the entry now.</summary>
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

    /// <summary>Generations take half the room of words.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static uint GenerationOf(ulong* word) =>
        Volatile.Read(ref *(uint*)((byte*)s_generations + (((byte*)word - (byte*)s_words) >> 1)));

    /// <summary>Nobody has so many: a count of 2^31 and more is one below zero, which a mistaken release is about to
    /// undo.</summary>
    internal static int Counted(uint holders) => (int)holders < 0 ? 0 : (int)holders;

    /// <summary>Zero for what is stale.</summary>
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
        // Nobody has so many: a count below zero is one that a mistaken release is about to undo. The library waits for
        // it.
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
