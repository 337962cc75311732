// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using Xunit;

namespace Tenure.Tests;

public sealed unsafe class ArenaTests
{
    [Fact]
    public void what_is_allocated_in_a_row_lies_in_a_row()
    {
        using var arena = new Arena();
        int* first = (int*)arena.AllocateBytes(4, 4);
        int* second = (int*)arena.AllocateBytes(4, 4);
        Assert.True(second == first + 1);
        byte* third = (byte*)arena.AllocateBytes(1, 1);
        byte* fourth = (byte*)arena.AllocateBytes(0, 1);
        byte* fifth = (byte*)arena.AllocateBytes(1, 1);
        Assert.True(fourth == third + 1 && fifth == fourth + 1);
        Assert.Equal(0u, (nuint)arena.AllocateBytes(1, 4096) % 4096);
        Assert.Equal(0u, (nuint)arena.AllocateBytes(1) % 16);
    }

    [Fact]
    public void elements_lie_at_their_own_alignment()
    {
        using var arena = new Arena();
        arena.Allocate<byte>(1);
        fixed (long* begin = arena.Allocate<long>(3))
        {
            Assert.Equal(0u, (nuint)begin % 8);
        }
        arena.Allocate<byte>(3);
        fixed (short* begin = arena.Allocate<short>(3))
        {
            Assert.Equal(0u, (nuint)begin % 2);
        }
        Assert.Equal(8u, AlignmentOf<double>.Bytes);
        Assert.Equal(1u, AlignmentOf<byte>.Bytes);
        Assert.Equal(8u, AlignmentOf<(byte, long)>.Bytes);
    }

    [Fact]
    public void a_rewind_drops_what_came_after_the_marker()
    {
        using var arena = new Arena(1024);
        Span<int> kept = arena.Copy<int>([1, 2, 3]);
        ArenaMarker marker = arena.Mark();
        ulong before = arena.Stats.LiveBytes;
        for (int round = 0; round < 5; round++)
        {
            for (int index = 0; index < 100; index++)
            {
                arena.AllocateZeroed<byte>(10_000).Fill(9);
            }
            arena.Rewind(marker);
            Assert.Equal(before, arena.Stats.LiveBytes);
        }
        Assert.Equal([1, 2, 3], kept.ToArray());
        arena.Clear();
        Assert.Equal(0ul, arena.Stats.LiveBytes);
        Assert.True(arena.Trim() > 0);
        Assert.Equal(0ul, arena.Stats.ReservedBytes);
    }

    [Fact]
    public void the_newest_block_can_be_taken_back()
    {
        using var arena = new Arena();
        void* first = arena.AllocateBytes(100);
        void* second = arena.AllocateBytes(100);
        arena.Deallocate(first, 100);
        arena.Deallocate(second, 100);
        Assert.True(arena.AllocateBytes(100) == second);
        arena.Deallocate(null, 0);
    }

    [Fact]
    public void a_marker_of_another_arena_or_from_before_a_clear_is_refused()
    {
        using var arena = new Arena();
        using var other = new Arena();
        Assert.Throws<ArgumentException>(() => arena.Rewind(other.Mark()));
        Assert.Throws<ArgumentException>(() => arena.Rewind(default));
        ArenaMarker marker = arena.Mark();
        arena.Clear();
        Assert.Throws<ArgumentException>(() => arena.Rewind(marker));
    }

    [Fact]
    public void arguments_are_looked_at()
    {
        using var arena = new Arena();
        foreach (bool used in (bool[])[false, true])
        {
            foreach (nuint alignment in (nuint[])[0, 3, 24, nuint.MaxValue])
            {
                Assert.Throws<ArgumentOutOfRangeException>(() => { arena.AllocateBytes(1, alignment); });
            }
            Assert.Throws<ArgumentOutOfRangeException>(() => { arena.Allocate<int>(-1); });
            foreach (nuint bytes in (nuint[])[nuint.MaxValue, nuint.MaxValue - 1, nuint.MaxValue - 20, (nuint)1 << 63])
            {
                Assert.Throws<OutOfMemoryException>(() => { arena.AllocateBytes(bytes); });
                Assert.Throws<OutOfMemoryException>(() => { arena.AllocateBytes(bytes, 1); });
            }
            Assert.True(arena.Allocate<int>(0).IsEmpty);
        }
        Assert.Throws<ArgumentOutOfRangeException>(() => new Arena(0));
    }

    [Fact]
    public void a_disposed_arena_throws_whatever_it_is_asked()
    {
        var arena = new Arena();
        ArenaMarker marker = arena.Mark();
        arena.Allocate<int>(10);
        arena.Dispose();
        arena.Dispose();
        Assert.Throws<ObjectDisposedException>(() => { arena.Allocate<int>(1); });
        Assert.Throws<ObjectDisposedException>(() => { arena.Allocate<int>(0); });
        Assert.Throws<ObjectDisposedException>(() => { arena.AllocateBytes(1, 1); });
        Assert.Throws<ObjectDisposedException>(() => arena.Deallocate(null, 0));
        Assert.Throws<ObjectDisposedException>(() => { arena.Mark(); });
        Assert.Throws<ObjectDisposedException>(() => arena.Rewind(marker));
        Assert.Throws<ObjectDisposedException>(() => arena.Clear());
        Assert.Throws<ObjectDisposedException>(() => { arena.Trim(); });
        Assert.Throws<ObjectDisposedException>(() => { _ = arena.Stats; });
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void it_does_what_a_slow_model_does(int seed)
    {
        var random = new Random(seed);
        using var arena = new Arena(1024);
        var live = new List<(nint Block, int Bytes, byte Fill)>();
        var markers = new Stack<(ArenaMarker Marker, int Count)>();
        for (int step = 0; step < 20_000; step++)
        {
            switch (random.Next(100))
            {
                case < 90:
                    int bytes = random.Next(random.Next(50) == 0 ? 30_000 : 300);
                    nuint alignment = (nuint)1 << random.Next(8);
                    byte fill = (byte)step;
                    byte* block = (byte*)arena.AllocateBytes((nuint)bytes, alignment);
                    Assert.Equal(0u, (nuint)block % alignment);
                    new Span<byte>(block, bytes).Fill(fill);
                    live.Add(((nint)block, bytes, fill));
                    break;
                case < 95:
                    markers.Push((arena.Mark(), live.Count));
                    break;
                case < 99:
                    if (markers.TryPop(out (ArenaMarker Marker, int Count) to))
                    {
                        arena.Rewind(to.Marker);
                        live.RemoveRange(to.Count, live.Count - to.Count);
                    }
                    break;
                default:
                    arena.Clear();
                    arena.Trim();
                    live.Clear();
                    markers.Clear();
                    break;
            }
            if (step % 500 == 0)
            {
                Assert.All(live, each => Assert.Equal(-1, new Span<byte>((void*)each.Block, each.Bytes).IndexOfAnyExcept(each.Fill)));
            }
        }
    }

    [Fact]
    public void a_marker_younger_than_a_rewind_is_refused()
    {
        using var arena = new Arena(1024);
        ArenaMarker first = arena.Mark();
        arena.AllocateBytes(100);
        ArenaMarker middle = arena.Mark();
        arena.AllocateBytes(100_000); // a chunk of its own
        ArenaMarker late = arena.Mark();
        arena.Rewind(middle);
        arena.Trim();
        Assert.Throws<ArgumentException>(() => arena.Rewind(late));
        *(byte*)arena.AllocateBytes(100) = 1;
        ArenaMarker again = arena.Mark();
        arena.AllocateBytes(100_000);
        arena.Rewind(again); // set after the rewind
        arena.Rewind(middle);
        Assert.Throws<ArgumentException>(() => arena.Rewind(again));
        Assert.Throws<ArgumentException>(() => arena.Rewind(late));
        arena.Rewind(first);
        arena.Rewind(first);
        Assert.Throws<ArgumentException>(() => arena.Rewind(middle));
        Assert.Equal(0ul, arena.Stats.LiveBytes);
    }

    [Fact]
    public void markers_at_one_place_are_one()
    {
        using var arena = new Arena();
        ArenaMarker one = arena.Mark(), two = arena.Mark();
        arena.AllocateBytes(10);
        arena.Rewind(one);
        arena.AllocateBytes(10);
        arena.Rewind(two);
        arena.Rewind(one);
        Assert.Equal(one.Serial, arena.Mark().Serial); // a loop of both keeps nothing
    }
}
