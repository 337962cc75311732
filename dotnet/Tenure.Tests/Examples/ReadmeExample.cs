// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Threading;
using System.Threading.Tasks;
using Xunit;

namespace Tenure.Tests;

/// <summary>What the README and docs/guide/dotnet.md show.</summary>
public sealed class ReadmeExample
{
    [Fact]
    public void ten_lines()
    {
        using (TempScope scope = TempScope.Begin()) // scratch of this thread: spans cannot leave the braces
        {
            Span<int> path = scope.Allocate<int>(1000);
            path.Fill(-1);
        }
        var heights = new FixedBuffer<float>(1_000_000); // copied freely; every copy knows when it was freed
        heights.VectorFill(1.5f);
        heights.VectorMultiply(2);
        heights.Free();
        Assert.Throws<ObjectDisposedException>(() => heights[0]);
        using var votes = new HugeArray<byte>(3_000_000_000L); // past 2^31, in one piece
        votes[2_999_999_999] = 1;
        Assert.Equal(1, votes[2_999_999_999]);
    }

    [Fact]
    public void what_was_forgotten_is_found()
    {
        using var scope = new LeakScope(); // throws at its end when something made inside is still held
        var name = new FixedUtf8String("steps");
        Assert.Equal("steps", name.ToString());
        name.Free();
    }

    [Fact]
    public unsafe void memory_of_every_lifetime()
    {
        void* block = Native.Allocate(128, Lifetime.Persistent); // no call into native code while the thread has one
        Native.Deallocate(block, 128, Lifetime.Persistent);
        void* results = Native.Allocate(4096, Lifetime.TempJob); // a few frames, freed by any thread
        Native.Deallocate(results, Lifetime.TempJob);
        Assert.True(block != null && results != null);
    }

    [Fact]
    public void lists_of_every_lifetime()
    {
        using var names = new NativeList<int>(); // Persistent: contiguous, until Dispose
        names.AddRange(3, 1, 2);
        names.AsSpan().Sort();
        using var results = new NativeChunkedList<long>(lifetime: Lifetime.TempJob); // a few frames; reported if forgotten
        ref long first = ref results.Add(40);
        results.AddRange(1, 2, 3);
        first += 2; // chunks do not move
        using var scope = TempScope.Begin();
        TempList<int> hits = scope.CreateList<int>(); // Temp: it cannot leave the scope
        hits.Add(names[0]);
        Assert.Equal((1, 42L), (hits[0], results[0]));
    }

    [Fact]
    public void slow_calls_are_measured()
    {
        long slowCalls = 0, slowTicks = 0;
        var begun = new ThreadLocal<Stack<long>>(() => new Stack<long>()); // slow calls nest
        AllocationHooks.Installed = new AllocationHooks // of the process: install them when the program starts
        {
            CallBegin = (what, bytes) => begun.Value!.Push(Stopwatch.GetTimestamp()), // no call of Tenure in a hook
            CallEnd = what =>
            {
                Interlocked.Increment(ref slowCalls);
                Interlocked.Add(ref slowTicks, Stopwatch.GetTimestamp() - begun.Value!.Pop());
            },
        };
        using (var chunks = new Arena())
        {
            chunks.Allocate<byte>(100_000);
        }
        AllocationHooks.Installed = null;
        Assert.True(slowCalls > 0 && slowTicks > 0);
    }

    [Fact]
    public void text_of_a_scope()
    {
        using var scope = TempScope.Begin();
        Utf8Builder line = scope.CreateUtf8Builder(); // grows in Temp; freed with the scope
        line.Append($"lap {12}: {TimeSpan.FromSeconds(93)} ");
        line.AppendFixed(93.0625, 2); // what printf writes for "%.2f"
        line.WriteTo(Stream.Null);
        Assert.Equal("lap 12: 00:01:33 93.06", line.ToString());
    }

    [Fact]
    public void text_of_a_lifetime()
    {
        var report = new Utf8Builder(Lifetime.Persistent); // not "using var": C# does not pass that by reference
        try
        {
            AppendTotal(ref report, 12);
            report.WriteTo(Stream.Null);
        }
        finally
        {
            report.Dispose();
        }

        static void AppendTotal(ref Utf8Builder text, int total) => text.Append($"total: {total}\n");
    }

    [Fact]
    public void a_loop_without_waits()
    {
        using (AllowAllocScope.Begin()) // the first calls, which the runtime compiles
        {
            Step();
        }
        for (int round = 0; round < 100; round++)
        {
            Step();
        }

        static void Step()
        {
            using var promise = NoWaitScope.Begin();
        }
    }

    private sealed class Monsters : IPageRecords
    {
        public void Write(ref Utf8Builder text, int page, int index)
        {
            text.Append(index % 2 == 0 ? 'y' : 'n');
            text.AppendFixed(page + index / 8f, 2);
        }
    }

    [Fact]
    public void records_of_many_objects()
    {
        using var writer = new PagedWriter();
        writer.Reserve(pages: 1024, objectsPerPage: 1024, bytesPerObject: 16);
        bool isWritten = writer.Write(1024 * 1024, new Monsters(), static (pages, body) => Parallel.For(0, pages, body));
        writer.WriteTo(Stream.Null); // page by page; CopyTo copies them into one span
        Assert.True(isWritten && writer.Page(3)[..10].SequenceEqual("y3.00n3.12"u8));
    }

    private struct Monster
    {
        public int Health;
        public PoolHandle<Monster> Target; // 8 bytes; stale once the target is freed
    }

    [Fact]
    public void objects_that_others_refer_to()
    {
        using var monsters = new HandlePool<Monster>(maxCount: 100_000); // reserves addresses, commits as it grows
        PoolHandle<Monster> prey = monsters.Construct(new Monster { Health = 10 });
        monsters.Construct(new Monster { Health = 50, Target = prey });
        foreach (ref Monster each in monsters) // in the order of addresses
        {
            if (monsters.IsLive(each.Target) && (monsters[each.Target].Health -= 10) <= 0)
            {
                monsters.Free(each.Target);
            }
        }
        Assert.False(monsters.IsLive(prey)); // also when another monster has its place
        Assert.Equal(1, monsters.Count);
    }

    [Fact]
    public void scratch_memory_beside_the_results()
    {
        using var scope = TempScope.Begin();
        TempList<int> hits = scope.CreateList<int>();
        FindHits(1000, ref hits);
        Assert.Equal(250, hits.Count);

        static void FindHits(int count, ref TempList<int> into)
        {
            using var scratch = ScratchScope.Begin(); // the thread's other stack: "into" may grow meanwhile
            Span<int> distances = scratch.Allocate<int>(count);
            for (int index = 0; index < count; index++)
            {
                distances[index] = index % 4;
            }
            for (int index = 0; index < count; index++)
            {
                if (distances[index] == 0)
                {
                    into.Add(index);
                }
            }
        }
    }

    [Fact]
    public void memory_that_frees_itself()
    {
        using var upload = new FrameMemory(frames: 3); // triple buffering; any thread allocates, nobody frees
        Span<float> vertices = upload.Allocate<float>(3000); // valid until the third Native.NextFrame()
        vertices.Clear();
        Assert.Equal(3000, vertices.Length);
    }

    [Fact]
    public unsafe void a_budget_of_a_subsystem()
    {
        Tag loader = Tag.Named("level loader");
        int refusals = 0;
        loader.SetBudget(limitBytes: 8 << 20, thresholdBytes: 6 << 20,
            (in BudgetEvent happened) => refusals += happened.Kind == BudgetEventKind.Refusal ? 1 : 0);
        using (new TagScope(loader))
        {
            Assert.Throws<OutOfMemoryException>(() => (nint)Native.Allocate(9 << 20, Lifetime.Persistent));
        }
        Assert.Equal(1, refusals);
        loader.RemoveBudget();
    }
}
