// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Threading.Tasks;
using Xunit;

namespace Tenure.Tests;

/// <summary>Tests that count frames run alone: every test that ends a frame ends it for the whole process.</summary>
[CollectionDefinition(nameof(FrameMemoryTests), DisableParallelization = true)]
[Collection(nameof(FrameMemoryTests))]
public sealed unsafe class FrameMemoryTests
{
    [Fact]
    public void blocks_stay_for_their_frames_and_the_memory_is_used_again()
    {
        using var memory = new FrameMemory(2);
        ulong most = 0;
        Span<long> before = [];
        for (long frame = 0; frame < 50; frame++)
        {
            Span<long> now = memory.Allocate<long>(10_000);
            now.Fill(frame);
            Assert.Equal(-1, before.IndexOfAnyExcept(frame - 1)); // of the frame before, not touched since
            before = now;
            Native.NextFrame();
            if (frame == 10)
            {
                most = memory.Stats.ReservedBytes;
            }
        }
        Assert.Equal(most, memory.Stats.ReservedBytes);
        Native.NextFrame();
        Native.NextFrame();
        Assert.True(memory.Trim() > 0);
    }

    [Fact]
    public void threads_allocate_at_the_same_time()
    {
        using var memory = new FrameMemory(3);
        Parallel.For(0, 8, worker =>
        {
            var mine = new nint[500];
            for (int each = 0; each < mine.Length; each++)
            {
                int* block = (int*)memory.AllocateBytes(40);
                new Span<int>(block, 10).Fill(worker);
                mine[each] = (nint)block;
            }
            foreach (nint each in mine)
            {
                Assert.Equal(-1, new Span<int>((void*)each, 10).IndexOfAnyExcept(worker));
            }
        });
    }

    [Fact]
    public void arguments_out_of_range_and_use_after_disposal_are_refused()
    {
        Assert.Throws<ArgumentOutOfRangeException>(() => new FrameMemory(0));
        Assert.Throws<ArgumentOutOfRangeException>(() => new FrameMemory(FrameMemory.MaxFrames + 1));
        var memory = new FrameMemory();
        Assert.Throws<ArgumentOutOfRangeException>(() => (nint)memory.AllocateBytes(1, 24));
        Assert.Throws<ArgumentOutOfRangeException>(() => memory.Allocate<int>(-1).Length);
        Assert.Throws<OutOfMemoryException>(() => (nint)memory.AllocateBytes(nuint.MaxValue / 2));
        Assert.Equal(0, memory.AllocateZeroed<int>(5)[4]);
        memory.Dispose();
        memory.Dispose();
        Assert.Throws<ObjectDisposedException>(() => (nint)memory.AllocateBytes(1));
        Assert.Throws<ObjectDisposedException>(() => memory.Trim());
        Assert.Throws<ObjectDisposedException>(() => memory.Stats);
    }
}
