// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Threading;
using Xunit;

namespace Tenure.Tests;

public sealed unsafe class TagTests
{
    [Fact]
    public void a_name_is_one_tag()
    {
        Tag physics = Tag.Named("physics"), again = Tag.Named("physics"), other = Tag.Named("Physik, größer");
        Assert.True(physics == again && physics != other && physics.Equals((object)again));
        Assert.Equal(physics.GetHashCode(), again.GetHashCode());
        Assert.Equal("physics", physics.Name);
        Assert.Equal("Physik, größer", other.ToString());
        Assert.Equal(default, Tag.Named(""));
        Assert.Equal("(no tag)", default(Tag).Name);
        Assert.Contains(physics, Tag.All);
        string longName = new('n', 1000);
        Assert.Equal(longName, Tag.Named(longName).Name);
    }

    [Fact]
    public void what_is_allocated_inside_a_scope_belongs_to_its_tag()
    {
        var outer = Tag.Named("tag tests, outer");
        var inner = Tag.Named("tag tests, inner");
        void* first;
        void* second;
        void* job;
        using (new TagScope(outer))
        {
            first = Native.Allocate(1000, Lifetime.Persistent);
            using (new TagScope("tag tests, inner"))
            {
                second = Native.Allocate(100_000, Lifetime.Persistent);
                job = Native.Allocate(100, Lifetime.TempJob);
            }
            Native.Deallocate(Native.Allocate(10, Lifetime.Persistent), Lifetime.Persistent);
        }
        Assert.Equal((1ul, 0ul), (outer.Usage.PersistentCount, outer.Usage.TempJobCount));
        Assert.Equal((1ul, 1ul, 100ul), (inner.Usage.PersistentCount, inner.Usage.TempJobCount, inner.Usage.TempJobBytes));
        Assert.True(inner.Usage.PersistentBytes >= 100_000);
        Native.Deallocate(first, Lifetime.Persistent);
        Native.Deallocate(second, 100_000, Lifetime.Persistent);
        Native.Deallocate(job, Lifetime.TempJob);
        Assert.Equal(0ul, outer.Usage.PersistentCount + inner.Usage.PersistentCount + inner.Usage.TempJobCount);
    }

    [Fact]
    public void a_second_dispose_does_nothing()
    {
        var tag = Tag.Named("tag tests, twice");
        using var outer = new TagScope(tag);
        var inner = new TagScope("tag tests, once");
        inner.Dispose();
        inner.Dispose();
        void* block = Native.Allocate(50_000, Lifetime.Persistent);
        Assert.Equal(1ul, tag.Usage.PersistentCount);
        Native.Deallocate(block, Lifetime.Persistent);
    }

    [Fact]
    public void a_tag_is_its_threads_own()
    {
        var tag = Tag.Named("tag tests, thread");
        using var scope = new TagScope(tag);
        var thread = new Thread(() => Native.Deallocate(Native.Allocate(64, Lifetime.TempJob), Lifetime.TempJob));
        thread.Start();
        thread.Join();
        Assert.Equal(0ul, tag.Usage.TempJobCount);
    }
}
