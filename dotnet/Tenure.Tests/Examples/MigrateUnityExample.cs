// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using Xunit;

namespace Tenure.Tests;

/// <summary>The lines of docs/guide/migrate.md for Unity's allocators. It ends frames, so it runs alone.</summary>
[Collection(nameof(FrameMemoryTests))]
public sealed unsafe class MigrateUnityExample
{
    [Fact]
    public void malloc_and_free_of_every_allocator()
    {
        void* temp = Native.Allocate(4, Lifetime.Temp, alignment: 4);
        void* job = Native.Allocate(4, Lifetime.TempJob, alignment: 4);
        void* kept = Native.Allocate(4, Lifetime.Persistent, alignment: 4);
        Native.Deallocate(kept, Lifetime.Persistent);
        Native.Deallocate(job, Lifetime.TempJob);
        Native.Deallocate(temp, Lifetime.Temp);
        Native.NextFrame(); // the engine ends Unity's frames; here your loop does, once a frame on one thread
        Assert.True(temp != null && job != null && kept != null);
    }

    [Fact]
    public void arrays_of_every_allocator()
    {
        using var kept = new SafeArray<float>(1000); // Allocator.Persistent
        using var job = new SafeArray<float>(1000, Lifetime.TempJob); // Allocator.TempJob
        using var scope = TempScope.Begin();
        Span<float> temp = scope.AllocateZeroed<float>(1000); // Allocator.Temp
        Assert.True(kept[999] == 0 && job[999] == 0 && temp[999] == 0);
    }

    [Fact]
    public void lists_of_every_allocator()
    {
        using var kept = new NativeList<int>();
        kept.Add(1);
        using var job = new NativeList<int>(lifetime: Lifetime.TempJob);
        job.Add(2);
        using var chunks = new NativeChunkedList<int>(); // elements do not move
        ref int first = ref chunks.Add(3);
        chunks.Add(4);
        first = 5;
        Assert.Equal((1, 2, 5), (kept[0], job[0], chunks[0]));
    }

    [Fact]
    public void a_rewindable_allocator()
    {
        using var level = new Arena(); // one thread; Unity's serves any
        ArenaMarker start = level.Mark();
        Span<int> path = level.Allocate<int>(1000);
        path.Clear();
        level.Rewind(start);
        level.Clear(); // keeps the chunks
        Assert.Equal(0u, level.Stats.LiveBytes);
    }

    [Fact]
    public void a_double_rewindable_allocator()
    {
        using var frames = new FrameMemory(frames: 2); // any thread; blocks end with the second frame
        Span<int> visible = frames.Allocate<int>(1000);
        Native.NextFrame();
        visible[0] = 1;
        Assert.Equal(1, visible[0]);
    }
}
