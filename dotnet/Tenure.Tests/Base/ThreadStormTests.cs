// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Concurrent;
using System.IO;
using System.Linq;
using System.Threading;
using Xunit;

namespace Tenure.Tests;

public sealed class ThreadStormTests
{
    [Fact]
    public void a_hundred_thousand_threads_leave_nothing_behind() => ChildProcess.Run(typeof(ThreadStormInAChild));
}

/// <summary>In a process of its own, because its figures are looked at.</summary>
public sealed unsafe class ThreadStormInAChild
{
    private const int Threads = 100_000;
    private const int AtATime = 1000;
    private const int Blocks = 8;

    /// <summary>Blocks on their way from one thread to another.</summary>
    private static readonly ConcurrentQueue<nint> _onTheWay = new();
    private static readonly SharedPool<long> _pool = new();
    private static readonly ConcurrentQueue<nint> _objects = new();
    private static long _wrong;

    [Fact(Explicit = true)]
    public void threads_allocate_hand_over_and_exit()
    {
        Wave(0);
        GiveBack();
        TenureStatistics before = TenureStatistics.Capture();
        long residentAtFirst = 0;
        for (int wave = 1; wave < Threads / AtATime; wave++)
        {
            Wave(wave);
            if (wave % 10 == 0)
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
                residentAtFirst = residentAtFirst == 0 ? Resident() : residentAtFirst;
            }
        }
        GiveBack();
        TenureStatistics after = TenureStatistics.Capture();
        Assert.Equal(0, Interlocked.Read(ref _wrong));
        Assert.Equal(0, _pool.Count);
        Assert.Equal(0ul, after.TempJobLiveCount);
        Assert.InRange(after.ThreadCount, 0ul, before.ThreadCount + 8);
        Assert.InRange(after.LiveBytes, 0ul, before.LiveBytes + (64 << 10));
        Assert.InRange(after.LiveCount, 0ul, before.LiveCount + 64);
        Assert.InRange(Resident(), 0, residentAtFirst + (64 << 20));
    }

    private static void Wave(int wave)
    {
        using var together = new CountdownEvent(AtATime);
        Thread[] threads = [.. Enumerable.Range(0, AtATime).Select(number => new Thread(() => Work(wave, number, together), 64 << 10))];
        Array.ForEach(threads, thread => thread.Start());
        Array.ForEach(threads, thread => thread.Join());
    }

    private static void Work(int wave, int number, CountdownEvent together)
    {
        for (int index = 0; index < Blocks; index++)
        {
            nuint bytes = (nuint)(16 + ((wave + number + index) % 600));
            Lifetime lifetime = index % 4 == 0 ? Lifetime.TempJob : Lifetime.Persistent;
            nint* block = (nint*)Native.Allocate(bytes, lifetime);
            block[0] = (nint)block;
            block[1] = (nint)lifetime;
            _onTheWay.Enqueue((nint)block);
        }
        long* made = _pool.Allocate();
        *made = (long)made;
        _objects.Enqueue((nint)made);
        using (var scope = TempScope.Begin())
        {
            scope.Allocate<int>(100).Fill(number);
        }
        if (number % 50 == 0)
        {
            _ = new Arena(1024).AllocateZeroed<byte>(100); // left to its finalizer, which runs on a thread of its own
        }
        if (number % 16 == 0)
        {
            // Some end while others are still at it, some all together.
            together.Signal();
            together.Wait(TimeSpan.FromMilliseconds(1));
        }
        else
        {
            together.Signal();
        }
        for (int index = 0; index < Blocks && _onTheWay.TryDequeue(out nint other); index++)
        {
            Free((nint*)other);
        }
        if (_objects.TryDequeue(out nint taken))
        {
            Interlocked.Add(ref _wrong, *(long*)taken == taken ? 0 : 1);
            _pool.Free((long*)taken);
        }
    }

    private static void Free(nint* block)
    {
        Interlocked.Add(ref _wrong, block[0] == (nint)block ? 0 : 1);
        Native.Deallocate(block, (Lifetime)block[1]);
    }

    private static void GiveBack()
    {
        while (_onTheWay.TryDequeue(out nint block))
        {
            Free((nint*)block);
        }
        while (_objects.TryDequeue(out nint made))
        {
            _pool.Free((long*)made);
        }
        for (int round = 0; round < 3; round++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
        Native.Trim();
    }

    private static long Resident() => !OperatingSystem.IsLinux() ? Environment.WorkingSet : long.Parse(
        File.ReadLines("/proc/self/status").First(line => line.StartsWith("VmRSS:", StringComparison.Ordinal))
            .Split(' ', StringSplitOptions.RemoveEmptyEntries)[1], System.Globalization.CultureInfo.InvariantCulture) * 1024;
}
