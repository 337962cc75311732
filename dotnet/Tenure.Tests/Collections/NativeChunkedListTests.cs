// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.CompilerServices;
using Xunit;

namespace Tenure.Tests;

public sealed class NativeChunkedListTests
{
    [Theory]
    [InlineData(1, Lifetime.Persistent)]
    [InlineData(2, Lifetime.TempJob)]
    [InlineData(3, Lifetime.Persistent)]
    [InlineData(4, Lifetime.TempJob)]
    public void it_does_what_a_managed_list_does(int seed, Lifetime lifetime)
    {
        var random = new Random(seed);
        var model = new List<long>();
        using var list = new NativeChunkedList<long>(random.Next(1, 20), lifetime);
        for (int step = 0; step < 20_000; step++)
        {
            long value = random.NextInt64();
            int at = random.Next(model.Count + 1);
            switch (random.Next(12))
            {
                case < 4:
                    ref long added = ref list.Add(value);
                    Assert.True(Unsafe.AreSame(ref added, ref list[model.Count]));
                    model.Add(value);
                    break;
                case 4:
                    long[] values = [.. Enumerable.Range(0, random.Next(40)).Select(_ => random.NextInt64())];
                    list.AddRange(values);
                    model.AddRange(values);
                    break;
                case 5 when model.Count != 0:
                    list.AddRange(list.Chunk(0));
                    model.AddRange(model.GetRange(0, Math.Min(model.Count, list.ChunkCapacity)));
                    break;
                case 6 when model.Count != 0:
                    list.RemoveLast();
                    model.RemoveAt(model.Count - 1);
                    break;
                case 7 or 8 when at < model.Count:
                    list.RemoveAtSwapBack(at);
                    model[at] = model[^1];
                    model.RemoveAt(model.Count - 1);
                    break;
                case 9:
                    list.EnsureCapacity(at * 2);
                    Assert.True(list.Capacity >= at * 2);
                    break;
                case 10 when random.Next(50) == 0:
                    list.Clear();
                    model.Clear();
                    break;
                case 11 when random.Next(20) == 0:
                    list.TrimExcess();
                    Assert.Equal(list.ChunkCount * list.ChunkCapacity, list.Capacity);
                    break;
            }
            Assert.Equal(model.Count, list.Count);
            if (step % 50 == 0 || model.Count == 0)
            {
                Check(model, list);
            }
        }
    }

    [Theory]
    [InlineData(Lifetime.Persistent)]
    [InlineData(Lifetime.TempJob)]
    public unsafe void elements_do_not_move(Lifetime lifetime)
    {
        using var list = new NativeChunkedList<long>(16, lifetime);
        var places = new List<nint>();
        for (int index = 0; index < 10_000; index++)
        {
            places.Add((nint)Unsafe.AsPointer(ref list.Add(index)));
        }
        Assert.Equal(625, list.ChunkCount);
        for (int index = 0; index < 10_000; index++)
        {
            Assert.Equal(places[index], (nint)Unsafe.AsPointer(ref list[index]));
            Assert.Equal(index, *(long*)places[index]);
        }
        while (list.Count > 1)
        {
            list.RemoveLast();
        }
        list.TrimExcess();
        Assert.Equal(places[0], (nint)Unsafe.AsPointer(ref list[0]));
    }

    [Fact]
    public void elements_are_enumerated_by_reference()
    {
        using var list = new NativeChunkedList<int>(2);
        list.AddRange(1, 2, 3);
        foreach (ref int each in list)
        {
            each *= 10;
        }
        Assert.Equal([10, 20], list.Chunk(0).ToArray());
        Assert.Equal([30], list.Chunk(1).ToArray());
    }

    [Fact]
    public void the_default_chunk_is_eight_kibibytes()
    {
        using var bytes = new NativeChunkedList<byte>();
        using var triples = new NativeChunkedList<(int, int, int)>();
        using var large = new NativeChunkedList<NativeListTests.Megabyte>();
        Assert.Equal((8192, 512, 1), (bytes.ChunkCapacity, triples.ChunkCapacity, large.ChunkCapacity));
        using var three = new NativeChunkedList<byte>(3);
        Assert.Equal(4, three.ChunkCapacity);
        Assert.Throws<ArgumentOutOfRangeException>(() => new NativeChunkedList<byte>(-1));
        Assert.Throws<ArgumentOutOfRangeException>(() => new NativeChunkedList<byte>((1 << 30) + 1));
    }

    [Fact]
    public void adding_allocates_no_managed_memory()
    {
        using var list = new NativeChunkedList<int>(64);
        Fill(list, 10);
        long before = GC.GetAllocatedBytesForCurrentThread();
        Fill(list, 5000);
        Assert.Equal(0, GC.GetAllocatedBytesForCurrentThread() - before);
    }

    [Fact]
    public void every_index_is_checked()
    {
        using var list = new NativeChunkedList<int>(4);
        Assert.Throws<IndexOutOfRangeException>(() => list[0]);
        Assert.Throws<ArgumentOutOfRangeException>(() => { list.Chunk(0); });
        Assert.Throws<InvalidOperationException>(list.RemoveLast);
        list.AddRange(1, 2, 3);
        Assert.Throws<IndexOutOfRangeException>(() => list[3]);
        Assert.Throws<IndexOutOfRangeException>(() => list[-1]);
        Assert.Throws<IndexOutOfRangeException>(() => list[long.MinValue]);
        Assert.Throws<ArgumentOutOfRangeException>(() => { list.Chunk(1); });
        Assert.Throws<ArgumentOutOfRangeException>(() => { list.Chunk(-1); });
        Assert.Throws<ArgumentOutOfRangeException>(() => list.RemoveAtSwapBack(3));
        Assert.Throws<ArgumentOutOfRangeException>(() => list.EnsureCapacity(-1));
    }

    [Fact]
    public void a_disposed_list_throws_whatever_it_is_asked()
    {
        var list = new NativeChunkedList<int>();
        list.Add(1);
        list.Dispose();
        list.Dispose();
        Assert.Throws<ObjectDisposedException>(() => list.Count);
        Assert.Throws<ObjectDisposedException>(() => list.Capacity);
        Assert.Throws<ObjectDisposedException>(() => list.ChunkCapacity);
        Assert.Throws<ObjectDisposedException>(() => list.ChunkCount);
        Assert.Throws<ObjectDisposedException>(() => list[0]);
        Assert.Throws<ObjectDisposedException>(() => { list.Add(1); });
        Assert.Throws<ObjectDisposedException>(() => list.AddRange(1));
        Assert.Throws<ObjectDisposedException>(() => { list.Chunk(0); });
        Assert.Throws<ObjectDisposedException>(list.RemoveLast);
        Assert.Throws<ObjectDisposedException>(() => list.RemoveAtSwapBack(0));
        Assert.Throws<ObjectDisposedException>(list.Clear);
        Assert.Throws<ObjectDisposedException>(() => list.EnsureCapacity(0));
        Assert.Throws<ObjectDisposedException>(list.TrimExcess);
        Assert.Throws<ObjectDisposedException>(() => { list.GetEnumerator(); });
    }

    [Theory]
    [InlineData(Lifetime.Persistent)]
    [InlineData(Lifetime.TempJob)]
    public void what_does_not_fit_into_memory_changes_nothing(Lifetime lifetime)
    {
        using var list = new NativeChunkedList<NativeListTests.Megabyte>(1 << 30, lifetime); // 1 PiB per chunk
        Assert.Throws<OutOfMemoryException>(() => { list.Add(default); });
        Assert.Equal((0L, 0L), (list.Count, list.Capacity));
        using var bytes = new NativeChunkedList<byte>(1, lifetime);
        bytes.Add(5);
        Assert.Throws<OutOfMemoryException>(() => bytes.EnsureCapacity(long.MaxValue));
        Assert.Throws<OutOfMemoryException>(() => bytes.EnsureCapacity(1L << 50));
        Assert.Equal((1L, (byte)5), (bytes.Count, bytes[0]));
    }

    private static void Check(List<long> model, NativeChunkedList<long> list)
    {
        var seen = new List<long>();
        for (long chunk = 0; chunk < list.ChunkCount; chunk++)
        {
            seen.AddRange(list.Chunk(chunk).ToArray());
        }
        Assert.Equal(model, seen);
        int index = 0;
        foreach (ref long each in list)
        {
            Assert.Equal(model[index++], each);
        }
    }

    private static void Fill(NativeChunkedList<int> list, int count)
    {
        for (int each = 0; each < count; each++)
        {
            list.Add(each);
        }
    }
}
