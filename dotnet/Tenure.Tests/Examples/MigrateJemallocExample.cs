// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using Xunit;

namespace Tenure.Tests;

/// <summary>The lines of docs/guide/migrate.md for jemalloc.NET. JemTests runs the calls, with jemalloc and without.</summary>
public sealed class MigrateJemallocExample
{
    [Fact(Explicit = true)]
    public void calls()
    {
        JemInitResult settings = Jem.TryInit("dirty_decay_ms:1000"); // there a bool, and no effect after another call
        nint block = Jem.Malloc(100); // the same line
        block = Jem.Realloc(block, 5000);
        Assert.True(Jem.MallocUsableSize(block) >= 5000 && Jem.AllocatedBytes >= 5000);
        Jem.Free(block);
        Assert.NotNull(settings.ToString());
    }

    [Fact]
    public void buffers()
    {
        var heights = new FixedBuffer<float>(1000); // the same line
        heights.VectorFill(1.5f);
        heights.Retain();
        Assert.Throws<InvalidOperationException>(() => heights.Free()); // somebody holds it
        heights.Release();
        heights.Free();
        Assert.Throws<ObjectDisposedException>(() => heights[0]); // there: memory that is no longer yours
    }

    [Fact]
    public void huge_arrays()
    {
        using var votes = new HugeArray<ulong>(1_000_000); // long, where it took ulong
        votes[999_999] = 1;
        votes.VectorFill(3); // maths for arrays of every size
        Assert.Equal(3ul, votes[999_999]);
    }

    [Fact]
    public void text()
    {
        var name = new FixedUtf8String("Gavial"); // Utf8Buffer in its last sources
        Assert.Equal(2, name.IndexOf("via"));
        name.Free();
    }
}
