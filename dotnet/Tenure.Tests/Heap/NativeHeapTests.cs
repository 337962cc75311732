// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Threading;
using Xunit;

namespace Tenure.Tests;

public sealed unsafe class NativeHeapTests
{
    [Fact]
    public void blocks_of_every_size_can_be_written_moved_and_freed()
    {
        using var heap = new NativeHeap();
        foreach (int bytes in (int[])[0, 1, 100, 5000, 100_000, 40_000_000])
        {
            byte* block = (byte*)heap.Allocate((nuint)bytes, 32);
            Assert.Equal(0u, (nuint)block % 32);
            new Span<byte>(block, bytes).Fill(3);
            Assert.True(heap.Owns(block));
            Assert.True(heap.UsableSize(block) >= (nuint)bytes);
            block = (byte*)heap.Reallocate(block, (nuint)bytes + 10_000);
            Assert.Equal(-1, new Span<byte>(block, bytes).IndexOfAnyExcept((byte)3));
            heap.Deallocate(block);
        }
        Assert.Equal(0ul, heap.Stats.LiveCount);
    }

    [Fact]
    public void figures_follow_what_is_allocated()
    {
        using var heap = new NativeHeap(new NativeHeapOptions { Name = "figures" });
        Span<long> elements = heap.AllocateSpan<long>(1000);
        void* zero = heap.AllocateZeroed(100);
        Assert.Equal(2ul, heap.Stats.LiveCount);
        Assert.True(heap.Stats.LiveBytes >= 8100);
        heap.Deallocate(elements);
        heap.Deallocate(zero);
        Assert.Equal(0ul, heap.Stats.LiveBytes);
        heap.Allocate(10);
        heap.Clear();
        Assert.Equal(0ul, heap.Stats.LiveCount);
        heap.Trim();
        Assert.Equal("figures", heap.Name);
    }

    [Fact]
    public void the_limit_is_kept()
    {
        using var heap = new NativeHeap(new NativeHeapOptions { LimitBytes = 4 << 20, PurgeDelay = TimeSpan.Zero, MaxRetainedBytes = 0 });
        Assert.Throws<OutOfMemoryException>(() => { heap.Allocate(8 << 20); });
        Assert.True(heap.TryAllocate(8 << 20) == null);
        void* block = heap.Allocate(1 << 20);
        Assert.True(heap.Stats.ReservedBytes <= 4 << 20);
        Assert.Throws<OutOfMemoryException>(() => { heap.Reallocate(block, nuint.MaxValue); });
        Assert.Throws<OutOfMemoryException>(() => { heap.AllocateZeroed(nuint.MaxValue); });
    }

    [Fact]
    public void arguments_are_looked_at()
    {
        using var heap = new NativeHeap();
        Assert.Throws<ArgumentOutOfRangeException>(() => { heap.Allocate(1, 3); });
        Assert.Throws<ArgumentOutOfRangeException>(() => { heap.TryAllocate(1, 0); });
        Assert.Throws<ArgumentOutOfRangeException>(() => { heap.AllocateZeroed(1, 5); });
        Assert.Throws<ArgumentOutOfRangeException>(() => { heap.Reallocate(null, 1, 6); });
        Assert.Throws<ArgumentOutOfRangeException>(() => { heap.AllocateSpan<int>(-1); });
        Assert.Throws<ArgumentNullException>(() => new NativeHeap(null!));
        Assert.Throws<ArgumentOutOfRangeException>(() => new NativeHeap(new NativeHeapOptions { PurgeDelay = TimeSpan.FromTicks(-1) }));
        Assert.Throws<ArgumentOutOfRangeException>(() => new NativeHeap(new NativeHeapOptions { LimitBytes = 0 }));
        heap.Deallocate(null);
        Assert.Equal(0u, heap.UsableSize(null));
    }

    [Fact]
    public void a_disposed_heap_throws_whatever_it_is_asked()
    {
        var heap = new NativeHeap();
        heap.Dispose();
        heap.Dispose();
        Assert.Throws<ObjectDisposedException>(() => { heap.Allocate(1); });
        Assert.Throws<ObjectDisposedException>(() => { heap.TryAllocate(1); });
        Assert.Throws<ObjectDisposedException>(() => { heap.AllocateZeroed(1); });
        Assert.Throws<ObjectDisposedException>(() => { heap.Reallocate(null, 1); });
        Assert.Throws<ObjectDisposedException>(() => heap.Deallocate(null));
        Assert.Throws<ObjectDisposedException>(() => heap.Clear());
        Assert.Throws<ObjectDisposedException>(() => { heap.Trim(); });
        Assert.Throws<ObjectDisposedException>(() => { _ = heap.Stats; });
        Assert.Throws<ObjectDisposedException>(() => { heap.Owns(null); });
        Assert.Throws<ObjectDisposedException>(() => { heap.UsableSize(null); });
    }

    [Fact]
    public void two_threads_use_one_heap()
    {
        using var heap = new NativeHeap();
        const int Count = 20_000;
        var blocks = new nint[Count];
        var filled = new SemaphoreSlim(0);
        var maker = new Thread(() =>
        {
            for (int index = 0; index < Count; index++)
            {
                blocks[index] = (nint)heap.Allocate((nuint)(8 + (index % 500)));
                filled.Release();
            }
        });
        var taker = new Thread(() =>
        {
            for (int index = 0; index < Count; index++)
            {
                filled.Wait();
                heap.Deallocate((void*)blocks[index]);
            }
        });
        maker.Start();
        taker.Start();
        maker.Join();
        taker.Join();
        // A thread that was joined may still be giving back what it had at hand.
        SpinWait.SpinUntil(() => heap.Stats.LiveCount == 0, TimeSpan.FromSeconds(30));
        Assert.Equal(0ul, heap.Stats.LiveCount);
    }
}
