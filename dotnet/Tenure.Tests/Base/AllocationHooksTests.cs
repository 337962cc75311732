// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;
using Xunit;

namespace Tenure.Tests;

public sealed class AllocationHooksTests
{
    [Fact]
    public void hooks_work_in_a_process_of_their_own() => Assert.Contains(
        AllocationHooksInAChild.Thrown, ChildProcess.Run(typeof(AllocationHooksInAChild)), StringComparison.Ordinal);

    [Fact]
    public void hooks_work_over_the_checked_library() => ChildProcess.RunChecked(typeof(AllocationHooksInAChild));
}

/// <summary>Hooks are those of the whole process. Each test listens to its own thread.</summary>
[CollectionDefinition(nameof(AllocationHooksInAChild), DisableParallelization = true)]
[Collection(nameof(AllocationHooksInAChild))]
public sealed unsafe class AllocationHooksInAChild : IDisposable
{
    internal const string Thrown = "a hook threw System.InvalidOperationException: of the test";
    private const nuint Large = 3 << 20;

    [ThreadStatic]
    private static bool _isHeard;

    public AllocationHooksInAChild() => _isHeard = true;

    public void Dispose()
    {
        AllocationHooks.Installed = null;
        _isHeard = false;
    }

    [Fact(Explicit = true)]
    public void every_block_is_told_with_its_size_also_small_ones()
    {
        void* early = Native.Allocate(64, Lifetime.Persistent); // the thread has caches
        Native.Deallocate(early, 64, Lifetime.Persistent);
        var blocks = new Dictionary<nint, nuint>();
        int unknown = 0;
        AllocationHooks.Installed = new AllocationHooks
        {
            BlockBegin = (block, bytes) => { if (_isHeard) { blocks.Add(block, bytes); } },
            BlockEnd = block => unknown += !_isHeard || blocks.Remove(block) ? 0 : 1,
        };
        foreach (nuint bytes in (nuint[])[8, 64, 1000, 40_000, Large])
        {
            for (int each = 0; each < 20; each++)
            {
                void* block = Native.Allocate(bytes, Lifetime.Persistent);
                Assert.Equal(bytes, blocks[(nint)block]);
                block = Native.Reallocate(block, 2 * bytes);
                Assert.Equal(2 * bytes, blocks[(nint)block]);
                Native.Deallocate(block, 2 * bytes, Lifetime.Persistent);
                Assert.False(blocks.ContainsKey((nint)block));
            }
        }
        using (var chunks = new Arena())
        {
            chunks.Allocate<byte>(100);
            Assert.Contains(blocks, block => block.Value >= 4096); // its first chunk
        }
        Assert.Empty(blocks);
        Assert.Equal(0, unknown);
        AllocationHooks.Installed = null;
        Native.Deallocate(Native.Allocate(Large, Lifetime.Persistent), Lifetime.Persistent);
        Assert.Empty(blocks);
    }

    [Fact(Explicit = true)]
    public void slow_calls_begin_and_end_in_turn()
    {
        var open = new Stack<string>();
        var begun = new List<(string What, nuint Bytes)>();
        AllocationHooks.Installed = new AllocationHooks
        {
            CallBegin = (what, bytes) =>
            {
                if (_isHeard)
                {
                    open.Push(what);
                    begun.Add((what, bytes));
                }
            },
            CallEnd = what =>
            {
                if (_isHeard && open.Pop() != what)
                {
                    begun.Add(("another end", 0));
                }
            },
        };
        void* block = Native.Allocate(Large, Lifetime.Persistent);
        Native.Deallocate(block, Lifetime.Persistent);
        Assert.Contains(begun, call => call is { What: "of the process heap", Bytes: Large });
        Assert.DoesNotContain(begun, call => call.What == "another end");
        Assert.Empty(open);
    }

    [Fact(Explicit = true)]
    public void the_end_of_a_call_is_told_to_the_hooks_that_heard_its_begin()
    {
        var told = new List<string>();
        var second = new AllocationHooks
        {
            CallBegin = (_, _) => told.Add("begin of the second"),
            CallEnd = _ => told.Add("end of the second"),
        };
        AllocationHooks.Installed = new AllocationHooks
        {
            CallBegin = (_, _) =>
            {
                if (_isHeard && told.Count == 0)
                {
                    told.Add("begin of the first");
                    AllocationHooks.Installed = second;
                }
            },
            CallEnd = _ => { if (_isHeard) { told.Add("end of the first"); } },
        };
        void* block = Native.Allocate(Large, Lifetime.Persistent);
        Assert.Equal(["begin of the first", "end of the first"], told.Where(each => each.EndsWith("first", StringComparison.Ordinal)));
        Assert.Same(second, AllocationHooks.Installed);
        AllocationHooks.Installed = null;
        Native.Deallocate(block, Lifetime.Persistent);
    }

    [Fact(Explicit = true)]
    public void what_a_hook_throws_is_written_and_the_call_goes_on()
    {
        int thrown = 0;
        AllocationHooks.Installed = new AllocationHooks
        {
            BlockBegin = (_, _) =>
            {
                if (_isHeard && thrown++ == 0)
                {
                    throw new InvalidOperationException("of the test");
                }
            },
        };
        for (int each = 1; each <= 3; each++)
        {
            void* block = Native.Allocate(Large, Lifetime.Persistent);
            Assert.True(block != null);
            Assert.Equal(each, thrown);
            Native.Deallocate(block, Lifetime.Persistent);
        }
    }

    [Fact(Explicit = true)]
    public void blocks_that_a_hook_itself_allocates_are_not_told()
    {
        if (Reports.CheckLevel != 0)
        {
            return; // it is a mistake
        }
        int told = 0;
        AllocationHooks.Installed = new AllocationHooks
        {
            BlockBegin = (_, _) =>
            {
                if (_isHeard && told++ < 10)
                {
                    using var list = new NativeList<int>(100);
                }
            },
        };
        Native.Deallocate(Native.Allocate(Large, Lifetime.Persistent), Lifetime.Persistent);
        Assert.Equal(1, told);
    }

    [Fact(Explicit = true)]
    public void threads_begin_call_and_end_under_hooks_and_collections()
    {
        long begun = 0, ended = 0, calls = 0;
        AllocationHooks.Installed = new AllocationHooks
        {
            CallBegin = (_, _) => Interlocked.Increment(ref calls),
            CallEnd = _ => Interlocked.Decrement(ref calls),
            BlockBegin = (_, bytes) => Interlocked.Add(ref begun, new byte[(int)(bytes % 1000) + 1].Length),
            BlockEnd = _ => Interlocked.Increment(ref ended),
        };
        Thread[] threads = [.. Enumerable.Range(0, 16).Select(number => new Thread(() =>
        {
            for (nuint each = 1; each < 300; each++)
            {
                void* block = Native.Allocate(each * 37, Lifetime.Persistent);
                Native.Allocate(each * 1000, Lifetime.Temp);
                Native.Deallocate(block, each * 37, Lifetime.Persistent);
                if (number == 0 && each % 20 == 0)
                {
                    GC.Collect();
                }
            }
        }))];
        Array.ForEach(threads, each => each.Start());
        Array.ForEach(threads, each => each.Join());
        Assert.True(begun > 16 * 299 && ended >= 16 * 299);
        Assert.True(SpinWait.SpinUntil(() => Interlocked.Read(ref calls) == 0, 10_000)); // the library's own thread
    }

    [Fact(Explicit = true)]
    public void a_thread_that_ends_frees_its_chunks_without_a_call_into_managed_code()
    {
        const nuint PastTheRange = 100 << 20;
        nint chunk = 0;
        int ends = 0;
        AllocationHooks.Installed = new AllocationHooks
        {
            BlockBegin = (block, bytes) => chunk = bytes >= PastTheRange ? block : chunk,
            BlockEnd = block => ends += block == chunk ? 1 : 0,
        };
        for (int each = 0; each < 20; each++)
        {
            var thread = new Thread(() => Native.Allocate(PastTheRange, Lifetime.Temp));
            thread.Start();
            thread.Join();
        }
        Assert.NotEqual(0, chunk);
        Assert.Equal(0, ends);
    }

    [Fact(Explicit = true)]
    public void many_hooks_use_the_same_places()
    {
        for (int each = 0; each < 100; each++)
        {
            AllocationHooks.Installed = new AllocationHooks { CallEnd = _ => { } };
            AllocationHooks.Installed = new AllocationHooks { BlockEnd = _ => { } };
            AllocationHooks.Installed = new AllocationHooks { CallEnd = _ => { }, BlockEnd = _ => { } };
        }
    }
}
