// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tenure.Bench;

/// <summary>Blocks of one lifetime. A batch of Temp or TempJob is a frame: ending the frame is part of freeing the
/// batch, as in `tenure bench lifetimes`.</summary>
internal unsafe interface ILifetimeBlocks
{
    static abstract void* Allocate();

    static abstract void Deallocate(void* block);

    static abstract void EndBatch();
}

internal readonly unsafe struct TempBlocks : ILifetimeBlocks
{
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void* Allocate() => Native.Allocate(LifetimeRow.Bytes, Lifetime.Temp, LifetimeRow.Bytes);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Deallocate(void* block) => Native.Deallocate(block, Lifetime.Temp);

    public static void EndBatch() => Native.NextFrame();
}

internal readonly unsafe struct TempJobBlocks : ILifetimeBlocks
{
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void* Allocate() => Native.Allocate(LifetimeRow.Bytes, Lifetime.TempJob, LifetimeRow.Bytes);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Deallocate(void* block) => Native.Deallocate(block, Lifetime.TempJob);

    public static void EndBatch() => Native.NextFrame();
}

internal readonly unsafe struct PersistentBlocks : ILifetimeBlocks
{
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void* Allocate() => Native.Allocate(LifetimeRow.Bytes, Lifetime.Persistent, LifetimeRow.Bytes);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Deallocate(void* block) => Native.Deallocate(block, Lifetime.Persistent);

    public static void EndBatch()
    {
    }
}

internal readonly unsafe struct SystemBlocks : ILifetimeBlocks
{
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void* Allocate() => NativeMemory.Alloc(LifetimeRow.Bytes);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Deallocate(void* block) => NativeMemory.Free(block);

    public static void EndBatch()
    {
    }
}

internal readonly unsafe struct AlignedBlocks : ILifetimeBlocks
{
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void* Allocate() => NativeMemory.AlignedAlloc(LifetimeRow.Bytes, BufferOptions.DefaultAlignment);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Deallocate(void* block) => NativeMemory.AlignedFree(block);

    public static void EndBatch()
    {
    }
}

/// <summary>The measured loops. Each is compiled for one lifetime, so nothing else is between the clock and the
/// calls.</summary>
/// <remarks>
/// The first batch measures cold memory, not cold code: its loops are compiled as hot code before their first call, as
/// the article's were. The warm loops are compiled by the runtime's normal tiering.
/// </remarks>
/// <typeparam name="T">The allocator of the blocks.</typeparam>
internal static unsafe class LifetimeLoops<T>
    where T : struct, ILifetimeBlocks
{
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    internal static void AllocateFirst(nint[] blocks)
    {
        for (int i = 0; i < blocks.Length; i++)
        {
            blocks[i] = (nint)T.Allocate();
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    internal static void AllocateAndWriteFirst(nint[] blocks)
    {
        for (int i = 0; i < blocks.Length; i++)
        {
            int* block = (int*)T.Allocate();
            *block = i;
            blocks[i] = (nint)block;
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    internal static void DeallocateFirst(nint[] blocks)
    {
        foreach (nint block in blocks)
        {
            T.Deallocate((void*)block);
        }
        T.EndBatch();
    }

    internal static void Allocate(nint[] blocks)
    {
        for (int i = 0; i < blocks.Length; i++)
        {
            blocks[i] = (nint)T.Allocate();
        }
    }

    internal static void AllocateAndWrite(nint[] blocks)
    {
        for (int i = 0; i < blocks.Length; i++)
        {
            int* block = (int*)T.Allocate();
            *block = i;
            blocks[i] = (nint)block;
        }
    }

    internal static void Deallocate(nint[] blocks)
    {
        foreach (nint block in blocks)
        {
            T.Deallocate((void*)block);
        }
        T.EndBatch();
    }
}

/// <summary>The same loops for arrays, which the garbage collector frees.</summary>
internal static class ManagedLoops
{
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    internal static void AllocateFirst(byte[][] blocks)
    {
        for (int i = 0; i < blocks.Length; i++)
        {
            blocks[i] = new byte[LifetimeRow.Bytes];
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    internal static void AllocateAndWriteFirst(byte[][] blocks)
    {
        for (int i = 0; i < blocks.Length; i++)
        {
            byte[] block = new byte[LifetimeRow.Bytes];
            Unsafe.WriteUnaligned(ref MemoryMarshal.GetArrayDataReference(block), i);
            blocks[i] = block;
        }
    }

    internal static void Allocate(byte[][] blocks)
    {
        for (int i = 0; i < blocks.Length; i++)
        {
            blocks[i] = new byte[LifetimeRow.Bytes];
        }
    }

    internal static void AllocateAndWrite(byte[][] blocks)
    {
        for (int i = 0; i < blocks.Length; i++)
        {
            byte[] block = new byte[LifetimeRow.Bytes];
            Unsafe.WriteUnaligned(ref MemoryMarshal.GetArrayDataReference(block), i);
            blocks[i] = block;
        }
    }
}
