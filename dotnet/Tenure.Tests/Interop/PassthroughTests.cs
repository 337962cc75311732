// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using Xunit;

namespace Tenure.Tests;

public sealed class PassthroughTests
{
    [Fact]
    public void everything_works_on_the_processes_malloc() =>
        ChildProcess.Run(typeof(PassthroughInAChild), ("TENURE_PASSTHROUGH", "all"));

    [Fact]
    public void temp_alone_can_be_sent_there() =>
        ChildProcess.Run(typeof(PassthroughOfTempInAChild), ("TENURE_PASSTHROUGH", "temp,arena"));
}

/// <summary>In a process whose blocks all come from malloc.</summary>
public sealed unsafe class PassthroughInAChild
{
    [Fact(Explicit = true)]
    public void the_quick_paths_are_off_and_calls_serve()
    {
        Assert.Equal(127ul, TenureOptions.Get("passthrough"));
        Assert.False(QuickThread.Attach());
        Assert.True(NativeMethods.tn_try_malloc(64) == null);
        void* block = Native.Allocate(64, Lifetime.Persistent);
        Assert.Equal(0u, NativeMethods.tn_try_free(block));
        Native.Deallocate(block, Lifetime.Persistent);
        Assert.False(TenureStatistics.Capture().HeapIsOurs);
        Assert.True(Native.WarmUp(100, Lifetime.Temp));
        Assert.True(Native.WarmUp(100, Lifetime.TempJob));
        Assert.True(Native.WarmUp(100, Lifetime.Persistent));
        var all = new NativeTests();
        all.memory_of_every_lifetime_can_be_written_and_read();
        all.every_alignment_is_met();
        all.zeroed_memory_is_zero();
        all.reallocation_keeps_the_contents();
        all.spans_have_as_many_elements_as_were_asked_for();
        all.null_may_be_deallocated();
        PassthroughOfTempInAChild.ScopesAndArenasWork();
        new PoolTests().it_does_what_a_slow_model_does(2);
        new PoolTests().threads_free_what_other_threads_took();
        new QuickThreadTests().blocks_in_use_never_overlap();
    }
}

/// <summary>In a process whose scratch memory comes from malloc, and the rest does not.</summary>
public sealed unsafe class PassthroughOfTempInAChild
{
    [Fact(Explicit = true)]
    public void the_heap_stays_quick_and_scratch_memory_does_not()
    {
        Assert.True(QuickThread.Attach());
        void* block = Native.Allocate(64, Lifetime.Persistent);
        Native.Deallocate(block, 64, Lifetime.Persistent);
        ScopesAndArenasWork();
    }

    internal static void ScopesAndArenasWork()
    {
        for (int round = 0; round < 100; round++)
        {
            using var scope = TempScope.Begin();
            Span<byte> first = scope.Allocate<byte>(100);
            first.Fill(1);
            using var inner = TempScope.Begin();
            inner.Allocate<byte>(10_000).Fill(2);
            Native.Deallocate(Native.Allocate(50, Lifetime.Temp), 50, Lifetime.Temp);
            Assert.Equal(-1, first.IndexOfAnyExcept((byte)1));
        }
        var arenas = new ArenaTests();
        arenas.it_does_what_a_slow_model_does(2);
        arenas.a_disposed_arena_throws_whatever_it_is_asked();
        arenas.arguments_are_looked_at();
    }
}
