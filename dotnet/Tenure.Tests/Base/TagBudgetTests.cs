// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Threading;
using Xunit;

namespace Tenure.Tests;

public sealed unsafe class TagBudgetTests
{
    private const nuint Block = 1 << 20;

    [Fact]
    public void a_request_beyond_the_limit_is_refused_and_the_handler_is_told()
    {
        Tag loader = Tag.Named("TagBudgetTests loader");
        var told = new List<BudgetEvent>();
        loader.SetBudget(4 * Block + (Block / 2), 2 * Block, (in BudgetEvent happened) => told.Add(happened));
        var held = new List<nint>();
        using (new TagScope(loader))
        {
            for (int each = 0; each < 4; each++)
            {
                held.Add((nint)Native.Allocate(Block, Lifetime.Persistent));
            }
            Assert.Throws<OutOfMemoryException>(() => (nint)Native.Allocate(Block, Lifetime.Persistent));
        }
        Assert.Equal(BudgetEventKind.Threshold, told[0].Kind);
        Assert.Equal(BudgetEventKind.Refusal, told[^1].Kind);
        Assert.Equal(2, told.Count);
        Assert.Equal(loader, told[1].Tag);
        Assert.Equal(4 * Block + (Block / 2), told[1].LimitBytes);
        Assert.True(told[1].UsedBytes >= 4 * Block && told[1].RequestedBytes >= Block);
        void* untagged = Native.Allocate(Block, Lifetime.Persistent); // others are not limited
        Native.Deallocate(untagged, Lifetime.Persistent);
        loader.RemoveBudget();
        using (new TagScope(loader))
        {
            held.Add((nint)Native.Allocate(Block, Lifetime.Persistent));
        }
        held.ForEach(each => Native.Deallocate((void*)each, Lifetime.Persistent));
        Assert.Equal(2, told.Count);
    }

    [Fact]
    public void a_handler_that_frees_memory_of_the_tag_lets_the_request_pass()
    {
        Tag cache = Tag.Named("TagBudgetTests cache");
        nint spare = 0;
        using var scope = new TagScope(cache);
        spare = (nint)Native.Allocate(Block, Lifetime.Persistent);
        cache.SetBudget(Block + (Block / 2), handler: (in BudgetEvent happened) =>
        {
            Native.Deallocate((void*)spare, Lifetime.Persistent);
            spare = 0;
        });
        void* block = Native.Allocate(Block, Lifetime.Persistent);
        Assert.True(block != null && spare == 0);
        Native.Deallocate(block, Lifetime.Persistent);
        cache.RemoveBudget();
    }

    [Fact]
    public void a_handler_that_frees_too_little_is_told_once_and_the_request_fails()
    {
        Tag cache = Tag.Named("TagBudgetTests too little");
        var told = new List<BudgetEvent>();
        nint spare = 0;
        using var scope = new TagScope(cache);
        void* held = Native.Allocate(Block, Lifetime.Persistent);
        spare = (nint)Native.Allocate(Block / 4, Lifetime.Persistent);
        cache.SetBudget(2 * Block, handler: (in BudgetEvent happened) =>
        {
            told.Add(happened);
            Native.Deallocate((void*)spare, Lifetime.Persistent);
            spare = 0;
        });
        Assert.Throws<OutOfMemoryException>(() => (nint)Native.Allocate(2 * Block, Lifetime.Persistent));
        BudgetEvent refusal = Assert.Single(told);
        Assert.Equal(BudgetEventKind.Refusal, refusal.Kind);
        Assert.Equal(cache, refusal.Tag);
        Assert.True(refusal.RequestedBytes >= 2 * Block && refusal.UsedBytes >= Block + (Block / 4));
        Assert.Equal(ulong.MaxValue, refusal.ThresholdBytes);
        Assert.Equal(1UL, cache.Usage.PersistentCount); // what the handler freed stays free
        void* smaller = Native.Allocate(Block / 2, Lifetime.Persistent);
        Assert.Single(told);
        Native.Deallocate(smaller, Lifetime.Persistent);
        Native.Deallocate(held, Lifetime.Persistent);
        cache.RemoveBudget();
    }

    [Fact]
    public void a_refusal_is_told_on_the_thread_of_the_request()
    {
        Tag owner = Tag.Named("TagBudgetTests thread");
        int toldOn = 0;
        owner.SetBudget(Block, handler: (in BudgetEvent _) => toldOn = Environment.CurrentManagedThreadId);
        int askedOn = 0;
        var thread = new Thread(() =>
        {
            askedOn = Environment.CurrentManagedThreadId;
            using var scope = new TagScope(owner);
            Assert.Throws<OutOfMemoryException>(() => (nint)Native.Allocate(2 * Block, Lifetime.Persistent));
        });
        thread.Start();
        thread.Join();
        Assert.NotEqual(0, askedOn);
        Assert.Equal(askedOn, toldOn);
        owner.RemoveBudget();
    }

    [Fact]
    public void a_handler_that_throws_does_not_end_the_process()
    {
        Tag owner = Tag.Named("TagBudgetTests throwing");
        owner.SetBudget(Block, handler: (in BudgetEvent _) => throw new InvalidOperationException("of the test"));
        using (new TagScope(owner))
        {
            Assert.Throws<OutOfMemoryException>(() => (nint)Native.Allocate(2 * Block, Lifetime.Persistent));
        }
        owner.RemoveBudget();
    }

    [Fact]
    public void a_replaced_handler_is_told_no_more()
    {
        Tag owner = Tag.Named("TagBudgetTests replaced");
        int first = 0, second = 0;
        owner.SetBudget(Block, handler: (in BudgetEvent _) => first++);
        owner.SetBudget(Block, handler: (in BudgetEvent _) => second++);
        Assert.Throws<InvalidOperationException>(() => default(Tag).SetBudget(1, handler: (in BudgetEvent _) => first++));
        using (new TagScope(owner))
        {
            Assert.Throws<OutOfMemoryException>(() => (nint)Native.Allocate(2 * Block, Lifetime.Persistent));
        }
        Assert.Equal(0, first);
        Assert.Equal(1, second);
        owner.RemoveBudget();
    }

    [Fact]
    public void the_default_tag_has_no_budget() =>
        Assert.Throws<InvalidOperationException>(() => default(Tag).SetBudget(1));
}
