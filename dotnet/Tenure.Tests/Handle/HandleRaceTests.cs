// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics;
using System.Threading;
using System.Threading.Tasks;
using Xunit;

namespace Tenure.Tests;

public sealed class HandleRaceTests
{
    private const int Threads = 4;
    private const int EnoughSeconds = 10;

    /// <summary>Every thread at once; the first exception of any is thrown here.</summary>
    private static async Task Together(int count, Action<int> work)
    {
        using var barrier = new Barrier(count);
        var tasks = new Task[count];
        for (int i = 0; i < count; i++)
        {
            int mine = i;
            tasks[i] = Task.Factory.StartNew(() =>
            {
                barrier.SignalAndWait();
                work(mine);
            }, TestContext.Current.CancellationToken, TaskCreationOptions.LongRunning, TaskScheduler.Default);
        }
        await Task.WhenAll(tasks).WaitAsync(TimeSpan.FromMinutes(2), TestContext.Current.CancellationToken);
    }

    [Fact]
    public async Task of_many_frees_at_once_one_succeeds()
    {
        for (int round = 0; round < 500; round++)
        {
            var buffer = new FixedBuffer<int>(4);
            int freed = 0, refused = 0;
            await Together(Threads, _ =>
            {
                try
                {
                    buffer.Free();
                    Interlocked.Increment(ref freed);
                }
                catch (ObjectDisposedException)
                {
                    Interlocked.Increment(ref refused);
                }
            });
            Assert.Equal(1, freed);
            Assert.Equal(Threads - 1, refused);
        }
    }

    [Fact]
    public async Task whoever_has_acquired_reads_memory_that_nobody_has_freed()
    {
        // One thread frees and makes anew; the others hold what they find. Each buffer's elements say which one it is,
        // so that memory that was given to another is seen. It goes on until each of the others has held one.
        const int Rounds = 3_000;
        FixedBuffer<int>[] shared = [Made(0)];
        int[] holds = new int[Threads];
        bool done = false;
        using var deadline = new CancellationTokenSource(TimeSpan.FromMinutes(1));
        CancellationToken token = deadline.Token;
        await Together(Threads, thread =>
        {
            if (thread == 0)
            {
                try
                {
                    // A machine that is busy with other things stops a holder for long: fewer rounds do there.
                    long begin = Stopwatch.GetTimestamp();
                    for (int round = 1; Array.Exists(holds[1..], none => none == 0)
                         || (round <= Rounds && Stopwatch.GetElapsedTime(begin).TotalSeconds < EnoughSeconds); round++)
                    {
                        token.ThrowIfCancellationRequested();
                        FixedBuffer<int> old = shared[0];
                        lock (shared)
                        {
                            shared[0] = Made(round);
                        }
                        while (!TryFree(old))
                        {
                            Thread.Yield();
                        }
                    }
                }
                finally
                {
                    Volatile.Write(ref done, true);
                }
                return;
            }
            while (!Volatile.Read(ref done))
            {
                FixedBuffer<int> mine;
                lock (shared)
                {
                    mine = shared[0]; // 24 bytes: passed between threads under a lock
                }
                try
                {
                    using Lease<int> lease = mine.Lease();
                    int first = lease[0];
                    for (int i = 1; i < lease.Length; i++)
                    {
                        Assert.Equal(first + i, lease[i]);
                    }
                    Interlocked.Increment(ref holds[thread]);
                }
                catch (ObjectDisposedException)
                {
                    // It was faster.
                }
            }
        });
        Assert.All(holds[1..], count => Assert.True(count > 0));
        shared[0].Free();

        static FixedBuffer<int> Made(int round)
        {
            var buffer = new FixedBuffer<int>(64, new BufferOptions { Fill = AllocationFill.Unwritten });
            for (int i = 0; i < buffer.Length; i++)
            {
                buffer[i] = (round * 100) + i;
            }
            return buffer;
        }

        static bool TryFree(FixedBuffer<int> buffer)
        {
            try
            {
                return buffer.Free();
            }
            catch (InvalidOperationException exception) when (exception is not ObjectDisposedException)
            {
                return false;
            }
        }
    }

    [Fact]
    public async Task holders_are_counted_exactly_by_many_threads()
    {
        var buffer = new FixedBuffer<int>(1);
        await Together(Threads, _ =>
        {
            for (int i = 0; i < 50_000; i++)
            {
                buffer.Acquire();
                buffer.Release();
            }
            buffer.Acquire();
        });
        Assert.Equal(Threads, buffer.RefCount);
        for (int i = 0; i < Threads; i++)
        {
            buffer.Release();
        }
        buffer.Free();
    }

    [Fact]
    public async Task mistakes_of_other_threads_do_not_change_the_count()
    {
        var stale = new FixedBuffer<int>(1);
        stale.Free();
        using var buffers = new SafeArray<FixedBuffer<int>>(64);
        for (int i = 0; i < buffers.Length; i++)
        {
            buffers[i] = new FixedBuffer<int>(1); // one of them has the entry of the stale one
        }
        await Together(Threads, thread =>
        {
            for (int i = 0; i < 2_000; i++)
            {
                if (thread == 0)
                {
                    Assert.Throws<ObjectDisposedException>(() => stale.Acquire());
                    Assert.Throws<ObjectDisposedException>(() => stale.Release());
                }
                else
                {
                    FixedBuffer<int> mine = buffers[i % buffers.Length];
                    mine.Acquire();
                    Assert.True(mine.Release());
                }
            }
        });
        foreach (FixedBuffer<int> each in buffers)
        {
            Assert.Equal(0, each.RefCount);
            each.Free();
        }
    }

    [Fact]
    public async Task a_dispose_and_an_acquire_of_an_object_never_both_succeed()
    {
        for (int round = 0; round < 500; round++)
        {
            var array = new SafeArray<int>(4);
            bool acquired = false, disposed = false;
            await Together(2, thread =>
            {
                try
                {
                    if (thread == 0)
                    {
                        array.Dispose();
                        disposed = true;
                    }
                    else
                    {
                        array.Acquire();
                        acquired = true;
                    }
                }
                catch (InvalidOperationException)
                {
                }
            });
            Assert.True(acquired ^ disposed);
            if (acquired)
            {
                Assert.Equal(0, array[3]);
                array.Release();
                array.Dispose();
            }
        }
    }

    [Fact]
    public async Task elements_of_eight_bytes_are_never_read_torn()
    {
        using var buffer = new FixedBuffer<ulong>(3, new BufferOptions { Alignment = 8 });
        using var huge = new HugeArray<double>(3);
        bool done = false, sawZero = false, sawOther = false;
        double pi = Math.PI;
        using var deadline = new CancellationTokenSource(TimeSpan.FromMinutes(1));
        CancellationToken token = deadline.Token;
        await Together(2, thread =>
        {
            if (thread == 0)
            {
                try
                {
                    // Until the reader has met both values: one that comes late has read nothing.
                    for (int i = 0; i < 2_000_000 || !Volatile.Read(ref sawZero) || !Volatile.Read(ref sawOther); i++)
                    {
                        token.ThrowIfCancellationRequested();
                        buffer[1] = (i & 1) == 0 ? 0 : ulong.MaxValue;
                        huge[1] = (i & 1) == 0 ? 0 : pi;
                    }
                }
                finally
                {
                    Volatile.Write(ref done, true);
                }
                return;
            }
            while (!Volatile.Read(ref done))
            {
                ulong seen = buffer[1];
                double number = huge[1];
                if (seen is not 0 and not ulong.MaxValue || (number != 0 && number != pi))
                {
                    Assert.Fail($"{seen:x}, {number} was read.");
                }
                Volatile.Write(ref sawZero, sawZero || seen == 0);
                Volatile.Write(ref sawOther, sawOther || seen == ulong.MaxValue);
            }
        });
        Assert.True(sawZero && sawOther);
    }
}
