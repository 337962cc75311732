// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Linq;
using Xunit;

namespace Tenure.Tests;

public sealed unsafe class HandlePoolTests
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
        using var pool = new HandlePool<Monster>(300);
        var model = new Dictionary<PoolHandle<Monster>, Monster>();
        var live = new List<PoolHandle<Monster>>();
        var stale = new List<PoolHandle<Monster>>();
        for (int step = 0; step < 20_000; step++)
        {
            int choice = random.Next(1000);
            if (choice < 540)
            {
                var value = new Monster { Id = step, Health = ~step };
                bool made = pool.TryConstruct(value, out PoolHandle<Monster> handle);
                Assert.Equal(model.Count < 300, made);
                Assert.NotEqual(made, handle.IsNull);
                if (made)
                {
                    model.Add(handle, value); // throws for a handle that was given before
                    live.Add(handle);
                }
            }
            else if (choice < 997 && live.Count > 0)
            {
                int index = random.Next(live.Count);
                PoolHandle<Monster> handle = live[index];
                Assert.Equal(model[handle], pool[handle]);
                Assert.True(pool.Free(handle));
                Assert.False(pool.Free(handle));
                model.Remove(handle);
                stale.Add(handle);
                live[index] = live[^1];
                live.RemoveAt(live.Count - 1);
            }
            else if (choice == 999)
            {
                stale.AddRange(live);
                pool.Clear();
                pool.Trim();
                model.Clear();
                live.Clear();
            }
            Assert.Equal(model.Count, pool.Count);
        }
        Assert.All(model, each => Assert.Equal(each.Value, pool[each.Key]));
        Assert.DoesNotContain(stale, pool.IsLive);
    }

    [Fact]
    public void a_traversal_visits_each_object_once_in_the_order_of_addresses()
    {
        using var pool = new HandlePool<Monster>(10_000);
        var handles = Enumerable.Range(0, 1000).Select(id => pool.Construct(new Monster { Id = id })).ToList();
        foreach (PoolHandle<Monster> every in handles.Where((_, index) => index % 3 == 0))
        {
            pool.Free(every);
        }
        var seen = new List<long>();
        nint before = 0;
        foreach (ref Monster each in pool)
        {
            fixed (Monster* at = &each)
            {
                Assert.True((nint)at > before);
                before = (nint)at;
            }
            each.Health = 7;
            seen.Add(each.Id);
        }
        Assert.Equal(Enumerable.Range(0, 1000).Where(id => id % 3 != 0).Select(id => (long)id), seen.Order());
        HandlePool<Monster>.Enumerator at1 = pool.GetEnumerator();
        while (at1.MoveNext())
        {
            Assert.Equal(7, pool[at1.Handle].Health);
            Assert.True(pool.Free(at1.Handle));
        }
        Assert.Equal(0, pool.Count);
    }

    [Fact]
    public void a_handle_stays_stale_when_its_place_has_a_new_object()
    {
        using var pool = new HandlePool<Monster>(1);
        PoolHandle<Monster> first = pool.Construct(new Monster { Id = 1 });
        Assert.True(pool.TryGet(first, out Monster* place));
        pool.Free(first);
        PoolHandle<Monster> second = pool.Construct(new Monster { Id = 2 });
        Assert.True(pool.TryGet(second, out Monster* again));
        Assert.True(place == again && first != second);
        Assert.False(pool.TryGet(first, out Monster* none));
        Assert.True(none == null);
        Assert.Contains("stale", Assert.Throws<ArgumentException>(() => pool[first].Health).Message);
        Assert.Contains("default value", Assert.Throws<ArgumentException>(() => pool[default].Health).Message);
        Assert.Equal(second, new PoolHandle<Monster>(second.Bits));
    }

    [Fact]
    public void a_handle_of_another_pool_is_refused()
    {
        using var first = new HandlePool<int>(10);
        using var second = new HandlePool<int>(10);
        PoolHandle<int> inFirst = first.Construct(1), inSecond = second.Construct(2);
        Assert.NotEqual(inFirst, inSecond);
        Assert.False(first.IsLive(inSecond));
        Assert.False(first.Free(inSecond));
        Assert.Equal((1, 2), (first[inFirst], second[inSecond]));
        Assert.Contains("another pool", Assert.Throws<ArgumentException>(() => second[inFirst]).Message);
    }

    [Fact]
    public void a_full_pool_says_so_and_changes_nothing()
    {
        using var pool = new HandlePool<long>(2);
        PoolHandle<long> one = pool.Construct(1), two = pool.Construct(2);
        Assert.Contains("full", Assert.Throws<InvalidOperationException>(() => pool.Construct(3)).Message);
        Assert.False(pool.TryConstruct(3, out PoolHandle<long> none));
        Assert.True(none.IsNull);
        Assert.Equal((1L, 2L, 2L), (pool[one], pool[two], pool.Count));
    }

    [Fact]
    public void numbers_that_were_never_handles_are_safe()
    {
        using var pool = new HandlePool<int>(100);
        pool.Construct(1);
        foreach (ulong bits in new ulong[] { 1, 1ul << 32, ulong.MaxValue, 0x8000_0000_0000_0000, 99, (5ul << 32) | 0xFFFF_FFFF })
        {
            Assert.False(bits != 1ul << 32 && pool.IsLive(new PoolHandle<int>(bits)));
        }
    }

    [Fact]
    public void arguments_out_of_range_and_use_after_disposal_are_refused()
    {
        Assert.Throws<ArgumentOutOfRangeException>(() => new HandlePool<int>(0));
        Assert.Throws<ArgumentOutOfRangeException>(() => new HandlePool<int>(-1));
        Assert.Throws<ArgumentOutOfRangeException>(() => new HandlePool<int>((1L << 32) + 1));
        var pool = new HandlePool<int>(4);
        PoolHandle<int> handle = pool.Construct(1);
        pool.Dispose();
        pool.Dispose();
        Assert.Throws<ObjectDisposedException>(() => pool.Construct(1));
        Assert.Throws<ObjectDisposedException>(() => pool.IsLive(handle));
        Assert.Throws<ObjectDisposedException>(() => pool.Free(handle));
        Assert.Throws<ObjectDisposedException>(() => pool.Count);
        Assert.Throws<ObjectDisposedException>(() =>
        {
            foreach (ref int each in pool)
            {
                each = 0;
            }
        });
    }
}
