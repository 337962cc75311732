// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;
using Xunit;

namespace Tenure.Tests;

public sealed class OffsetAllocatorTests
{
    [Fact]
    public void ranges_are_apart_and_in_the_room()
    {
        var random = new Random(5);
        using var offsets = new OffsetAllocator(1_000_000);
        var live = new List<(OffsetRange Range, ulong Size)>();
        for (int step = 0; step < 5_000; step++)
        {
            if (random.Next(3) != 0)
            {
                ulong size = (ulong)random.Next(1, 5000), alignment = 1ul << random.Next(10);
                if (offsets.TryAllocate(size, alignment, out OffsetRange range))
                {
                    Assert.Equal(0ul, range.Offset % alignment);
                    Assert.Equal(size, offsets.SizeOf(range));
                    live.Add((range, size));
                }
                else
                {
                    Assert.True(range.IsNone);
                }
            }
            else if (live.Count > 0)
            {
                int at = random.Next(live.Count);
                offsets.Deallocate(live[at].Range);
                live.RemoveAt(at);
            }
        }
        ulong end = 0;
        foreach ((OffsetRange range, ulong size) in live.OrderBy(each => each.Range.Offset))
        {
            Assert.True(range.Offset >= end);
            end = range.Offset + size;
        }
        Assert.True(end <= 1_000_000);
        OffsetUsage usage = offsets.Usage;
        Assert.Equal((ulong)live.Count, usage.RangeCount);
        Assert.Equal(1_000_000ul - usage.Free, live.Aggregate(0ul, (sum, each) => sum + each.Size));
        Assert.InRange(usage.Fragmentation, 0, 1);
        ulong walked = 0, used = 0;
        offsets.Walk((offset, size, isFree) =>
        {
            Assert.Equal(walked, offset);
            walked += size;
            used += isFree ? 0 : size;
        });
        Assert.Equal((1_000_000ul, 1_000_000ul - usage.Free), (walked, used));
    }

    [Fact]
    public void a_full_room_refuses_and_a_larger_one_does_not()
    {
        using var offsets = new OffsetAllocator(100);
        OffsetRange all = offsets.Allocate(100);
        Assert.Throws<OutOfMemoryException>(() => { offsets.Allocate(1); });
        offsets.Grow(150);
        OffsetRange more = offsets.Allocate(50);
        Assert.Equal(100ul, more.Offset);
        Assert.False(offsets.Shrink(120));
        offsets.Deallocate(more);
        Assert.True(offsets.Shrink(100));
        Assert.Equal(100ul, offsets.Usage.Capacity);
        offsets.Deallocate(all);
        offsets.Clear();
        Assert.Equal(100ul, offsets.Usage.LargestFree);
    }

    [Fact]
    public void what_waits_for_a_frame_is_free_when_it_has_come()
    {
        using var offsets = new OffsetAllocator(100);
        offsets.DeallocateAfter(offsets.Allocate(100), 1);
        Assert.Equal(100ul, offsets.Usage.Waiting);
        Native.NextFrame();
        Assert.Equal(1ul, offsets.Collect());
        Assert.Equal(100ul, offsets.Usage.Free);
    }

    [Fact]
    public void threads_may_query_at_once_and_see_deallocated_ranges_as_free()
    {
        using var offsets = new OffsetAllocator(300);
        OffsetRange[] ranges = [offsets.Allocate(100), offsets.Allocate(100), offsets.Allocate(100)];
        offsets.Deallocate(ranges[0]);
        offsets.Deallocate(ranges[1]);
        var seen = new (OffsetUsage Usage, ulong Size, string Walked)[4];
        Parallel.For(0, seen.Length, each =>
        {
            var walked = new List<(ulong, ulong, bool)>();
            offsets.Walk((offset, size, isFree) => walked.Add((offset, size, isFree)));
            seen[each] = (offsets.Usage, offsets.SizeOf(ranges[2]), string.Join(' ', walked));
        });
        Assert.All(seen, each =>
        {
            Assert.Equal((200ul, 200ul, 1ul, 1ul), (each.Usage.Free, each.Usage.LargestFree, each.Usage.FreeCount, each.Usage.RangeCount));
            Assert.Equal(100ul, each.Size);
            Assert.Equal("(0, 200, True) (200, 100, False)", each.Walked);
        });
        Assert.Equal(0ul, offsets.Collect());
    }

    [Fact]
    public void no_range_may_be_given_back()
    {
        using var offsets = new OffsetAllocator(100);
        OffsetRange first = offsets.Allocate(10);
        offsets.Deallocate(default);
        offsets.Deallocate(OffsetRange.None);
        Assert.Equal(1ul, offsets.Usage.RangeCount);
        Assert.Equal(first, new OffsetRange(first.Offset, first.Id));
        Assert.True(new OffsetRange(0, uint.MaxValue).IsNone);
        Assert.Equal(uint.MaxValue, OffsetRange.None.Id);
    }

    [Fact]
    public void arguments_are_looked_at()
    {
        using var offsets = new OffsetAllocator(OffsetAllocator.MaxCapacity);
        Assert.Throws<ArgumentOutOfRangeException>(() => new OffsetAllocator(OffsetAllocator.MaxCapacity + 1));
        Assert.Throws<ArgumentOutOfRangeException>(() => { offsets.Allocate(1, 0); });
        Assert.Throws<ArgumentOutOfRangeException>(() => { offsets.TryAllocate(1, 6, out _); });
        Assert.Throws<ArgumentOutOfRangeException>(() => offsets.DeallocateAfter(default, -1));
        Assert.Throws<ArgumentOutOfRangeException>(() => offsets.DeallocateAfter(default, OffsetAllocator.MaxFrames + 1));
        Assert.Throws<ArgumentOutOfRangeException>(() => offsets.Grow(1));
        Assert.Throws<ArgumentOutOfRangeException>(() => offsets.Grow(ulong.MaxValue));
        Assert.Throws<ArgumentOutOfRangeException>(() => { offsets.Shrink(ulong.MaxValue); });
        Assert.Throws<ArgumentNullException>(() => offsets.Walk(null!));
        Assert.Throws<OutOfMemoryException>(() => { offsets.Allocate(ulong.MaxValue); });
        Assert.False(offsets.Allocate(0).IsNone);
    }

    [Fact]
    public void an_exception_in_a_walk_comes_out_of_it()
    {
        using var offsets = new OffsetAllocator(100);
        offsets.Allocate(10);
        int calls = 0;
        Assert.Throws<FormatException>(() => offsets.Walk((_, _, _) =>
        {
            calls++;
            throw new FormatException();
        }));
        Assert.Equal(1, calls);
    }

    [Fact]
    public void a_disposed_allocator_throws_whatever_it_is_asked()
    {
        var offsets = new OffsetAllocator(100);
        offsets.Dispose();
        offsets.Dispose();
        Assert.Throws<ObjectDisposedException>(() => { offsets.Allocate(1); });
        Assert.Throws<ObjectDisposedException>(() => { offsets.TryAllocate(1, 1, out _); });
        Assert.Throws<ObjectDisposedException>(() => offsets.Deallocate(default));
        Assert.Throws<ObjectDisposedException>(() => offsets.DeallocateAfter(default, 1));
        Assert.Throws<ObjectDisposedException>(() => { offsets.Collect(); });
        Assert.Throws<ObjectDisposedException>(() => offsets.Grow(200));
        Assert.Throws<ObjectDisposedException>(() => { offsets.Shrink(50); });
        Assert.Throws<ObjectDisposedException>(() => offsets.Clear());
        Assert.Throws<ObjectDisposedException>(() => { offsets.SizeOf(default); });
        Assert.Throws<ObjectDisposedException>(() => { _ = offsets.Usage; });
        Assert.Throws<ObjectDisposedException>(() => offsets.Walk((_, _, _) => { }));
    }
}
