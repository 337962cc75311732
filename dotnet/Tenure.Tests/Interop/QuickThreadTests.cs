// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Threading;
using Xunit;

namespace Tenure.Tests;

/// <summary>The paths that C# has of its own over the thread's native caches.</summary>
public sealed unsafe class QuickThreadTests
{
    [Fact]
    public void the_layout_of_this_library_is_the_one_that_csharp_was_written_for()
    {
        Assert.True(QuickThread.Attach());
        Assert.NotEqual(0, QuickThread.HeapCache);
        Assert.NotEqual(0, QuickThread.Temp);
    }

    [Fact]
    public void every_size_of_the_table_has_a_class_that_holds_it()
    {
        QuickThread.Attach();
        for (nuint bytes = 0; bytes <= 1100; bytes++)
        {
            void* first = Native.Allocate(bytes, Lifetime.Persistent);
            void* second = Native.Allocate(bytes, Lifetime.Persistent);
            Assert.True(Native.UsableSize(first) >= bytes);
            Assert.Equal(0u, (nuint)second % 16);
            Native.Deallocate(first, bytes, Lifetime.Persistent);
            Native.Deallocate(second, Lifetime.Persistent);
        }
    }

    [Fact]
    public void a_freed_block_comes_back_to_the_next_request_of_its_size()
    {
        void* block = Native.Allocate(200, Lifetime.Persistent);
        Native.Deallocate(block, Lifetime.Persistent);
        void* again = Native.Allocate(200, Lifetime.Persistent);
        Assert.True(block == again);
        Native.Deallocate(again, 200, Lifetime.Persistent);
    }

    [Fact]
    public void what_csharp_takes_c_may_free_and_the_other_way_round()
    {
        for (int round = 0; round < 3000; round++)
        {
            nuint bytes = (nuint)(round % 1500);
            void* block = Native.Allocate(bytes, Lifetime.Persistent);
            NativeMethods.tn_free(block);
            void* other = NativeMethods.tn_malloc(bytes);
            Native.Deallocate(other, bytes, Lifetime.Persistent);
        }
    }

    [Fact]
    public void a_block_that_was_reallocated_where_it_is_goes_back_to_its_own_class()
    {
        void* block = Native.Allocate(1000, Lifetime.Persistent);
        block = Native.Reallocate(block, 900);
        Native.Deallocate(block, 900, Lifetime.Persistent);
        block = Native.Allocate(1000, Lifetime.Persistent);
        Assert.True(Native.UsableSize(block) >= 1000);
        Native.Deallocate(block, 1000, Lifetime.Persistent);
    }

    [Fact]
    public void a_block_of_a_large_alignment_goes_back_to_its_own_class()
    {
        foreach (nuint alignment in (nuint[])[32, 64, 256, 4096, 65536, 1 << 25])
        {
            void* block = Native.Allocate(24, Lifetime.Persistent, alignment);
            Assert.Equal(0u, (nuint)block % alignment);
            Native.Deallocate(block, 24, Lifetime.Persistent);
        }
    }

    [Fact]
    public void blocks_in_use_never_overlap()
    {
        var random = new Random(4711);
        var live = new List<(nint Block, int Bytes, byte Mark)>();
        for (int step = 0; step < 100_000; step++)
        {
            if (live.Count < 500 && random.Next(2) == 0)
            {
                int bytes = random.Next(1, random.Next(8) == 0 ? 5000 : 1100);
                byte mark = (byte)random.Next(256);
                void* block = Native.Allocate((nuint)bytes, Lifetime.Persistent);
                new Span<byte>(block, bytes).Fill(mark);
                live.Add(((nint)block, bytes, mark));
            }
            else if (live.Count > 0)
            {
                int at = random.Next(live.Count);
                (nint block, int bytes, byte mark) = live[at];
                live[at] = live[^1];
                live.RemoveAt(live.Count - 1);
                Assert.Equal(-1, new Span<byte>((void*)block, bytes).IndexOfAnyExcept(mark));
                Release(block, bytes, step);
            }
        }
        live.ForEach(each => Release(each.Block, each.Bytes, 0));

        static void Release(nint block, int bytes, int step)
        {
            if (step % 2 == 0)
            {
                Native.Deallocate((void*)block, (nuint)bytes, Lifetime.Persistent);
            }
            else
            {
                Native.Deallocate((void*)block, Lifetime.Persistent);
            }
        }
    }

    [Fact]
    public void two_threads_free_each_others_blocks()
    {
        var forward = new System.Collections.Concurrent.BlockingCollection<nint>(64);
        var back = new System.Collections.Concurrent.BlockingCollection<nint>(64);
        var other = new Thread(() =>
        {
            foreach (nint block in forward.GetConsumingEnumerable())
            {
                Assert.Equal((byte)block, *(byte*)block);
                Native.Deallocate((void*)block, Lifetime.Persistent);
                nint answer = (nint)Native.Allocate(96, Lifetime.Persistent);
                *(nint*)answer = answer;
                back.Add(answer);
            }
            back.CompleteAdding();
        });
        var taker = new Thread(() =>
        {
            foreach (nint block in back.GetConsumingEnumerable())
            {
                if (*(nint*)block == block)
                {
                    Native.Deallocate((void*)block, 96, Lifetime.Persistent);
                }
            }
        });
        other.Start();
        taker.Start();
        for (int index = 0; index < 20_000; index++)
        {
            nint block = (nint)Native.Allocate((nuint)(16 + (index % 200)), Lifetime.Persistent);
            *(byte*)block = (byte)block;
            forward.Add(block, TestContext.Current.CancellationToken);
        }
        forward.CompleteAdding();
        other.Join();
        taker.Join();
    }

    [Fact]
    public void an_owner_tag_changes_the_cache_that_blocks_come_from()
    {
        var tag = Tag.Named("quick thread tests");
        ulong before = tag.Usage.PersistentCount;
        void* block;
        using (new TagScope(tag))
        {
            block = Native.Allocate(64, Lifetime.Persistent);
            Assert.Equal(before + 1, tag.Usage.PersistentCount);
        }
        void* untagged = Native.Allocate(64, Lifetime.Persistent);
        Assert.Equal(before + 1, tag.Usage.PersistentCount);
        Native.Deallocate(block, 64, Lifetime.Persistent);
        Native.Deallocate(untagged, 64, Lifetime.Persistent);
        Assert.Equal(before, tag.Usage.PersistentCount);
    }
}
