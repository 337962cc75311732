// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using Xunit;

namespace Tenure.Tests;

public sealed class TempListTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void it_does_what_a_managed_list_does(int seed)
    {
        var random = new Random(seed);
        var model = new List<int>();
        using var scope = TempScope.Begin();
        TempList<int> list = scope.CreateList<int>(random.Next(10));
        for (int step = 0; step < 5000; step++)
        {
            int value = random.Next(), at = random.Next(model.Count + 1);
            switch (random.Next(10))
            {
                case < 3:
                    list.Add(value);
                    model.Add(value);
                    break;
                case 3:
                    list.AddRange(value, at);
                    model.AddRange([value, at]);
                    break;
                case 4 when model.Count < 2000:
                    list.AddRange(list.AsSpan()[at..]);
                    model.AddRange(model.GetRange(at, model.Count - at));
                    break;
                case 5:
                    list.Insert(at, value);
                    model.Insert(at, value);
                    break;
                case 6 when at < model.Count:
                    list.RemoveAt(at);
                    model.RemoveAt(at);
                    break;
                case 7 when at < model.Count:
                    list.RemoveAtSwapBack(at);
                    model[at] = model[^1];
                    model.RemoveAt(model.Count - 1);
                    break;
                case 8:
                    scope.AllocateZeroed<int>(3); // so that the list's block is not always the newest
                    list.AddUninitialized(1)[0] = value;
                    model.Add(value);
                    break;
                case 9 when random.Next(50) == 0:
                    list.Clear();
                    model.Clear();
                    list.EnsureCapacity(at);
                    break;
            }
            Assert.Equal(model.Count, list.Count);
            if (step % 20 == 0)
            {
                Assert.Equal(model, list.AsSpan().ToArray());
            }
        }
        int index = 0;
        foreach (ref int each in list)
        {
            Assert.Equal(model[index++], each);
        }
        Assert.Equal(model.Count, index);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void chunks_do_what_a_managed_list_does(int seed)
    {
        var random = new Random(seed);
        var model = new List<int>();
        using var scope = TempScope.Begin();
        TempChunkedList<int> list = scope.CreateChunkedList<int>(random.Next(1, 20));
        for (int step = 0; step < 5000; step++)
        {
            int value = random.Next(), at = random.Next(model.Count + 1);
            switch (random.Next(7))
            {
                case < 3:
                    Assert.True(Unsafe.AreSame(ref list.Add(value), ref list[model.Count]));
                    model.Add(value);
                    break;
                case 3:
                    list.AddRange(value, at, step);
                    model.AddRange([value, at, step]);
                    break;
                case 4 when model.Count != 0:
                    list.RemoveLast();
                    model.RemoveAt(model.Count - 1);
                    break;
                case 5 when at < model.Count:
                    list.RemoveAtSwapBack(at);
                    model[at] = model[^1];
                    model.RemoveAt(model.Count - 1);
                    break;
                case 6 when random.Next(50) == 0:
                    list.Clear();
                    model.Clear();
                    list.EnsureCapacity(at);
                    break;
            }
            Assert.Equal(model.Count, list.Count);
        }
        var seen = new List<int>();
        for (long chunk = 0; chunk < list.ChunkCount; chunk++)
        {
            seen.AddRange(list.Chunk(chunk).ToArray());
        }
        Assert.Equal(model, seen);
        seen.Clear();
        foreach (ref int each in list)
        {
            seen.Add(each);
        }
        Assert.Equal(model, seen);
    }

    [Fact]
    public void a_copy_is_the_same_list()
    {
        using var scope = TempScope.Begin();
        TempList<int> list = scope.CreateList<int>();
        AddHundred(list);
        Assert.Equal(100, list.Count);
        Assert.Equal(99, list[99]);
    }

    [Fact]
    public unsafe void the_newest_list_grows_in_place()
    {
        using var scope = TempScope.Begin();
        TempList<int> list = scope.CreateList<int>(4);
        list.Add(0);
        ref int first = ref list[0];
        AddHundred(list);
        Assert.True(Unsafe.AreSame(ref first, ref list[0]));
        scope.Allocate<int>(1);
        AddHundred(list);
        Assert.False(Unsafe.AreSame(ref first, ref list[0]));
        Assert.Equal(201, list.Count);
        Assert.Equal((0, 99, 99), (list[0], list[100], list[200]));
    }

    [Fact]
    public void what_passes_the_budget_overflows_and_stays_whole()
    {
        using var scope = TempScope.Begin();
        TempList<long> list = scope.CreateList<long>();
        TempChunkedList<long> chunks = scope.CreateChunkedList<long>();
        for (int index = 0; index < 1_000_000; index++) // 8 MB each, past the budget of 4 MiB
        {
            list.Add(index);
            chunks.Add(-index);
        }
        for (int index = 0; index < 1_000_000; index++)
        {
            if (list[index] != index || chunks[index] != -index)
            {
                Assert.Fail($"Element {index} has changed.");
            }
        }
    }

    [Fact]
    public void a_list_does_not_grow_while_an_inner_scope_is_open()
    {
        using var scope = TempScope.Begin();
        TempList<int> list = scope.CreateList<int>(1);
        TempChunkedList<int> chunks = scope.CreateChunkedList<int>(1);
        list.Add(1);
        chunks.Add(1);
        using (TempScope inner = TempScope.Begin())
        {
            Assert.True(Refuses(list));
            Assert.True(RefusesChunks(chunks));
            Assert.Equal((1, 1L), (list.Count, chunks.Count));
            list[0] = 2; // needs no memory
            list.Clear();
            list.Add(3);
            chunks.Clear();
            chunks.Add(4);
        }
        list.Add(5);
        chunks.Add(6);
        Assert.Equal((3, 5, 4, 6), (list[0], list[1], chunks[0], chunks[1]));
    }

    [Fact]
    public void an_ended_scope_gives_no_list_and_no_growth()
    {
        var scope = TempScope.Begin();
        TempList<int> list = scope.CreateList<int>(1);
        scope.Dispose();
        bool refused = false;
        try
        {
            scope.CreateList<int>();
        }
        catch (ObjectDisposedException)
        {
            refused = true;
        }
        Assert.True(refused);
        Assert.True(Refuses(list));
    }

    [Fact]
    public void a_default_value_is_refused()
    {
        Assert.Throws<ObjectDisposedException>(() => default(TempList<int>).Add(1));
        Assert.Throws<ObjectDisposedException>(() => default(TempList<int>).Count);
        Assert.Throws<ObjectDisposedException>(() => default(TempList<int>)[0]);
        Assert.Throws<ObjectDisposedException>(() => { default(TempList<int>).AsSpan(); });
        Assert.Throws<ObjectDisposedException>(() => { default(TempList<int>).GetEnumerator(); });
        Assert.Throws<ObjectDisposedException>(() => { default(TempChunkedList<int>).Add(1); });
        Assert.Throws<ObjectDisposedException>(() => default(TempChunkedList<int>).Count);
        Assert.Throws<ObjectDisposedException>(() => { default(TempChunkedList<int>).Chunk(0); });
    }

    [Fact]
    public void every_index_is_checked()
    {
        using var scope = TempScope.Begin();
        TempList<int> list = scope.CreateList<int>(16);
        TempChunkedList<int> chunks = scope.CreateChunkedList<int>();
        int caught = 0;
        try
        {
            list[0]++;
        }
        catch (IndexOutOfRangeException)
        {
            caught++;
        }
        try
        {
            chunks[0]++;
        }
        catch (IndexOutOfRangeException)
        {
            caught++;
        }
        try
        {
            scope.CreateList<int>(-1);
        }
        catch (ArgumentOutOfRangeException)
        {
            caught++;
        }
        Assert.Equal(3, caught);
    }

    [Fact]
    public void what_does_not_fit_into_memory_changes_nothing()
    {
        using var scope = TempScope.Begin();
        TempList<NativeListTests.Megabyte> list = scope.CreateList<NativeListTests.Megabyte>();
        bool refused = false;
        try
        {
            list.EnsureCapacity(int.MaxValue);
        }
        catch (OutOfMemoryException)
        {
            refused = true;
        }
        Assert.True(refused);
        Assert.Equal((0, 0), (list.Count, list.Capacity));
    }

    [Fact]
    public void adding_allocates_no_managed_memory()
    {
        using var scope = TempScope.Begin();
        TempList<int> list = scope.CreateList<int>();
        AddHundred(list);
        long before = GC.GetAllocatedBytesForCurrentThread();
        AddHundred(list);
        AddHundred(scope.CreateList<int>());
        Assert.Equal(0, GC.GetAllocatedBytesForCurrentThread() - before);
    }

    private static bool Refuses(TempList<int> list)
    {
        try
        {
            list.AddRange(1, 2, 3);
        }
        catch (InvalidOperationException)
        {
            return true;
        }
        return false;
    }

    private static bool RefusesChunks(TempChunkedList<int> list)
    {
        try
        {
            list.Add(2);
        }
        catch (InvalidOperationException)
        {
            return true;
        }
        return false;
    }

    private static void AddHundred(TempList<int> list)
    {
        for (int each = 0; each < 100; each++)
        {
            list.Add(each);
        }
    }
}
