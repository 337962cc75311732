// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tenure;

// tenure_engine.h: scratch stacks, pools with handles, memory that frees itself, budgets, hooks, heap profiles.
internal static unsafe partial class NativeMethods
{
    internal const uint TempFirst = 0;

    [LibraryImport(Library)]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    internal static partial void* tn_temp_stack_allocate(uint stack, nuint bytes, nuint alignment);

    [LibraryImport(Library)]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    internal static partial uint tn_scratch_begin(NativeScratchScope* scope, uint results);

    [LibraryImport(Library)]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    internal static partial void tn_scratch_end(NativeScratchScope* scope);

    [LibraryImport(Library)]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    internal static partial void* tn_handle_pool_create(nuint bytes, nuint alignment, nuint maxCount);

    [LibraryImport(Library)]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    internal static partial void tn_handle_pool_destroy(void* pool);

    [LibraryImport(Library)]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    internal static partial ulong tn_handle_pool_allocate(void* pool, void** instance);

    [LibraryImport(Library)]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    internal static partial int tn_handle_pool_deallocate(void* pool, ulong handle);

    [LibraryImport(Library)]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    internal static partial void* tn_handle_pool_get(void* pool, ulong handle);

    [LibraryImport(Library)]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    internal static partial void* tn_handle_pool_next(void* pool, ulong* handle);

    [LibraryImport(Library)]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    internal static partial void tn_handle_pool_clear(void* pool);

    [LibraryImport(Library)]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    internal static partial nuint tn_handle_pool_trim(void* pool);

    [LibraryImport(Library)]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    internal static partial nuint tn_handle_pool_size(void* pool);

    [LibraryImport(Library)]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    internal static partial void* tn_frame_memory_create(uint frames, void* source);

    [LibraryImport(Library)]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    internal static partial void tn_frame_memory_destroy(void* memory);

    [LibraryImport(Library)]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    internal static partial void* tn_frame_memory_allocate(void* memory, nuint bytes, nuint alignment);

    [LibraryImport(Library)]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    internal static partial nuint tn_frame_memory_trim(void* memory);

    [LibraryImport(Library)]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    internal static partial void tn_frame_memory_get_stats(void* memory, NativeAllocatorStats* stats);

    [LibraryImport(Library)]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    internal static partial int tn_set_budget(
        uint tag, ulong limitBytes, ulong thresholdBytes,
        delegate* unmanaged[Cdecl]<void*, NativeBudgetEvent*, void> handler, void* context);

    [LibraryImport(Library)]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    internal static partial int tn_set_hooks(NativeHooks* hooks);

    [LibraryImport(Library)]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    internal static partial int tn_profile_start(ulong meanBytes);

    [LibraryImport(Library)]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    internal static partial int tn_profile_stop();

    [LibraryImport(Library)]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    internal static partial uint tn_profile_is_running();

    [LibraryImport(Library)]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    internal static partial int tn_profile_save(byte* path, nuint length);

    [LibraryImport(Library)]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    internal static partial int tn_profile_save_with_pages(byte* path, nuint length);
}

/// <summary><c>tn_scratch_scope</c>.</summary>
[InlineArray(4)]
internal struct NativeScratchScope
{
    internal ulong State;
}

/// <summary><c>tn_budget_event</c>.</summary>
internal struct NativeBudgetEvent
{
    internal uint Size;
    internal uint What;
    internal NativeUtf8 Name;
    internal ulong UsedBytes;
    internal ulong RequestedBytes;
    internal ulong ThresholdBytes;
    internal ulong LimitBytes;
}

/// <summary><c>tn_hooks</c>.</summary>
[StructLayout(LayoutKind.Sequential)]
internal unsafe struct NativeHooks
{
    internal const uint NotAtThreadEnd = 1;

    internal uint Size;
    internal uint Flags;
    internal void* Context;
    internal delegate* unmanaged[Cdecl]<void*, NativeUtf8, nuint, void> CallBegin;
    internal delegate* unmanaged[Cdecl]<void*, NativeUtf8, void> CallEnd;
    internal delegate* unmanaged[Cdecl]<void*, void*, nuint, void> BlockBegin;
    internal delegate* unmanaged[Cdecl]<void*, void*, void> BlockEnd;

    public NativeHooks()
    {
        Size = (uint)sizeof(NativeHooks);
    }
}
