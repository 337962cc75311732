// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Xunit;

namespace Tenure.Tests;

public sealed unsafe class HandleTableTests
{
    private static nint s_released;

    [Fact]
    public void a_handle_and_what_listings_tell_have_the_layout_of_the_header()
    {
        Assert.Equal(24, sizeof(NativeHandle));
        var handle = new NativeHandle(1, 2, 3, 4);
        Assert.Equal([1, 0, 2, 0, 3, 4], new ReadOnlySpan<uint>(&handle, 6).ToArray());
        Assert.Equal(72, sizeof(NativeHandleInfo));
        Assert.Equal(8, Offset<NativeHandleInfo>(nameof(NativeHandleInfo.Handle)));
        Assert.Equal(32, Offset<NativeHandleInfo>(nameof(NativeHandleInfo.AgeNs)));
        Assert.Equal(40, Offset<NativeHandleInfo>(nameof(NativeHandleInfo.Kind)));
        Assert.Equal(48, Offset<NativeHandleInfo>(nameof(NativeHandleInfo.Holders)));
        Assert.Equal(52, Offset<NativeHandleInfo>(nameof(NativeHandleInfo.Tag)));
        Assert.Equal(56, Offset<NativeHandleInfo>(nameof(NativeHandleInfo.Stack)));
        Assert.Equal(64, Offset<NativeHandleInfo>(nameof(NativeHandleInfo.StackCount)));
        Assert.Equal(48, sizeof(NativeHandleUsage));

        static int Offset<T>(string field) => (int)Marshal.OffsetOf<T>(field);
    }

    [Fact]
    public void a_default_handle_is_stale()
    {
        NativeHandle none = default;
        Assert.False(HandleTable.IsLive(none));
        Assert.Equal(0, HandleTable.Holders(none));
        Assert.Throws<ObjectDisposedException>(() => HandleTable.Acquire(none));
        Assert.Throws<ObjectDisposedException>(() => HandleTable.Release(none));
        Assert.Throws<ObjectDisposedException>(() => HandleTable.Free(none));
    }

    [Fact]
    public void memory_of_the_caller_is_entered_held_and_given_back()
    {
        int value = 5;
        NativeHandle handle = HandleTable.Add(&value, sizeof(int), &Released, "an integer");
        Assert.True(handle.IsLive);
        HandleTable.Acquire(handle);
        HandleTable.Acquire(handle);
        Assert.Equal(2, HandleTable.Holders(handle));
        Assert.Contains("2 times", Assert.Throws<InvalidOperationException>(() => HandleTable.Free(handle)).Message, StringComparison.Ordinal);
        HandleTable.Release(handle);
        HandleTable.Release(handle);
        Assert.Throws<InvalidOperationException>(() => HandleTable.Release(handle));
        Assert.Equal("an integer", HandleTable.Live().Single(each => each.Handle == handle).Kind);
        s_released = 0;
        HandleTable.Free(handle);
        Assert.Equal((nint)(&value), s_released);
        Assert.False(handle.IsLive);
        Assert.Throws<ObjectDisposedException>(() => HandleTable.Free(handle));
        Assert.Throws<ArgumentNullException>(() => HandleTable.Add(null, 1));
        Assert.Throws<ArgumentNullException>(() => HandleTable.Add((void*)8, 1, (string)null!));
    }

    [Fact]
    public void the_counts_of_both_languages_are_one()
    {
        var buffer = new FixedBuffer<int>(1);
        NativeHandle handle = buffer.Handle;
        Assert.Equal(NativeMethods.Ok, NativeMethods.tn_handle_acquire(&handle));
        Assert.Equal(1, buffer.RefCount);
        buffer.Release();
        buffer.Free();
        Assert.Equal(NativeMethods.StaleHandle, NativeMethods.tn_handle_acquire(&handle));
    }

    [Fact]
    public void a_count_of_two_thousand_million_is_refused_and_stays()
    {
        using var buffer = new FixedBuffer<int>(1);
        NativeHandle handle = buffer.Handle;
        ref ulong word = ref *handle.Word;
        word += 0x7FFF_FFFEul << 32;
        buffer.Acquire();
        Assert.Equal(int.MaxValue, buffer.RefCount);
        Assert.Throws<InvalidOperationException>(() => buffer.Acquire());
        Assert.Equal(int.MaxValue, buffer.RefCount);
        word -= 0x7FFF_FFFFul << 32;
        Assert.Equal(0, buffer.RefCount);
    }

    [Fact]
    public void an_acquire_or_release_of_a_stale_handle_leaves_the_new_owner_of_its_entry_alone()
    {
        var stale = new FixedBuffer<int>(1);
        stale.Free();
        using var fresh = new FixedBuffer<int>(1);
        for (int i = 0; i < 100; i++)
        {
            Assert.Throws<ObjectDisposedException>(() => stale.Acquire());
            Assert.Throws<ObjectDisposedException>(() => stale.Release());
        }
        Assert.Equal(0, fresh.RefCount);
        Assert.Equal(0ul, *stale.Handle.Word >> 32);
    }

    [Fact]
    public void usage_counts_what_is_live_and_held()
    {
        HandleUsage before = HandleTable.Usage();
        Assert.True(before.EntryCount >= before.LiveCount);
        Assert.True(before.LiveCount >= before.HeldCount);
        using var array = new SafeArray<long>(1000);
        array.Acquire();
        HandleUsage usage = HandleTable.Usage();
        Assert.True(usage.LiveCount >= 1 && usage.HeldCount >= 1 && usage.LiveBytes >= 8000);
        array.Release();
    }

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static void Released(void* memory, nuint bytes) => s_released = bytes == sizeof(int) ? (nint)memory : -1;

    [Fact]
    public void a_count_below_zero_is_told_as_none()
    {
        // As it is for a moment, until a release that was one too many has undone itself.
        using var buffer = new FixedBuffer<int>(1);
        NativeHandle handle = buffer.Handle;
        ref ulong word = ref *handle.Word;
        word += 0xFFFF_FFFFul << 32;
        Assert.Equal(0, buffer.RefCount);
        Assert.Equal(0, HandleTable.Holders(handle));
        Assert.False(buffer.IsRetained);
        Assert.Equal(0, HandleTable.Live().Single(each => each.Handle == handle).Holders);
        word -= 0xFFFF_FFFFul << 32;
    }

    [Fact]
    public void memory_whose_words_are_not_to_be_had_is_given_back()
    {
        NativeHandle made;
        Assert.Equal(NativeMethods.Ok, NativeMethods.tn_handle_allocate(100, 64, 1, HandleMemory.Kind("native"), &made));
        NativeHandle handle = made;
        Assert.Throws<TenureLoadException>(() => HandleMemory.GiveBackUnknown(handle));
        Assert.False(handle.IsLive);
    }
}
