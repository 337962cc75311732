// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Threading;
using Xunit;

namespace Tenure.Tests;

public sealed class NoWaitScopeTests
{
    [Fact]
    public void a_promise_holds_to_the_end_of_the_outermost_scope()
    {
        Assert.False(NoWaitScope.IsActive);
        using (NoWaitScope.Begin())
        {
            using (NoWaitScope.Begin())
            {
                Assert.True(NoWaitScope.IsActive);
                Assert.True(NoAllocScope.IsActive);
            }
            Assert.True(NoWaitScope.IsActive);
        }
        Assert.False(NoWaitScope.IsActive);
        Assert.False(NoAllocScope.IsActive);
    }

    [Fact]
    public void a_promise_not_to_allocate_permits_frees_and_locks()
    {
        using var weaker = NoAllocScope.Begin();
        Assert.False(NoWaitScope.IsActive);
    }

    [Fact]
    public void a_permission_suspends_promises_from_before_and_within()
    {
        using var promise = NoWaitScope.Begin();
        using (AllowAllocScope.Begin())
        {
            Assert.False(NoWaitScope.IsActive);
            using var within = NoWaitScope.Begin();
            Assert.False(NoWaitScope.IsActive);
        }
        Assert.True(NoWaitScope.IsActive);
    }

    [Fact]
    public void a_second_dispose_does_nothing()
    {
        using var outer = NoWaitScope.Begin();
        var inner = NoWaitScope.Begin();
        inner.Dispose();
        inner.Dispose();
        default(NoWaitScope).Dispose();
        Assert.True(NoWaitScope.IsActive);
    }

    [Fact]
    public void a_promise_is_its_threads_alone()
    {
        using var promise = NoWaitScope.Begin();
        bool isActive = true;
        var thread = new Thread(() => isActive = NoWaitScope.IsActive);
        thread.Start();
        thread.Join();
        Assert.False(isActive);
    }

    [Fact]
    public void allocations_and_frees_of_every_kind_are_reported_by_the_checked_library() =>
        ChildProcess.RunChecked(typeof(WaitPromisesOfTheCheckedLibrary));
}

/// <summary>In a process that has the library with the caller's mistakes checked.</summary>
public sealed unsafe class WaitPromisesOfTheCheckedLibrary
{
    private readonly List<(ReportKind Kind, string Text)> _heard = [];

    public WaitPromisesOfTheCheckedLibrary() => Reports.Handler = (kind, text) => _heard.Add((kind, text));

    [Fact(Explicit = true)]
    public void every_kind_of_free_is_reported_once()
    {
        using var pool = new Pool<long>();
        long* ofPool = pool.Allocate();
        Broken("freed inside a no_wait_scope: a block of a pool", () => pool.Free(ofPool));
        using var group = new AffinityGroup("promised");
        void* ofGroup = group.Allocate(64);
        Broken("freed inside a no_wait_scope: an object of an affinity group", () => group.Deallocate(ofGroup));
        using var heap = new NativeHeap();
        void* ofHeap = heap.Allocate(64);
        Broken("freed inside a no_wait_scope: a block of a heap", () => heap.Deallocate(ofHeap));
        void* job = Native.Allocate(100, Lifetime.TempJob);
        Broken("freed inside a no_wait_scope: a block of TempJob", () => Native.Deallocate(job, Lifetime.TempJob));
        void* block = Native.Allocate(100, Lifetime.Persistent);
        Broken("freed inside a no_wait_scope: a block of the process heap", () => Native.Deallocate(block, Lifetime.Persistent));
        var buffer = new FixedBuffer<int>(10);
        Broken("freed inside a no_wait_scope: a block of the process heap", () => buffer.Free());
    }

    [Fact(Explicit = true)]
    public void an_allocation_is_reported_and_what_is_permitted_is_not()
    {
        void* block = null;
        Broken("allocated inside a no_wait_scope: 100 bytes of the process heap", () => block = Native.Allocate(100, Lifetime.Persistent));
        int before = _heard.Count;
        using (NoWaitScope.Begin())
        {
            using var permission = AllowAllocScope.Begin();
            Native.Deallocate(block, Lifetime.Persistent);
        }
        Assert.Equal(before, _heard.Count);
    }

    private void Broken(string what, Action done)
    {
        int before = _heard.Count;
        using (NoWaitScope.Begin())
        {
            done();
        }
        Assert.Equal((what, 1), (what, _heard.Count - before));
        Assert.Equal(ReportKind.Misuse, _heard[before].Kind);
        Assert.Contains(what, _heard[before].Text, StringComparison.Ordinal);
    }
}
