// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Xunit;

namespace Tenure.Tests;

/// <summary>The pointer goes to functions of C as it is: nothing is copied or marshalled.</summary>
public sealed unsafe partial class BufferNativeCallTests
{
    [LibraryImport("libc")]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int memcmp(byte* left, byte* right, nuint bytes);

    [LibraryImport("libc")]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial nuint strlen(byte* text);

    [LibraryImport("libc")]
    [UnmanagedCallConv(CallConvs = [typeof(CallConvCdecl)])]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial void* memset(void* memory, int value, nuint bytes);

    [Fact]
    public void a_function_of_c_reads_and_writes_a_buffer()
    {
        using var left = new FixedBuffer<byte>("native"u8);
        using var right = new SafeArray<byte>("native"u8);
        using var text = new FixedUtf8String("native\0");
        fixed (byte* x = left, y = right, z = text)
        {
            Assert.Equal(0, memcmp(x, y, 6));
            Assert.Equal(0, memcmp(x, z, 6));
            Assert.Equal(6u, strlen(z));
            y[0] = (byte)'m';
            Assert.True(memcmp(x, y, 6) > 0);
        }
        Assert.Equal((byte)'m', right[0]);
        using var huge = new HugeArray<int>(10);
        memset(huge.PointerTo(2), 0xFF, 8);
        Assert.Equal([0, 0, -1, -1, 0, 0, 0, 0, 0, 0], huge.CopyToArray());
        memset(left.PointerTo(5), 'x', 1);
        Assert.Equal("nativx"u8.ToArray(), left.CopyToArray());
    }

    [Fact]
    public void a_pointer_to_what_is_not_there_is_not_given()
    {
        var buffer = new FixedBuffer<byte>(3);
        Assert.Throws<IndexOutOfRangeException>(() => (nint)buffer.PointerTo(3));
        Assert.Throws<IndexOutOfRangeException>(() => (nint)buffer.PointerTo(-1));
        buffer.Free();
        Assert.Throws<ObjectDisposedException>(() => (nint)buffer.PointerTo(0));
        using var none = new FixedBuffer<byte>(0);
        fixed (byte* pointer = none)
        {
            Assert.True(pointer is null);
        }
    }

    [Fact]
    public void a_handle_goes_to_functions_of_the_library_as_it_is()
    {
        using var array = new SafeArray<long>(3);
        NativeHandle handle = array.Handle;
        fixed (long* first = array)
        {
            Assert.Equal((nint)first, handle.Address);
        }
        Assert.Equal(NativeMethods.Ok, NativeMethods.tn_handle_acquire(&handle));
        Assert.Throws<InvalidOperationException>(array.Dispose);
        HandleTable.Release(handle);
    }
}
