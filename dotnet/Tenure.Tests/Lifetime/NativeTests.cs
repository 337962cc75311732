// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using Xunit;

namespace Tenure.Tests;

public sealed unsafe class NativeTests
{
    private static readonly Lifetime[] _all = [Lifetime.Temp, Lifetime.TempJob, Lifetime.Persistent];

    [Fact]
    public void memory_of_every_lifetime_can_be_written_and_read()
    {
        using var scope = TempScope.Begin();
        foreach (Lifetime lifetime in _all)
        {
            foreach (int bytes in (int[])[0, 1, 15, 16, 17, 128, 1024, 1025, 40_000, 3_000_000])
            {
                byte* block = (byte*)Native.Allocate((nuint)bytes, lifetime);
                new Span<byte>(block, bytes).Fill(0x5A);
                Assert.Equal(-1, new Span<byte>(block, bytes).IndexOfAnyExcept((byte)0x5A));
                Native.Deallocate(block, (nuint)bytes, lifetime);
            }
        }
    }

    [Fact]
    public void every_alignment_is_met()
    {
        using var scope = TempScope.Begin();
        foreach (Lifetime lifetime in _all)
        {
            for (nuint alignment = 1; alignment <= 65536; alignment *= 2)
            {
                void* block = Native.Allocate(40, lifetime, alignment);
                Assert.Equal(0u, (nuint)block % alignment);
                Native.Deallocate(block, lifetime);
            }
        }
    }

    [Fact]
    public void zeroed_memory_is_zero()
    {
        using var scope = TempScope.Begin();
        foreach (Lifetime lifetime in _all)
        {
            foreach (nuint alignment in (nuint[])[16, 128])
            {
                void* dirty = Native.Allocate(777, lifetime, alignment);
                new Span<byte>(dirty, 777).Fill(1);
                Native.Deallocate(dirty, 777, lifetime);
                void* block = Native.AllocateZeroed(777, lifetime, alignment);
                Assert.Equal(-1, new Span<byte>(block, 777).IndexOfAnyExcept((byte)0));
                Native.Deallocate(block, 777, lifetime);
            }
        }
    }

    [Fact]
    public void an_alignment_that_is_no_power_of_two_is_refused_before_the_call()
    {
        foreach (nuint alignment in (nuint[])[0, 3, 12, 15, 17, 24, 100, nuint.MaxValue])
        {
            foreach (Lifetime lifetime in _all)
            {
                Assert.Throws<ArgumentOutOfRangeException>(() => { Native.Allocate(8, lifetime, alignment); });
                Assert.Throws<ArgumentOutOfRangeException>(() => { Native.TryAllocate(8, lifetime, alignment); });
                Assert.Throws<ArgumentOutOfRangeException>(() => { Native.AllocateZeroed(8, lifetime, alignment); });
            }
            Assert.Throws<ArgumentOutOfRangeException>(() => { Native.Reallocate(null, 8, alignment); });
            Assert.Throws<ArgumentOutOfRangeException>(() => { Native.TryReallocate(null, 8, alignment); });
        }
    }

    [Fact]
    public void a_lifetime_that_is_none_is_refused_before_the_call()
    {
        const Lifetime None = (Lifetime)3;
        Assert.Throws<ArgumentOutOfRangeException>(() => { Native.Allocate(8, None); });
        Assert.Throws<ArgumentOutOfRangeException>(() => { Native.TryAllocate(8, None); });
        Assert.Throws<ArgumentOutOfRangeException>(() => { Native.AllocateZeroed(8, None); });
        Assert.Throws<ArgumentOutOfRangeException>(() => Native.Deallocate((void*)null, None));
        Assert.Throws<ArgumentOutOfRangeException>(() => Native.Deallocate(null, 8, None));
    }

    [Fact]
    public void more_than_there_can_be_is_refused_and_changes_nothing()
    {
        foreach (Lifetime lifetime in _all)
        {
            foreach (nuint bytes in (nuint[])[nuint.MaxValue, nuint.MaxValue - 15, nuint.MaxValue / 2, nuint.MaxValue / 2 + 1, (nuint)1 << 60])
            {
                Assert.Throws<OutOfMemoryException>(() => { Native.Allocate(bytes, lifetime); });
                Assert.True(Native.TryAllocate(bytes, lifetime) == null);
                Assert.True(Native.TryAllocate(bytes, lifetime, 4096) == null);
            }
        }
        Assert.Throws<OutOfMemoryException>(() => { Native.Allocate<long>(nuint.MaxValue / 2, Lifetime.Persistent); });
        Assert.Throws<OutOfMemoryException>(() => { Native.AllocateZeroed(nuint.MaxValue, Lifetime.Persistent); });
        void* block = Native.Allocate(100, Lifetime.Persistent);
        *(int*)block = 42;
        Assert.True(Native.TryReallocate(block, nuint.MaxValue) == null);
        Assert.Throws<OutOfMemoryException>(() => { Native.Reallocate(block, nuint.MaxValue); });
        Assert.Equal(42, *(int*)block);
        Native.Deallocate(block, 100, Lifetime.Persistent);
    }

    [Fact]
    public void a_negative_count_is_refused()
    {
        Assert.Throws<ArgumentOutOfRangeException>(() => { Native.AllocateSpan<int>(-1, Lifetime.Persistent); });
        Assert.Throws<ArgumentOutOfRangeException>(() => { Native.AllocateZeroedSpan<int>(int.MinValue, Lifetime.Persistent); });
    }

    [Fact]
    public void null_may_be_deallocated()
    {
        foreach (Lifetime lifetime in _all)
        {
            Native.Deallocate((void*)null, lifetime);
            Native.Deallocate(null, 0, lifetime);
            Native.Deallocate(null, 100, lifetime);
        }
        Native.Deallocate<int>(default, Lifetime.Persistent);
        Assert.Equal(0u, Native.UsableSize(null));
    }

    [Fact]
    public void reallocation_keeps_the_contents()
    {
        int* block = (int*)Native.Reallocate(null, 40);
        for (int index = 0; index < 10; index++)
        {
            block[index] = index;
        }
        foreach (int count in (int[])[100, 5000, 200_000, 9_000_000, 1000, 10])
        {
            block = (int*)Native.Reallocate(block, (nuint)count * 4);
            for (int index = 0; index < 10; index++)
            {
                Assert.Equal(index, block[index]);
            }
            Assert.True(Native.UsableSize(block) >= (nuint)count * 4);
        }
        block = (int*)Native.Reallocate(block, 64, 256);
        Assert.Equal(0u, (nuint)block % 256);
        Native.Deallocate(block, Lifetime.Persistent);
    }

    [Fact]
    public void the_heap_knows_what_is_its()
    {
        int outside = 0;
        foreach (nuint bytes in (nuint[])[1, 1000, 100_000, 40_000_000])
        {
            byte* block = (byte*)Native.Allocate(bytes, Lifetime.Persistent);
            Assert.True(Native.Owns(block) && Native.Owns(block + bytes - 1));
            Native.Deallocate(block, Lifetime.Persistent);
        }
        Assert.False(Native.Owns(&outside));
        Assert.False(Native.Owns(null));
    }

    [Fact]
    public void spans_have_as_many_elements_as_were_asked_for()
    {
        foreach (int count in (int[])[0, 1, 7, 300, 100_000])
        {
            Span<long> elements = Native.AllocateSpan<long>(count, Lifetime.Persistent);
            Assert.Equal(count, elements.Length);
            elements.Fill(-1);
            Native.Deallocate(elements, Lifetime.Persistent);
            Span<long> zeros = Native.AllocateZeroedSpan<long>(count, Lifetime.TempJob);
            Assert.Equal(-1, zeros.IndexOfAnyExcept(0L));
            Native.Deallocate(zeros, Lifetime.TempJob);
        }
        double* typed = Native.Allocate<double>(3, Lifetime.Persistent);
        typed[2] = 1.5;
        Native.Deallocate(typed, 24, Lifetime.Persistent);
    }

    [Fact]
    public void the_newest_block_of_temp_is_taken_back_by_a_free_with_its_size()
    {
        using var scope = TempScope.Begin();
        void* first = Native.Allocate(100, Lifetime.Temp);
        void* second = Native.Allocate(50, Lifetime.Temp);
        Native.Deallocate(first, 100, Lifetime.Temp); // not the newest: stays
        void* third = Native.Allocate(10, Lifetime.Temp);
        Assert.True((byte*)third - (byte*)second == 64);
        Native.Deallocate(third, 10, Lifetime.Temp);
        Native.Deallocate(second, 50, Lifetime.Temp);
        Assert.True(Native.Allocate(1, Lifetime.Temp) == second);
    }

    [Fact]
    public void the_end_of_a_frame_and_a_reset_empty_temp()
    {
        Native.ResetTemp();
        void* first = Native.Allocate(1000, Lifetime.Temp);
        Assert.True(Native.TempStats.UsedBytes >= 1000);
        ulong frame = Native.Frame;
        Native.NextFrame();
        Assert.True(Native.Frame > frame);
        Assert.Equal(0ul, Native.TempStats.UsedBytes);
        Assert.True(Native.Allocate(1000, Lifetime.Temp) == first);
        Native.ResetTemp();
        Assert.Equal(0ul, Native.TempStats.UsedBytes);
        Assert.True(Native.TempStats.BudgetBytes > 0);
        Native.Trim();
    }

    [Fact]
    public void temp_job_blocks_are_disjoint_and_counted_until_another_thread_frees_them()
    {
        ulong before = TenureStatistics.Capture().TempJobLiveCount;
        int[] sizes = [0, 1, 8, 9, 24, 25, 100, 1024, 16_384, 32_768, 32_769, 70_000];
        var blocks = new nint[sizes.Length * 100];
        for (int i = 0; i < blocks.Length; i++)
        {
            int bytes = sizes[i % sizes.Length];
            void* block = Native.Allocate((nuint)bytes, Lifetime.TempJob);
            Assert.Equal(0u, (nuint)block % 16);
            new Span<byte>(block, bytes).Fill((byte)i);
            blocks[i] = (nint)block;
        }
        Assert.Equal(before + (ulong)blocks.Length, TenureStatistics.Capture().TempJobLiveCount);
        for (int i = 0; i < blocks.Length; i++)
        {
            Assert.Equal(-1, new Span<byte>((void*)blocks[i], sizes[i % sizes.Length]).IndexOfAnyExcept((byte)i));
        }
        var thread = new System.Threading.Thread(() =>
        {
            for (int i = 0; i < blocks.Length; i++)
            {
                if (i % 2 == 0)
                {
                    Native.Deallocate((void*)blocks[i], Lifetime.TempJob);
                }
                else
                {
                    Native.Deallocate((void*)blocks[i], (nuint)sizes[i % sizes.Length], Lifetime.TempJob);
                }
            }
        });
        thread.Start();
        thread.Join();
        Assert.Equal(before, TenureStatistics.Capture().TempJobLiveCount);
    }

    [Fact]
    public void temp_job_chunks_are_reused_after_their_blocks_are_freed()
    {
        Native.Deallocate(Native.Allocate(100, Lifetime.TempJob), Lifetime.TempJob);
        ulong held = TenureStatistics.Capture().TempJobChunkBytes;
        for (int i = 0; i < 100_000; i++)
        {
            Native.Deallocate(Native.Allocate(100, Lifetime.TempJob), 100, Lifetime.TempJob);
        }
        Assert.InRange(TenureStatistics.Capture().TempJobChunkBytes, 0ul, held + (1 << 17));
    }

    [Fact]
    public void a_thread_can_be_warmed_up_for_every_lifetime()
    {
        foreach (Lifetime lifetime in _all)
        {
            Assert.True(Native.WarmUp(50_000, lifetime));
        }
        Assert.InRange(Native.TempStats.CommittedBytes, 50_000ul, ulong.MaxValue);
        Assert.Throws<ArgumentOutOfRangeException>(() => Native.WarmUp(1, (Lifetime)3));
    }

    [Fact]
    public void temp_is_not_warmed_up_after_an_overflow()
    {
        using (TempScope.Begin())
        {
            Native.Allocate((nuint)Native.TempStats.BudgetBytes + 1, Lifetime.Temp);
            Assert.False(Native.WarmUp(100, Lifetime.Temp));
            Assert.True(Native.WarmUp(100, Lifetime.TempJob));
        }
        Assert.True(Native.WarmUp(100, Lifetime.Temp));
    }
}
