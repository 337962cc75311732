// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using Xunit;

namespace Tenure.Tests;

public sealed unsafe class PoolTests
{
    private struct Monster
    {
        public long Id;
        public int Health;
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void it_does_what_a_slow_model_does(int seed)
    {
        var random = new Random(seed);
        using var pool = new Pool<Monster>();
        var model = new Dictionary<nint, Monster>();
        var order = new List<nint>();
        for (int step = 0; step < 50_000; step++)
        {
            switch (random.Next(1000))
            {
                case < 550:
                    var value = new Monster { Id = step, Health = ~step };
                    ref Monster made = ref pool.Construct(value);
                    fixed (Monster* at = &made)
                    {
                        Assert.True(model.TryAdd((nint)at, value), "two objects at one place");
                        order.Add((nint)at);
                    }
                    break;
                case < 999:
                    if (order.Count > 0)
                    {
                        int index = random.Next(order.Count);
                        nint at = order[index];
                        Assert.Equal(model[at], *(Monster*)at);
                        pool.Free((Monster*)at);
                        model.Remove(at);
                        order[index] = order[^1];
                        order.RemoveAt(order.Count - 1);
                    }
                    break;
                default:
                    pool.Clear();
                    pool.Trim();
                    model.Clear();
                    order.Clear();
                    break;
            }
            Assert.Equal(model.Count, pool.Count);
        }
        Assert.All(model, each => Assert.Equal(each.Value, *(Monster*)each.Key));
        Assert.Equal((ulong)model.Count, pool.Stats.LiveCount);
    }

    [Fact]
    public void objects_lie_their_size_apart_at_their_alignment()
    {
        using var pool = new Pool<Monster>();
        Monster* first = pool.Allocate(), second = pool.TryAllocate();
        Assert.Equal(0u, (nuint)first % 8);
        Assert.True(second == first + 1 || first == second + 1);
        pool.Free(ref *first);
        pool.Free((Monster*)null);
        Assert.Equal(1, pool.Count);
    }

    [Fact]
    public void blocks_have_the_size_and_alignment_that_was_asked_for()
    {
        using var pool = new BlockPool(100, 64);
        using var shared = new SharedBlockPool(100, 64);
        for (int index = 0; index < 1000; index++)
        {
            byte* one = (byte*)pool.Allocate(), other = (byte*)shared.Allocate();
            Assert.Equal(0u, ((nuint)one | (nuint)other) % 64);
            new Span<byte>(one, 100).Fill(1);
            new Span<byte>(other, 100).Fill(2);
            if (index % 3 == 0)
            {
                pool.Free(one);
                shared.Free(other);
            }
        }
        Assert.Equal(666, pool.Count);
        Assert.Equal(666, shared.Count);
        Assert.Equal(666ul, shared.Stats.LiveCount);
        pool.Clear();
        shared.Clear();
        Assert.Equal(0, pool.Count + shared.Count);
        Assert.True(pool.Trim() > 0);
        Assert.True(shared.Trim() > 0);
        pool.Free(null);
        shared.Free(null);
    }

    [Fact]
    public void sizes_and_alignments_out_of_range_are_refused()
    {
        Assert.Throws<ArgumentOutOfRangeException>(() => new BlockPool(0));
        Assert.Throws<ArgumentOutOfRangeException>(() => new BlockPool(BlockPool.MaxBlockBytes + 1));
        Assert.Throws<ArgumentOutOfRangeException>(() => new BlockPool(nuint.MaxValue));
        Assert.Throws<ArgumentOutOfRangeException>(() => new BlockPool(8, 0));
        Assert.Throws<ArgumentOutOfRangeException>(() => new BlockPool(8, 12));
        Assert.Throws<ArgumentOutOfRangeException>(() => new SharedBlockPool(0));
        Assert.Throws<ArgumentOutOfRangeException>(() => new SharedBlockPool(8, 7));
    }

    [Fact]
    public void a_disposed_pool_throws_whatever_it_is_asked()
    {
        var pool = new Pool<Monster>();
        var shared = new SharedPool<Monster>();
        pool.Dispose();
        pool.Dispose();
        shared.Dispose();
        shared.Dispose();
        Assert.Throws<ObjectDisposedException>(() => { pool.Allocate(); });
        Assert.Throws<ObjectDisposedException>(() => { pool.TryAllocate(); });
        Assert.Throws<ObjectDisposedException>(() => { pool.Construct(default); });
        Assert.Throws<ObjectDisposedException>(() => pool.Free((Monster*)null));
        Assert.Throws<ObjectDisposedException>(() => pool.Clear());
        Assert.Throws<ObjectDisposedException>(() => { pool.Trim(); });
        Assert.Throws<ObjectDisposedException>(() => { _ = pool.Count; });
        Assert.Throws<ObjectDisposedException>(() => { _ = pool.Stats; });
        Assert.Throws<ObjectDisposedException>(() => { shared.Allocate(); });
        Assert.Throws<ObjectDisposedException>(() => { shared.TryAllocate(); });
        Assert.Throws<ObjectDisposedException>(() => { shared.Construct(default); });
        Assert.Throws<ObjectDisposedException>(() => shared.Free((Monster*)null));
        Assert.Throws<ObjectDisposedException>(() => shared.Clear());
        Assert.Throws<ObjectDisposedException>(() => { shared.Trim(); });
        Assert.Throws<ObjectDisposedException>(() => { _ = shared.Count; });
        Assert.Throws<ObjectDisposedException>(() => { _ = shared.Stats; });
    }

    [Fact]
    public void threads_free_what_other_threads_took()
    {
        const int Threads = 4, Each = 20_000;
        using var pool = new SharedPool<Monster>();
        var taken = new nint[Threads][];
        var found = new Monster[Threads][];
        var barrier = new Barrier(Threads);
        Thread[] threads = [.. Enumerable.Range(0, Threads).Select(number => new Thread(() =>
        {
            var mine = new nint[Each];
            for (int index = 0; index < Each; index++)
            {
                mine[index] = (nint)pool.Allocate();
                *(Monster*)mine[index] = new Monster { Id = number, Health = index };
            }
            taken[number] = mine;
            barrier.SignalAndWait();
            int other = (number + 1) % Threads;
            found[other] = new Monster[Each];
            for (int index = 0; index < Each; index++)
            {
                found[other][index] = *(Monster*)taken[other][index];
                pool.Free((Monster*)taken[other][index]);
            }
        }))];
        Array.ForEach(threads, thread => thread.Start());
        Array.ForEach(threads, thread => thread.Join());
        for (int owner = 0; owner < Threads; owner++)
        {
            Assert.Equal(Enumerable.Range(0, Each).Select(index => new Monster { Id = owner, Health = index }), found[owner]);
        }
        Assert.Equal(0, pool.Count);
    }
}
