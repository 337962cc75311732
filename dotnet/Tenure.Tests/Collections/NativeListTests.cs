// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using Xunit;

namespace Tenure.Tests;

public sealed class NativeListTests
{
    [Theory]
    [InlineData(1, Lifetime.Persistent)]
    [InlineData(2, Lifetime.Persistent)]
    [InlineData(3, Lifetime.TempJob)]
    [InlineData(4, Lifetime.TempJob)]
    public void it_does_what_a_managed_list_does(int seed, Lifetime lifetime)
    {
        var random = new Random(seed);
        var model = new List<long>();
        using var list = new NativeList<long>(random.Next(10), lifetime);
        for (int step = 0; step < 20_000; step++)
        {
            long value = random.NextInt64();
            int at = random.Next(model.Count + 1);
            switch (random.Next(14))
            {
                case < 4:
                    list.Add(value);
                    model.Add(value);
                    break;
                case 4:
                    long[] values = new long[random.Next(40)];
                    random.NextBytes(MemoryMarshal.AsBytes<long>(values.AsSpan()));
                    list.AddRange(values);
                    model.AddRange(values);
                    break;
                case 5 when model.Count < 5000:
                    list.AddRange(list.AsSpan()[at..]); // its own elements, which may move meanwhile
                    model.AddRange(model.GetRange(at, model.Count - at));
                    break;
                case 6:
                    list.Insert(at, value);
                    model.Insert(at, value);
                    break;
                case 7 when at < model.Count:
                    list.RemoveAt(at);
                    model.RemoveAt(at);
                    break;
                case 8 or 9 when at < model.Count:
                    list.RemoveAtSwapBack(at);
                    model[at] = model[^1];
                    model.RemoveAt(model.Count - 1);
                    break;
                case 10 when at < model.Count:
                    list[at] += value;
                    model[at] += value;
                    break;
                case 11:
                    list.EnsureCapacity(at * 2);
                    Assert.True(list.Capacity >= at * 2);
                    break;
                case 12 when random.Next(50) == 0:
                    list.Clear();
                    model.Clear();
                    break;
                case 13 when random.Next(20) == 0:
                    list.TrimExcess();
                    Assert.Equal(model.Count, list.Capacity);
                    break;
            }
            Assert.Equal(model.Count, list.Count);
            if (step % 50 == 0 || model.Count == 0)
            {
                Assert.Equal(model.ToArray(), list.AsSpan().ToArray());
            }
        }
    }

    [Theory]
    [InlineData(Lifetime.Persistent)]
    [InlineData(Lifetime.TempJob)]
    public void elements_are_enumerated_by_reference(Lifetime lifetime)
    {
        using var list = new NativeList<int>(lifetime: lifetime);
        list.AddRange(1, 2, 3);
        foreach (ref int each in list)
        {
            each *= 10;
        }
        Assert.Equal([10, 20, 30], list.AsSpan().ToArray());
        int visited = 0;
        foreach (int each in list)
        {
            visited++;
            if (list.Count < 100)
            {
                list.Add(each); // moves the elements; the loop follows
            }
        }
        Assert.Equal(100, visited);
    }

    [Fact]
    public void adding_allocates_no_managed_memory()
    {
        using var list = new NativeList<int>(2000);
        using var growing = new NativeList<int>(lifetime: Lifetime.TempJob);
        Fill(list, 10);
        Fill(growing, 10);
        list.Clear();
        long before = GC.GetAllocatedBytesForCurrentThread();
        Fill(list, 2000);
        Fill(growing, 2000);
        Assert.Equal(0, GC.GetAllocatedBytesForCurrentThread() - before);
        Assert.Equal(2000, list.Capacity);
    }

    [Fact]
    public void every_index_is_checked()
    {
        using var list = new NativeList<int>(16);
        Assert.Throws<IndexOutOfRangeException>(() => list[0]);
        list.AddRange(1, 2, 3);
        Assert.Throws<IndexOutOfRangeException>(() => list[3]); // inside the capacity
        Assert.Throws<IndexOutOfRangeException>(() => list[-1]);
        Assert.Throws<ArgumentOutOfRangeException>(() => list.Insert(4, 1));
        Assert.Throws<ArgumentOutOfRangeException>(() => list.Insert(-1, 1));
        Assert.Throws<ArgumentOutOfRangeException>(() => list.RemoveAt(3));
        Assert.Throws<ArgumentOutOfRangeException>(() => list.RemoveAt(-1));
        Assert.Throws<ArgumentOutOfRangeException>(() => list.RemoveAtSwapBack(3));
        Assert.Throws<ArgumentOutOfRangeException>(() => list.RemoveAtSwapBack(-1));
        Assert.Throws<ArgumentOutOfRangeException>(() => list.EnsureCapacity(-1));
        Assert.Throws<ArgumentOutOfRangeException>(() => { list.AddUninitialized(-1); });
        Assert.Throws<ArgumentOutOfRangeException>(() => new NativeList<int>(-1));
        Assert.Throws<ArgumentOutOfRangeException>(() => new NativeList<int>(1, (Lifetime)3));
        Assert.Equal([1, 2, 3], list.AsSpan().ToArray());
    }

    [Fact]
    public void temp_is_refused_in_favour_of_a_scope()
    {
        ArgumentException refused = Assert.Throws<ArgumentException>(() => new NativeList<int>(1, Lifetime.Temp));
        Assert.Contains("TempScope", refused.Message, StringComparison.Ordinal);
        refused = Assert.Throws<ArgumentException>(() => new NativeChunkedList<int>(1, Lifetime.Temp));
        Assert.Contains("TempScope", refused.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(Lifetime.Persistent)]
    [InlineData(Lifetime.TempJob)]
    public void a_disposed_list_throws_whatever_it_is_asked(Lifetime lifetime)
    {
        var list = new NativeList<int>(4, lifetime);
        list.Add(1);
        list.Dispose();
        list.Dispose();
        Assert.Throws<ObjectDisposedException>(() => list.Count);
        Assert.Throws<ObjectDisposedException>(() => list.Capacity);
        Assert.Throws<ObjectDisposedException>(() => list[0]);
        Assert.Throws<ObjectDisposedException>(() => list.Add(1));
        Assert.Throws<ObjectDisposedException>(() => list.AddRange());
        Assert.Throws<ObjectDisposedException>(() => list.AddRange(1, 2));
        Assert.Throws<ObjectDisposedException>(() => { list.AddUninitialized(0); });
        Assert.Throws<ObjectDisposedException>(() => list.Insert(0, 1));
        Assert.Throws<ObjectDisposedException>(() => list.RemoveAt(0));
        Assert.Throws<ObjectDisposedException>(() => list.RemoveAtSwapBack(0));
        Assert.Throws<ObjectDisposedException>(list.Clear);
        Assert.Throws<ObjectDisposedException>(() => list.EnsureCapacity(0));
        Assert.Throws<ObjectDisposedException>(list.TrimExcess);
        Assert.Throws<ObjectDisposedException>(() => { list.AsSpan(); });
        Assert.Throws<ObjectDisposedException>(() => { list.GetEnumerator(); });
        Assert.Equal(lifetime, list.Lifetime);
    }

    [Theory]
    [InlineData(Lifetime.Persistent)]
    [InlineData(Lifetime.TempJob)]
    public void what_does_not_fit_into_memory_changes_nothing(Lifetime lifetime)
    {
        using var list = new NativeList<Megabyte>(lifetime: lifetime);
        list.Add(default);
        list[0].First = 7;
        int capacity = list.Capacity;
        Assert.Throws<OutOfMemoryException>(() => list.EnsureCapacity(int.MaxValue));
        Assert.Throws<OutOfMemoryException>(() => { list.AddUninitialized(int.MaxValue - 1); });
        Assert.Throws<OutOfMemoryException>(() => new NativeList<Megabyte>(int.MaxValue, lifetime));
        Assert.Equal((1, capacity, 7), (list.Count, list.Capacity, list[0].First));
    }

    [Fact]
    public void a_count_past_the_largest_span_is_refused()
    {
        using var list = new NativeList<byte>();
        list.AddUninitialized(int.MaxValue); // 2 GiB of addresses, none of them written
        OutOfMemoryException refused = Assert.Throws<OutOfMemoryException>(() => list.Add(1));
        Assert.Contains("2147483648 elements", refused.Message, StringComparison.Ordinal);
        Assert.Throws<OutOfMemoryException>(() => list.AddRange(1, 2));
        Assert.Throws<OutOfMemoryException>(() => list.Insert(0, 1));
        Assert.Throws<OutOfMemoryException>(() => { list.AddUninitialized(int.MaxValue); });
        Assert.Equal(int.MaxValue, list.Count);
    }

    [Theory]
    [InlineData(Lifetime.Persistent)]
    [InlineData(Lifetime.TempJob)]
    public unsafe void elements_are_aligned_as_their_type_asks(Lifetime lifetime)
    {
        using var list = new NativeList<Vector512<int>>(lifetime: lifetime);
        for (int count = 0; count < 300; count++)
        {
            list.Add(Vector512.Create(count));
            Assert.Equal(0u, (nuint)Unsafe.AsPointer(ref list[0]) % AlignmentOf<Vector512<int>>.Bytes);
        }
        Assert.Equal(Vector512.Create(299), list[299]);
    }

    [Fact]
    public void forgotten_lists_of_temp_job_are_reported() => ChildProcess.Run(typeof(CollectionsInAChild));

    [Fact]
    public void forgotten_lists_are_reported_by_the_checked_library() => ChildProcess.RunChecked(typeof(CollectionsOfTheCheckedLibrary));

    private static void Fill(NativeList<int> list, int count)
    {
        for (int each = 0; each < count; each++)
        {
            list.Add(each);
        }
    }

    [InlineArray(1 << 18)]
    internal struct Megabyte
    {
        internal int First;
    }
}

/// <summary>In a process of its own: the handler and the frames are the process's.</summary>
public sealed class CollectionsInAChild
{
    [Fact(Explicit = true)]
    public void a_collection_of_temp_job_that_is_not_disposed_is_reported_as_a_block()
    {
        var heard = new List<string>();
        Reports.Handler = (kind, text) => heard.Add($"{kind}: {text}");
        Forget();
        GC.Collect();
        GC.WaitForPendingFinalizers();
        for (int frame = 0; frame < 10; frame++)
        {
            Native.NextFrame();
        }
        Reports.Handler = null;
        Assert.All(heard, each => Assert.StartsWith("Leak: ", each, StringComparison.Ordinal));
        Assert.Single(heard, each => each.Contains("of 4000 bytes", StringComparison.Ordinal));
        Assert.Single(heard, each => each.Contains("of 512 bytes", StringComparison.Ordinal));
        Assert.Single(heard, each => each.Contains("of 1234 bytes", StringComparison.Ordinal));
        Assert.Equal(4, heard.Count); // a chunk's table too
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Forget()
    {
        new NativeList<int>(1000, Lifetime.TempJob).Add(1);
        new NativeChunkedList<int>(128, Lifetime.TempJob).Add(1);
        _ = new FixedBuffer<byte>(1234, Lifetime.TempJob);
        using var disposed = new NativeList<int>(2000, Lifetime.TempJob);
        using var alsoDisposed = new NativeChunkedList<int>(2048, Lifetime.TempJob);
        alsoDisposed.Add(1);
        new FixedBuffer<byte>(4321, Lifetime.TempJob).Free();
        using var array = new SafeArray<byte>(4322, Lifetime.TempJob);
    }
}

/// <summary>In a process that has the library with the caller's mistakes checked.</summary>
public sealed class CollectionsOfTheCheckedLibrary
{
    private static readonly List<(ReportKind Kind, string Text)> _heard = [];

    [Fact(Explicit = true)]
    public void everything_works_and_lost_lists_are_reported()
    {
        Reports.Handler = (kind, text) =>
        {
            lock (_heard)
            {
                _heard.Add((kind, text));
            }
        };
        var lists = new NativeListTests();
        lists.it_does_what_a_managed_list_does(1, Lifetime.Persistent);
        lists.it_does_what_a_managed_list_does(2, Lifetime.TempJob);
        lists.elements_are_aligned_as_their_type_asks(Lifetime.Persistent);
        lists.elements_are_aligned_as_their_type_asks(Lifetime.TempJob);
        var chunked = new NativeChunkedListTests();
        chunked.it_does_what_a_managed_list_does(1, Lifetime.Persistent);
        chunked.it_does_what_a_managed_list_does(2, Lifetime.TempJob);
        var temp = new TempListTests();
        temp.it_does_what_a_managed_list_does(1);
        temp.a_list_does_not_grow_while_an_inner_scope_is_open();
        temp.chunks_do_what_a_managed_list_does(1);
        Lose();
        for (int round = 0; round < 10; round++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
        lock (_heard)
        {
            Assert.Equal(2, _heard.Count);
            Assert.Single(_heard, each => each.Text.StartsWith("A NativeList<Int32> was not disposed", StringComparison.Ordinal));
            Assert.Single(_heard, each => each.Text.StartsWith("A NativeChunkedList<Int64> was not disposed", StringComparison.Ordinal));
            Assert.All(_heard, each => Assert.Equal(ReportKind.Leak, each.Kind));
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Lose()
    {
        new NativeList<int>().Add(1);
        new NativeChunkedList<long>().Add(1);
        _ = new NativeList<byte>(); // without elements nothing is lost
        Assert.Throws<ArgumentException>(() => new NativeList<short>(4, Lifetime.Temp));
    }
}
