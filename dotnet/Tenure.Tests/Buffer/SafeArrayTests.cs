// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Linq;
using System.Numerics;
using System.Runtime.CompilerServices;
using Xunit;

namespace Tenure.Tests;

public sealed class SafeArrayTests
{
    [Fact]
    public void an_array_is_made_from_a_length_values_and_a_collection()
    {
        using var zeros = new SafeArray<int>(3);
        using var begun = new SafeArray<int>(4, 1, 2);
        using var ofArray = new SafeArray<int>((int[])[1, 2]);
        using SafeArray<int> collection = [1, 2];
        using var unwritten = new SafeArray<int>(5, new BufferOptions { Fill = AllocationFill.Unwritten, Alignment = 128 });
        Assert.Equal([0, 0, 0], zeros.CopyToArray());
        Assert.Equal([1, 2, 0, 0], begun.CopyToArray());
        Assert.True(ofArray.EqualTo(collection));
        Assert.Equal(0, unwritten.Handle.Address % 128);
        Assert.Throws<ArgumentNullException>(() => new SafeArray<int>((int[])null!));
    }

    [Fact]
    public void elements_are_references_into_native_memory()
    {
        using var array = new SafeArray<Vector3>(3);
        array[1].Y = 5;
        Assert.Equal(5, array[1].Y);
        Assert.Equal(new Vector3(0, 5, 0), array.Span[1]);
        Assert.Equal(36, array.Size);
        array.Write(2, new Vector2(8, 9));
        Assert.Equal(9, array[2].Y);
        Assert.Equal(9, array.GetSpan<float>()[7]);
    }

    [Fact]
    public void a_copy_goes_from_array_to_array()
    {
        using var from = new SafeArray<int>(3, 1, 2, 3);
        using var to = new HugeArray<int>(5);
        from.CopyTo(to);
        Assert.Equal([1, 2, 3, 0, 0], to.CopyToArray());
        Assert.Throws<ArgumentException>(() => to.CopyTo(from));
    }

    [Fact]
    public void a_lease_keeps_an_object_that_nobody_refers_to_any_more()
    {
        using Lease<int> lease = LeaseOfLostArray();
        GC.Collect();
        GC.WaitForPendingFinalizers();
        Assert.Equal(77, lease[3]);

        [MethodImpl(MethodImplOptions.NoInlining)]
        static Lease<int> LeaseOfLostArray()
        {
            var array = new SafeArray<int>(4);
            array[3] = 77;
            return array.Lease();
        }
    }

    [Fact]
    public void memory_keeps_an_object_that_nobody_refers_to_any_more()
    {
        Memory<int> memory = MemoryOfLostArray();
        GC.Collect();
        GC.WaitForPendingFinalizers();
        Assert.Equal(77, memory.Span[3]);

        [MethodImpl(MethodImplOptions.NoInlining)]
        static Memory<int> MemoryOfLostArray()
        {
            var array = new SafeArray<int>(4);
            array[3] = 77;
            return array.Memory;
        }
    }

    [Fact]
    public void an_array_that_nobody_disposes_of_is_given_back_by_the_collector()
    {
        long before = Leaks.CollectedCount;
        NativeHandle handle = Lose();
        for (int i = 0; i < 10 && handle.IsLive; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
        Assert.False(handle.IsLive);
        Assert.True(Leaks.CollectedCount > before, $"{before}");

        [MethodImpl(MethodImplOptions.NoInlining)]
        static NativeHandle Lose() => new SafeArray<int>(4).Handle;
    }

    [Fact]
    public void a_free_makes_a_later_dispose_do_nothing()
    {
        var array = new SafeArray<int>(4);
        Assert.True(array.Free());
        Assert.True(array.IsInvalid);
        Assert.True(array.IsClosed);
        array.Dispose();
        array.Close();
    }

    [Fact]
    public void a_loop_reads_and_writes_every_element()
    {
        using var array = new SafeArray<int>(1000);
        int next = 0;
        foreach (ref int each in array)
        {
            each = next++;
        }
        Assert.Equal(Enumerable.Range(0, 1000), array);
        Assert.Equal(0, array.RefCount);
    }
}
