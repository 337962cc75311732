// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Xunit;

namespace Tenure.Tests;

/// <summary>Who holds what. The faults of jemalloc.NET that this guards against are named with the tests.</summary>
public sealed class JemLedgerTests : IDisposable
{
    public JemLedgerTests() => Jem.Ledger = true;

    public void Dispose()
    {
        Jem.TryFreeAll();
        Jem.Ledger = false;
    }

    [Fact(Explicit = true)]
    public void a_block_is_held_and_released()
    {
        nint block = Jem.Malloc(100);
        Assert.True(Jem.PtrIsAllocated(block));
        Assert.Equal(0, Jem.GetRefCount(block));
        Jem.IncrementRefCount(block);
        Jem.IncrementRefCount(block);
        Assert.Equal(2, Jem.GetRefCount(block));
        Assert.Throws<InvalidOperationException>(() => Jem.Free(block));
        Assert.Throws<InvalidOperationException>(() => Jem.Realloc(block, 200));
        Assert.Throws<InvalidOperationException>(() => Jem.Rallocx(block, 200, 0));
        Assert.Throws<InvalidOperationException>(() => Jem.Xallocx(block, 200, 0, 0));
        Assert.Throws<InvalidOperationException>(() => Jem.Dallocx(block, 0));
        Assert.Throws<InvalidOperationException>(() => Jem.Sdallocx(block, 100, 0));
        Assert.True(Jem.PtrIsAllocated(block));
        Jem.DecrementRefCount(block);
        Jem.DecrementRefCount(block);
        Assert.Throws<InvalidOperationException>(() => Jem.DecrementRefCount(block));
        Assert.True(Jem.Free(block));
        Assert.False(Jem.PtrIsAllocated(block));
    }

    /// <summary>There, all of these went past the ledger, and Free did nothing with what they made.</summary>
    [Fact(Explicit = true)]
    public void every_call_enters_what_it_makes_and_takes_out_what_it_frees()
    {
        Assert.Equal(0, Jem.PosixMemalign(out nint aligned, 64, 100));
        var blocks = new List<nint>
        {
            Jem.Malloc(1), Jem.Calloc(2, 3), aligned, Jem.AlignedAlloc(32, 5), Jem.Realloc(0, 7), Jem.Mallocx(9, 0),
            Jem.Realloc(Jem.Malloc(10), 100), Jem.Rallocx(Jem.Malloc(10), 100_000, Jem.MallocxZero),
        };
        Assert.All(blocks, block => Assert.True(Jem.PtrIsAllocated(block)));
        Assert.Equal(blocks.Count, HandleTable.Live().Count(each => each.Kind == "Jem"));
        Jem.Dallocx(blocks[0], 0);
        Jem.Sdallocx(blocks[1], 6, 0);
        Assert.All(blocks.Skip(2), block => Assert.True(Jem.Free(block)));
        Assert.DoesNotContain(HandleTable.Live(), each => each.Kind == "Jem");
    }

    [Fact(Explicit = true)]
    public void a_second_free_is_refused_and_a_foreign_pointer()
    {
        nint block = Jem.Malloc(5000);
        Jem.Free(block);
        InvalidOperationException thrown = Assert.Throws<InvalidOperationException>(() => Jem.Free(block));
        Assert.Contains("freed already", thrown.Message, StringComparison.Ordinal);
        Assert.Throws<InvalidOperationException>(() => Jem.Realloc(block, 10));
        Assert.Throws<InvalidOperationException>(() => Jem.Free(4096));
        nint other = Jem.Malloc(10);
        Assert.Throws<ArgumentOutOfRangeException>(() => Jem.Sdallocx(other, 10_000, 0));
        Jem.Free(other);
    }

    /// <summary>There, the count of an unknown pointer threw with a lock held, and every later allocation hung.</summary>
    [Fact(Explicit = true)]
    public async Task an_unknown_pointer_has_no_count_and_nothing_hangs()
    {
        Assert.Equal(0, Jem.GetRefCount(12345));
        Assert.Equal(0, Jem.GetRefCount(0));
        Assert.False(Jem.PtrIsAllocated(12345));
        Assert.Throws<InvalidOperationException>(() => Jem.IncrementRefCount(12345));
        Assert.Throws<InvalidOperationException>(() => Jem.DecrementRefCount(12345));
        Task<bool> other = Task.Run(() => Jem.Free(Jem.Malloc(10)), TestContext.Current.CancellationToken);
        Assert.True(await other.WaitAsync(TimeSpan.FromSeconds(20), TestContext.Current.CancellationToken));
    }

    /// <summary>There, freeing everything took a lock twice and changed what it walked over: it always threw.</summary>
    [Fact(Explicit = true)]
    public void everything_is_freed_save_what_is_held()
    {
        nint[] blocks = [.. Enumerable.Range(0, 100).Select(each => Jem.Malloc((ulong)each))];
        Jem.IncrementRefCount(blocks[50]);
        Assert.Equal(99, Jem.TryFreeAll());
        Assert.True(Jem.PtrIsAllocated(blocks[50]));
        Jem.DecrementRefCount(blocks[50]);
        Assert.Equal(1, Jem.TryFreeAll());
        Assert.Equal(0, Jem.TryFreeAll());
    }

    [Fact(Explicit = true)]
    public void buffers_have_counts_as_well_and_are_not_freed_with_the_rest()
    {
        using var buffer = new FixedBuffer<long>(100);
        nint begin = HandleTable.Live().First(each => each.Kind.StartsWith("FixedBuffer", StringComparison.Ordinal)).Handle.Address;
        Assert.True(Jem.PtrIsAllocated(begin));
        Jem.IncrementRefCount(begin);
        Assert.Equal(1, Jem.GetRefCount(begin));
        Jem.DecrementRefCount(begin);
        Assert.Equal(0, Jem.TryFreeAll());
        buffer[3] = 4;
    }

    [Fact(Explicit = true)]
    public void switched_off_it_says_that_it_cannot_tell_and_still_frees_what_is_in_it()
    {
        nint block = Jem.Malloc(10);
        Jem.Ledger = false;
        nint other = Jem.Malloc(10);
        Assert.Throws<InvalidOperationException>(() => Jem.PtrIsAllocated(other));
        Assert.Throws<InvalidOperationException>(() => Jem.GetRefCount(other));
        Assert.True(Jem.PtrIsAllocated(block));
        Jem.Free(other);
        Jem.Free(block);
    }

    [Fact(Explicit = true)]
    public void of_many_threads_one_frees_a_block()
    {
        for (int round = 0; round < 200; round++)
        {
            nint block = Jem.Malloc(64);
            int freed = 0;
            Parallel.For(0, 4, _ =>
            {
                try
                {
                    Jem.Free(block);
                    Interlocked.Increment(ref freed);
                }
                catch (InvalidOperationException)
                {
                }
            });
            Assert.Equal(1, freed);
        }
    }

    [Fact(Explicit = true)]
    public void threads_allocate_and_free_at_the_same_time()
    {
        Parallel.For(0, 4, thread =>
        {
            var random = new Random(thread);
            var blocks = new List<nint>();
            for (int i = 0; i < 5000; i++)
            {
                blocks.Add(Jem.Malloc((ulong)random.Next(2000)));
                if (random.Next(2) == 0)
                {
                    int which = random.Next(blocks.Count);
                    Jem.Free(blocks[which]);
                    blocks.RemoveAt(which);
                }
            }
            blocks.ForEach(block => Jem.Free(block));
        });
        Assert.DoesNotContain(HandleTable.Live(), each => each.Kind == "Jem");
    }
}
