// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Threading;
using Xunit;

namespace Tenure.Tests;

public sealed unsafe class NoAllocScopeTests
{
    [Fact]
    public void a_promise_holds_to_the_end_of_the_outermost_scope()
    {
        Assert.False(NoAllocScope.IsActive);
        using (NoAllocScope.Begin())
        {
            using (NoAllocScope.Begin())
            {
                Assert.True(NoAllocScope.IsActive);
            }
            Assert.True(NoAllocScope.IsActive);
        }
        Assert.False(NoAllocScope.IsActive);
    }

    [Fact]
    public void a_permission_suspends_promises_from_before_and_within()
    {
        using var promise = NoAllocScope.Begin();
        using (AllowAllocScope.Begin())
        {
            Assert.False(NoAllocScope.IsActive);
            using var within = NoAllocScope.Begin();
            Assert.False(NoAllocScope.IsActive);
        }
        Assert.True(NoAllocScope.IsActive);
    }

    [Fact]
    public void a_second_dispose_does_nothing()
    {
        using var outer = NoAllocScope.Begin();
        var inner = NoAllocScope.Begin();
        inner.Dispose();
        inner.Dispose();
        Assert.True(NoAllocScope.IsActive);
        var permission = AllowAllocScope.Begin();
        permission.Dispose();
        permission.Dispose();
        default(NoAllocScope).Dispose();
        default(AllowAllocScope).Dispose();
        Assert.True(NoAllocScope.IsActive);
    }

    [Fact]
    public void a_promise_is_its_threads_alone()
    {
        using var promise = NoAllocScope.Begin();
        bool isActive = true;
        var thread = new Thread(() => isActive = NoAllocScope.IsActive);
        thread.Start();
        thread.Join();
        Assert.False(isActive);
    }

    [Fact]
    public void allocations_of_every_kind_are_reported_by_the_checked_library() =>
        ChildProcess.RunChecked(typeof(PromisesOfTheCheckedLibrary));
}

/// <summary>In a process that has the library with the caller's mistakes checked.</summary>
public sealed unsafe class PromisesOfTheCheckedLibrary
{
    private readonly List<(ReportKind Kind, string Text)> _heard = [];

    public PromisesOfTheCheckedLibrary() => Reports.Handler = (kind, text) =>
    {
        Native.Deallocate(Native.Allocate(10, Lifetime.Persistent), Lifetime.Persistent); // who hears may allocate
        _heard.Add((kind, text));
    };

    [Fact(Explicit = true)]
    public void every_kind_of_allocation_is_reported_once()
    {
        Broken("of Temp", () =>
        {
            using var scope = TempScope.Begin();
            scope.AllocateBytes(100);
        });
        Broken("of TempJob", () => Native.Deallocate(Native.Allocate(100, Lifetime.TempJob), Lifetime.TempJob));
        Broken("of the process heap", () => Native.Deallocate(Native.Allocate(100, Lifetime.Persistent), Lifetime.Persistent));
        using var arena = new Arena();
        Broken("of an arena", () => arena.Allocate<int>(10));
        using var pool = new Pool<long>();
        Broken("of a pool", () => pool.Free(pool.Allocate()));
        using var shared = new SharedPool<long>();
        Broken("of a pool", () => shared.Free(shared.Allocate()));
        using var group = new AffinityGroup("promised");
        Broken("of an affinity group", () => group.Allocate(64));
        using var heap = new NativeHeap();
        Broken("of a heap", () => heap.Deallocate(heap.Allocate(64)));
        Broken("with a handle", () => new FixedBuffer<int>(10).Free());
        Broken("with a handle", () => new SafeArray<int>(10).Dispose());
    }

    [Fact(Explicit = true)]
    public void what_is_permitted_and_what_is_freed_is_not_reported()
    {
        void* block = Native.Allocate(100, Lifetime.Persistent);
        var buffer = new FixedBuffer<int>(10);
        using (NoAllocScope.Begin())
        {
            Native.Deallocate(block, Lifetime.Persistent);
            buffer.Free();
            using var permission = AllowAllocScope.Begin();
            Native.Deallocate(Native.Allocate(100, Lifetime.Persistent), Lifetime.Persistent);
        }
        Assert.Empty(_heard);
    }

    private void Broken(string what, Action allocate)
    {
        allocate(); // a first use makes more than it will later
        int before = _heard.Count;
        using (NoAllocScope.Begin())
        {
            allocate();
        }
        Assert.Equal((what, 1), (what, _heard.Count - before));
        Assert.Equal(ReportKind.Misuse, _heard[before].Kind);
        Assert.Contains("inside a no_alloc_scope", _heard[before].Text, StringComparison.Ordinal);
        Assert.Contains(what, _heard[before].Text, StringComparison.Ordinal);
    }
}
