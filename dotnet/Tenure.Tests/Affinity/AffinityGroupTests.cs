// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using Xunit;

namespace Tenure.Tests;

public sealed unsafe class AffinityGroupTests
{
    private struct Node
    {
        public nint Left;
        public nint Right;
        public int Value;
    }

    [Fact]
    public void objects_lie_in_the_order_of_allocation()
    {
        using var group = new AffinityGroup("nodes");
        byte* last = (byte*)group.Allocate(24);
        for (int index = 0; index < 100; index++)
        {
            byte* next = (byte*)group.Allocate(40);
            Assert.True(next > last && next - last <= 40);
            last = next;
        }
        Assert.Equal("nodes", group.Name);
    }

    [Fact]
    public void objects_are_made_and_freed()
    {
        foreach (bool given in (bool[])[false, true])
        {
            using var group = new AffinityGroup(new AffinityGroupOptions { SizesRequired = given, SplitBySize = !given, AnyThread = given });
            ref Node node = ref group.Construct(new Node { Value = 5 });
            ref Node other = ref group.Construct(new Node { Value = 6 });
            node.Left = 1;
            Assert.Equal(6, other.Value);
            group.Free(ref node);
            group.Free(ref other);
            void* block = group.Allocate(100, 64);
            Assert.Equal(0u, (nuint)block % 64);
            group.Deallocate(block, 100, 64);
            block = group.Allocate(1_000_000);
            group.Deallocate(block, 1_000_000);
            Assert.Equal(0ul, group.Stats.LiveCount);
            group.Allocate(10);
            group.Clear();
            group.Trim();
            group.Deallocate(null, 0);
            group.Deallocate(null, 0, 8);
        }
    }

    [Fact]
    public void a_group_whose_sizes_are_given_refuses_a_free_without_one()
    {
        using var group = new AffinityGroup(new AffinityGroupOptions { Name = "given", SizesRequired = true });
        void* block = group.Allocate(16);
        Assert.Contains("given", Assert.Throws<InvalidOperationException>(() => group.Deallocate(block)).Message, StringComparison.Ordinal);
        group.Deallocate(block, 16);
        using var found = new AffinityGroup();
        found.Deallocate(found.Allocate(16));
        found.Deallocate(null);
    }

    [Fact]
    public void frees_without_the_size_are_refused_where_the_environment_requires_it() =>
        ChildProcess.Run(typeof(AffinityGroupsThatRequireSizes), ("TENURE_AFFINITY_SIZE_REQUIRED", "1"));

    [Fact]
    public void options_and_arguments_out_of_range_are_refused()
    {
        foreach (int alignment in (int[])[int.MinValue, -8, 0, 2, 12, 2048, int.MaxValue])
        {
            Assert.Throws<ArgumentOutOfRangeException>(() => new AffinityGroup(new AffinityGroupOptions { Alignment = alignment }));
        }
        foreach (int bytes in (int[])[int.MinValue, 0, 1000, 32 << 10, 100_000, int.MaxValue])
        {
            Assert.Throws<ArgumentOutOfRangeException>(() => new AffinityGroup(new AffinityGroupOptions { BlockBytes = bytes }));
        }
        Assert.Throws<ArgumentNullException>(() => new AffinityGroup((AffinityGroupOptions)null!));
        using var group = new AffinityGroup(new AffinityGroupOptions { MaxRetainedBytes = 0, Alignment = 16, BlockBytes = 64 << 10 });
        Assert.Throws<ArgumentOutOfRangeException>(() => { group.Allocate(8, 0); });
        Assert.Throws<ArgumentOutOfRangeException>(() => { group.Allocate(8, 24); });
        Assert.Throws<ArgumentOutOfRangeException>(() => group.Deallocate(null, 8, 3));
        Assert.Throws<OutOfMemoryException>(() => { group.Allocate(nuint.MaxValue); });
        Assert.True(group.TryAllocate(nuint.MaxValue / 2) == null);
    }

    [Fact]
    public void a_disposed_group_throws_whatever_it_is_asked()
    {
        var group = new AffinityGroup();
        group.Dispose();
        group.Dispose();
        Assert.Throws<ObjectDisposedException>(() => { group.Allocate(1); });
        Assert.Throws<ObjectDisposedException>(() => { group.Allocate(1, 8); });
        Assert.Throws<ObjectDisposedException>(() => { group.TryAllocate(1); });
        Assert.Throws<ObjectDisposedException>(() => { group.Construct(1); });
        Assert.Throws<ObjectDisposedException>(() => group.Deallocate(null));
        Assert.Throws<ObjectDisposedException>(() => group.Deallocate(null, 1));
        Assert.Throws<ObjectDisposedException>(() => group.Deallocate(null, 1, 8));
        Assert.Throws<ObjectDisposedException>(() => group.Clear());
        Assert.Throws<ObjectDisposedException>(() => { group.Trim(); });
        Assert.Throws<ObjectDisposedException>(() => { _ = group.Stats; });
        Assert.Throws<ObjectDisposedException>(() => group.Configure(new AffinityGroupOptions()));
    }

    [Fact]
    public void ready_made_groups_serve_and_are_not_disposed()
    {
        foreach ((AffinityGroup group, string name, nuint alignment) in ((AffinityGroup, string, nuint)[])
                 [(AffinityGroup.Objects, "objects", 8), (AffinityGroup.Data, "data", 16), (AffinityGroup.Nodes, "nodes", 8)])
        {
            Assert.Equal(name, group.Name);
            ulong before = group.Stats.LiveCount;
            ref Node node = ref group.Construct(new Node { Value = 7 });
            void* other = group.Allocate(20);
            Assert.Equal(0u, (nuint)other % alignment);
            Assert.Contains(name, Assert.Throws<InvalidOperationException>(group.Dispose).Message, StringComparison.Ordinal);
            Assert.Equal(7, node.Value);
            Assert.Equal(before + 2, group.Stats.LiveCount);
            group.Deallocate(other);
            group.Free(ref node);
            Assert.Equal(before, group.Stats.LiveCount);
        }
        Assert.Same(AffinityGroup.Nodes, AffinityGroup.Nodes);
        Assert.NotSame(AffinityGroup.Nodes, AffinityGroup.Objects);
    }

    [Fact]
    public void a_group_is_configured_before_its_first_object()
    {
        using var own = new AffinityGroup("own");
        foreach (AffinityGroup group in (AffinityGroup[])[own, AffinityGroup.Physics])
        {
            group.Trim();
            group.Configure(new AffinityGroupOptions { Alignment = 4, SizesRequired = true, SplitBySize = true, BlockBytes = 64 << 10 });
            byte* first = (byte*)group.Allocate(12);
            byte* second = (byte*)group.Allocate(12);
            Assert.Equal(12, second - first);
            Assert.Throws<InvalidOperationException>(() => group.Deallocate(first));
            Assert.Contains(group.Name, Assert.Throws<InvalidOperationException>(() => group.Configure(new AffinityGroupOptions())).Message, StringComparison.Ordinal);
            Assert.Throws<ArgumentOutOfRangeException>(() => group.Configure(new AffinityGroupOptions { Alignment = 2 }));
            Assert.Throws<ArgumentNullException>(() => group.Configure(null!));
            group.Deallocate(second, 12);
            group.Deallocate(first, 12);
            group.Trim();
            group.Configure(new AffinityGroupOptions { HugePages = true });
            void* block = group.Allocate(100);
            group.Deallocate(block);
            group.Trim();
            group.Configure(new AffinityGroupOptions());
        }
        void* aligned = AffinityGroup.Physics.Allocate(20);
        Assert.Equal(0u, (nuint)aligned % 16);
        AffinityGroup.Physics.Deallocate(aligned);
    }
}

/// <summary>In a process with TENURE_AFFINITY_SIZE_REQUIRED=1.</summary>
public sealed unsafe class AffinityGroupsThatRequireSizes
{
    [Fact(Explicit = true)]
    public void a_free_without_the_size_throws_and_names_the_variable()
    {
        foreach (AffinityGroup group in (AffinityGroup[])[AffinityGroup.Objects, AffinityGroup.Data, AffinityGroup.Nodes, AffinityGroup.Physics])
        {
            ulong before = group.Stats.LiveCount;
            void* block = group.Allocate(16);
            Assert.Contains("TENURE_AFFINITY_SIZE_REQUIRED", Assert.Throws<InvalidOperationException>(() => group.Deallocate(block)).Message, StringComparison.Ordinal);
            Assert.Equal(before + 1, group.Stats.LiveCount);
            group.Deallocate(block, 16);
            Assert.Equal(before, group.Stats.LiveCount);
        }
        using var own = new AffinityGroup("own");
        own.Deallocate(own.Allocate(16));
        AffinityGroup.Nodes.Trim();
        AffinityGroup.Nodes.Configure(new AffinityGroupOptions());
        AffinityGroup.Nodes.Deallocate(AffinityGroup.Nodes.Allocate(16));
    }
}
