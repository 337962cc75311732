// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Threading;
using Xunit;

namespace Tenure.Tests;

/// <summary>The calls for memory: the same over both.</summary>
public sealed unsafe class JemMemoryTests
{
    private static Span<byte> Bytes(nint block, int count) => new((void*)block, count);

    [Fact(Explicit = true)]
    public void blocks_are_allocated_written_and_freed()
    {
        foreach (ulong size in (ulong[])[0, 1, 15, 16, 17, 1000, 4096, 100_000, 5_000_000])
        {
            nint block = Jem.Malloc(size);
            Assert.NotEqual(0, block);
            Assert.True(Jem.MallocUsableSize(block) >= size);
            Bytes(block, (int)size).Fill(0xA5);
            Assert.True(Jem.Free(block));
        }
        Assert.False(Jem.Free(0));
        Assert.Equal(0ul, Jem.MallocUsableSize(0));
    }

    [Fact(Explicit = true)]
    public void calloc_clears_and_sees_an_overflow()
    {
        for (int round = 0; round < 100; round++)
        {
            nint block = Jem.Calloc(10, 100);
            Assert.Equal(-1, Bytes(block, 1000).IndexOfAnyExcept((byte)0));
            Bytes(block, 1000).Fill(1);
            Jem.Free(block);
        }
        Assert.Throws<OutOfMemoryException>(() => Jem.Calloc(ulong.MaxValue / 2, 4));
    }

    [Fact(Explicit = true)]
    public void what_is_refused_is_thrown()
    {
        Assert.Throws<OutOfMemoryException>(() => Jem.Malloc(ulong.MaxValue / 4));
        Assert.Throws<OutOfMemoryException>(() => Jem.AlignedAlloc(64, ulong.MaxValue / 4));
        Assert.Throws<OutOfMemoryException>(() => Jem.Mallocx(ulong.MaxValue / 4, 0));
        nint block = Jem.Malloc(100);
        Bytes(block, 100).Fill(7);
        Assert.Throws<OutOfMemoryException>(() => Jem.Realloc(block, ulong.MaxValue / 4));
        Assert.Throws<OutOfMemoryException>(() => Jem.Rallocx(block, ulong.MaxValue / 4, 0));
        Assert.Equal(-1, Bytes(block, 100).IndexOfAnyExcept((byte)7));
        Jem.Free(block);
        Assert.Equal(12, Jem.PosixMemalign(out nint none, 64, ulong.MaxValue / 4));
        Assert.Equal(0, none);
        Assert.Equal(0ul, Jem.Nallocx(1ul << 63, 0));
    }

    [Fact(Explicit = true)]
    public void alignments_are_kept_and_checked()
    {
        for (ulong alignment = 8; alignment <= 65536; alignment *= 2)
        {
            Assert.Equal(0, Jem.PosixMemalign(out nint first, alignment, 100));
            nint second = Jem.AlignedAlloc(alignment, 100), third = Jem.Mallocx(100, Jem.MallocxAlign(alignment));
            foreach (nint block in (nint[])[first, second, third])
            {
                Assert.Equal(0ul, (ulong)block % alignment);
                Jem.Free(block);
            }
        }
        Assert.Equal(Jem.MallocxAlign(4096), Jem.MallocxLgAlign(12));
        Assert.Equal(22, Jem.PosixMemalign(out nint none, 24, 100));
        Assert.Equal(22, Jem.PosixMemalign(out none, 4, 100));
        Assert.Equal(0, none);
        Assert.Throws<ArgumentNullException>(() => Jem.PosixMemalign(null, 16, 100));
        Assert.Throws<ArgumentOutOfRangeException>(() => Jem.AlignedAlloc(0, 100));
        Assert.Throws<ArgumentOutOfRangeException>(() => Jem.AlignedAlloc(48, 100));
        Assert.Throws<ArgumentOutOfRangeException>(() => Jem.MallocxAlign(12));
        Assert.Throws<ArgumentOutOfRangeException>(() => Jem.MallocxLgAlign(-1));
    }

    [Fact(Explicit = true)]
    public void reallocations_keep_the_contents()
    {
        nint block = Jem.Realloc(0, 10);
        Bytes(block, 10).Fill(9);
        foreach (ulong size in (ulong[])[20, 5000, 3_000_000, 12])
        {
            block = Jem.Realloc(block, size);
            Assert.Equal(-1, Bytes(block, 10).IndexOfAnyExcept((byte)9));
        }
        // C may free it then, and say nothing that tells so from a refusal.
        block = Jem.Realloc(block, 0);
        Assert.NotEqual(0, block);
        block = Jem.Rallocx(block, 70_000, Jem.MallocxAlign(4096));
        Assert.Equal(0, block % 4096);
        Jem.Free(block);
    }

    [Fact(Explicit = true)]
    public void what_a_larger_block_has_beyond_the_earlier_is_zero_when_asked_for()
    {
        foreach (ulong size in (ulong[])[1, 100, 5000])
        {
            nint block = Jem.Mallocx(size, Jem.MallocxZero);
            Assert.Equal(-1, Bytes(block, (int)size).IndexOfAnyExcept((byte)0));
            int before = (int)Jem.Sallocx(block, 0);
            Bytes(block, before).Fill(3);
            block = Jem.Rallocx(block, 100_000, Jem.MallocxZero);
            Assert.Equal(-1, Bytes(block, (int)size).IndexOfAnyExcept((byte)3));
            Assert.Equal(-1, Bytes(block, 100_000)[before..].IndexOfAnyExcept((byte)0));
            Jem.Dallocx(block, 0);
        }
    }

    [Fact(Explicit = true)]
    public void sizes_are_told_before_and_after()
    {
        foreach (ulong size in (ulong[])[1, 17, 1000, 20_000, 1_000_000])
        {
            nint block = Jem.Mallocx(size, Jem.MallocxTcacheNone);
            Assert.Equal(Jem.Nallocx(size, 0), Jem.Sallocx(block, 0));
            ulong now = Jem.Xallocx(block, size, 0, 0);
            Assert.True(now >= size);
            Assert.Equal(now, Jem.Sallocx(block, 0));
            Jem.Sdallocx(block, size, Jem.MallocxTcacheNone);
        }
    }

    [Fact(Explicit = true)]
    public void what_c_leaves_undefined_is_refused()
    {
        nint block = Jem.Malloc(100);
        Assert.Throws<ArgumentOutOfRangeException>(() => Jem.Mallocx(0, 0));
        Assert.Throws<ArgumentOutOfRangeException>(() => Jem.Nallocx(0, 0));
        Assert.Throws<ArgumentOutOfRangeException>(() => Jem.Rallocx(block, 0, 0));
        Assert.Throws<ArgumentOutOfRangeException>(() => Jem.Xallocx(block, 0, 0, 0));
        Assert.Throws<ArgumentOutOfRangeException>(() => Jem.Xallocx(block, 2, ulong.MaxValue, 0));
        Assert.Throws<ArgumentNullException>(() => Jem.Rallocx(0, 1, 0));
        Assert.Throws<ArgumentNullException>(() => Jem.Xallocx(0, 1, 0, 0));
        Assert.Throws<ArgumentNullException>(() => Jem.Sallocx(0, 0));
        Assert.Throws<ArgumentNullException>(() => Jem.Dallocx(0, 0));
        Assert.Throws<ArgumentNullException>(() => Jem.Sdallocx(0, 1, 0));
        Assert.Throws<ArgumentOutOfRangeException>(() => Jem.MallocxArena(-1));
        Assert.Throws<ArgumentOutOfRangeException>(() => Jem.MallocxTcache(5000));
        Jem.Free(block);
    }

    [Fact(Explicit = true)]
    public void a_block_is_freed_by_another_thread()
    {
        nint[] blocks = new nint[2000];
        var maker = new Thread(() =>
        {
            for (int i = 0; i < blocks.Length; i++)
            {
                blocks[i] = Jem.Malloc((ulong)(i % 700));
            }
        });
        maker.Start();
        maker.Join();
        Array.ForEach(blocks, block => Jem.Free(block));
    }
}
