// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tenure;

internal static unsafe partial class NativeMethods
{
    internal const int Ok = 0;
    internal const int OutOfMemory = 1;
    internal const int InvalidArgument = 2;
    internal const int StaleHandle = 3;
    internal const int StillHeld = 4;
    internal const int NotHeld = 5;
    internal const int FileError = 7;

    [LibraryImport(Library)]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    internal static partial ulong* tn_handle_words();

    [LibraryImport(Library)]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    internal static partial uint* tn_handle_generations();

    [LibraryImport(Library)]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    internal static partial int tn_handle_allocate(nuint bytes, nuint alignment, uint flags, byte* kind, NativeHandle* handle);

    [LibraryImport(Library, SetLastError = true)]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    internal static partial int tn_handle_map_file(byte* path, ulong bytes, byte* kind, NativeHandle* handle);

    [LibraryImport(Library)]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    internal static partial int tn_handle_add(
        void* pointer, ulong bytes, delegate* unmanaged[Cdecl]<void*, nuint, void> release, byte* kind, NativeHandle* handle);

    [LibraryImport(Library)]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    internal static partial int tn_handle_acquire(NativeHandle* handle);

    [LibraryImport(Library)]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    internal static partial int tn_handle_deallocate(NativeHandle* handle, uint* holders);

    [LibraryImport(Library)]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    internal static partial void tn_handle_for_each(
        delegate* unmanaged[Cdecl]<void*, NativeHandleInfo*, void> visit, void* context);

    [LibraryImport(Library)]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    internal static partial void tn_handle_get_usage(NativeHandleUsage* usage);
}

/// <summary><c>tn_handle_info</c>.</summary>
internal unsafe struct NativeHandleInfo
{
    internal uint Size;
    internal uint Reserved;
    internal NativeHandle Handle;
    internal ulong AgeNs;
    internal byte* Kind;
    internal uint Holders;
    internal uint Tag;
    internal void** Stack;
    internal ulong StackCount;
}

/// <summary><c>tn_handle_usage</c>.</summary>
internal struct NativeHandleUsage
{
    internal uint Size;
    internal uint Reserved;
    internal ulong LiveCount;
    internal ulong LiveBytes;
    internal ulong HeldCount;
    internal ulong EntryCount;
    internal ulong RetiredCount;
}
