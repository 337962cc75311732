// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Diagnostics.Tracing;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;
using Xunit;

namespace Tenure.Tests;

public sealed class ReportsTests
{
    [Fact]
    public void leaks_of_temp_job_are_heard() => ChildProcess.Run(typeof(ReportsInAChild));

    [Fact]
    public void misuse_is_reported_by_the_checked_library() => ChildProcess.RunChecked(typeof(ReportsOfTheCheckedLibrary));
}

/// <summary>In a process of its own: the handler is the process's.</summary>
public sealed unsafe class ReportsInAChild
{
    [Fact(Explicit = true)]
    public void a_leak_is_told_to_the_handler_and_to_the_event_source()
    {
        Assert.Equal(0, Reports.CheckLevel);
        Assert.Null(Reports.Handler);
        var heard = new List<(ReportKind, string)>();
        var written = new List<string>();
        using var listener = new Listener(written);
        Reports.Handler = (kind, text) => heard.Add((kind, text));
        Leak();
        Assert.Single(heard);
        Assert.Equal(ReportKind.Leak, heard[0].Item1);
        Assert.Contains("123", heard[0].Item2, StringComparison.Ordinal);
        Assert.Equal([heard[0].Item2], written);
        Assert.Equal(1ul, TenureStatistics.Capture().TempJobLeakedCount);

        Reports.Handler = (_, _) => throw new FormatException("of the handler");
        Leak(); // goes no further than standard error
        Reports.Handler = null;
        Leak();
        Assert.Single(heard);
        Assert.Equal(3, written.Count);
    }

    [Fact(Explicit = true)]
    public void a_scope_that_an_exception_leaves_tells_its_leaks_to_the_handler()
    {
        var heard = new List<(ReportKind Kind, string Text)>();
        Reports.Handler = (kind, text) => heard.Add((kind, text));
        FixedBuffer<long> left = default;
        try
        {
            Assert.Throws<FormatException>((Action)(() =>
            {
                using var scope = new LeakScope();
                left = new FixedBuffer<long>(7);
                throw new FormatException("of the block");
            }));
        }
        finally
        {
            Reports.Handler = null;
        }
        (ReportKind kind, string text) = Assert.Single(heard);
        Assert.Equal(ReportKind.Leak, kind);
        Assert.Contains("FixedBuffer<Int64> of 56 bytes", text, StringComparison.Ordinal);
        left.Free();
    }

    private static void Leak()
    {
        void* block = Native.Allocate(123, Lifetime.TempJob);
        for (int frame = 0; frame < 10; frame++)
        {
            Native.NextFrame();
        }
        Native.Deallocate(block, Lifetime.TempJob);
    }

    private sealed class Listener(List<string> written) : EventListener
    {
        protected override void OnEventSourceCreated(EventSource source)
        {
            if (source.Name == TenureMeter.Name)
            {
                EnableEvents(source, EventLevel.Informational);
            }
        }

        protected override void OnEventWritten(EventWrittenEventArgs args)
        {
            if (args.EventName == "Leak")
            {
                written.Add((string)args.Payload![0]!);
            }
        }
    }
}

/// <summary>In a process that has the library with the caller's mistakes checked.</summary>
public sealed unsafe class ReportsOfTheCheckedLibrary
{
    private static readonly List<(ReportKind Kind, string Text)> _heard = [];

    public ReportsOfTheCheckedLibrary()
    {
        Reports.Handler = (kind, text) =>
        {
            lock (_heard)
            {
                _heard.Add((kind, text));
            }
        };
    }

    [Fact(Explicit = true)]
    public void the_quick_paths_are_off_and_everything_works()
    {
        Assert.Equal(1, Reports.CheckLevel);
        Assert.False(QuickThread.Attach());
        int before; // the other tests of this class make mistakes
        lock (_heard)
        {
            before = _heard.Count;
        }
        var all = new NativeTests();
        all.memory_of_every_lifetime_can_be_written_and_read();
        all.every_alignment_is_met();
        all.reallocation_keeps_the_contents();
        all.spans_have_as_many_elements_as_were_asked_for();
        var scopes = new TempScopeTests();
        scopes.what_was_allocated_inside_is_gone_at_the_end();
        scopes.scopes_nest();
        scopes.a_second_dispose_does_nothing();
        scopes.a_scope_that_has_ended_gives_nothing();
        scopes.an_outer_scope_gives_nothing_while_an_inner_one_is_open();
        scopes.what_passes_the_budget_overflows_and_goes_with_the_scope();
        var arenas = new ArenaTests();
        arenas.what_is_allocated_in_a_row_lies_in_a_row();
        arenas.it_does_what_a_slow_model_does(1);
        arenas.a_disposed_arena_throws_whatever_it_is_asked();
        arenas.a_marker_younger_than_a_rewind_is_refused();
        new PoolTests().it_does_what_a_slow_model_does(1);
        lock (_heard)
        {
            Assert.DoesNotContain(_heard.Skip(before), each => each.Kind is ReportKind.Misuse or ReportKind.Invariant);
        }
    }

    [Fact(Explicit = true)]
    public void a_double_free_is_reported()
    {
        void* block = Native.Allocate(100, Lifetime.Persistent);
        Native.Deallocate(block, Lifetime.Persistent);
        Expect(ReportKind.Misuse, () => Native.Deallocate(block, Lifetime.Persistent));
        using var pool = new Pool<long>();
        long* one = pool.Allocate();
        pool.Free(one);
        Expect(ReportKind.Misuse, () => pool.Free(one));
    }

    [Fact(Explicit = true)]
    public void a_wrong_size_is_reported()
    {
        void* block = Native.Allocate(100, Lifetime.Persistent);
        Expect(ReportKind.Misuse, () => Native.Deallocate(block, 5000, Lifetime.Persistent));
    }

    [Fact(Explicit = true)]
    public void scopes_that_end_out_of_order_are_reported()
    {
        Expect(ReportKind.Misuse, () =>
        {
            var outer = TempScope.Begin();
            var inner = TempScope.Begin();
            outer.Dispose();
            inner.Dispose();
        });
    }

    [Fact(Explicit = true)]
    public void an_owner_that_is_left_to_the_collector_is_reported_and_given_back()
    {
        LoseOwners();
        for (int round = 0; round < 10; round++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
        lock (_heard)
        {
            Assert.Single(_heard, each => each.Kind == ReportKind.Leak
                && each.Text.StartsWith("SafeArray<Int32> of 40 bytes was not disposed, and is held 1 time", StringComparison.Ordinal));
            foreach (string what in (string[])["The heap \"lost\"", "An arena", "A pool of Int64", "An offset allocator", "The affinity group \"lost\""])
            {
                Assert.Single(_heard, each => each.Kind == ReportKind.Leak && each.Text.StartsWith(what, StringComparison.Ordinal));
            }
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void LoseOwners()
    {
        new NativeHeap(new NativeHeapOptions { Name = "lost" }).Allocate(10);
        new Arena().Allocate<int>(10);
        new Pool<long>().Allocate();
        new OffsetAllocator(100).Allocate(10);
        new AffinityGroup("lost").Allocate(10);
        new SafeArray<int>(10).Acquire();
        new SafeArray<int>(11).Fill(1); // given back, so no leak
    }

    private static void Expect(ReportKind kind, Action action)
    {
        int before;
        lock (_heard)
        {
            before = _heard.Count;
        }
        action();
        lock (_heard)
        {
            Assert.Contains(_heard.Skip(before), each => each.Kind == kind && each.Text.Length > 0);
        }
    }
}
