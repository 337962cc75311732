// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Diagnostics.Metrics;
using System.Diagnostics.Tracing;
using System.Linq;
using System.Threading;
using Xunit;

namespace Tenure.Tests;

public sealed unsafe class TenureMeterTests
{
    [Fact]
    public void the_meter_reads_what_the_library_has()
    {
        TenureMeter.Start();
        TenureMeter.Start();
        var seen = new List<(string Name, string? Unit, long Value, string? Tag)>();
        using var listener = new MeterListener
        {
            InstrumentPublished = (instrument, listener) =>
            {
                if (instrument.Meter.Name == TenureMeter.Name)
                {
                    listener.EnableMeasurementEvents(instrument);
                }
            },
        };
        listener.SetMeasurementEventCallback<long>((instrument, value, tags, _) =>
            seen.Add((instrument.Name, instrument.Unit, value, tags.ToArray().Select(tag => $"{tag.Key}={tag.Value}").SingleOrDefault())));
        listener.Start();
        void* block;
        void* job = Native.Allocate(100, Lifetime.TempJob);
        using (new TagScope("meter tests"))
        {
            block = Native.Allocate(5_000_000, Lifetime.Persistent);
        }
        new Span<byte>(block, 5_000_000).Fill(1); // so that it is in memory
        listener.RecordObservableInstruments();
        Native.Deallocate(block, 5_000_000, Lifetime.Persistent);
        Native.Deallocate(job, Lifetime.TempJob);
        foreach (string name in (string[])["tenure.memory.live", "tenure.memory.committed", "tenure.memory.reserved", "tenure.memory.resident"])
        {
            Assert.Contains(seen, each => each.Name == name && each.Unit == "By" && each.Value >= 5_000_000);
        }
        Assert.Contains(seen, each => each.Name == "tenure.memory.retained");
        Assert.Contains(seen, each => each.Name == "tenure.memory.cached" && each.Unit == "By");
        Assert.Contains(seen, each => each.Name == "tenure.profile.samples" && each.Value >= 0);
        Assert.Contains(seen, each => each.Name == "tenure.allocations.live" && each.Value > 0);
        Assert.Contains(seen, each => each.Name == "tenure.temp_job.live" && each.Value > 0);
        Assert.Contains(seen, each => each.Name == "tenure.handles.live");
        Assert.Contains(seen, each => each.Name == "tenure.tag.live" && each.Tag == "tenure.tag=meter tests" && each.Value >= 5_000_000);
        Assert.Equal(1, seen.Count(each => each.Name == "tenure.memory.live"));
    }

    [Fact]
    public void the_process_figures_follow_what_is_allocated() => ChildProcess.Run(typeof(ProcessFiguresInAChild));

    [Fact]
    public void the_event_source_polls_only_while_somebody_listens()
    {
        TenureMeter.Start();
        Assert.False(TenureEventSource.IsOn);
        void* block = Native.Allocate(100_000, Lifetime.Persistent);
        using (var listener = new Listener())
        {
            Assert.True(TenureEventSource.IsOn);
            Assert.True(listener.Polled.Wait(TimeSpan.FromSeconds(20), TestContext.Current.CancellationToken));
        }
        Native.Deallocate(block, 100_000, Lifetime.Persistent);
        Assert.False(TenureEventSource.IsOn);
    }

    private sealed class Listener : EventListener
    {
        internal ManualResetEventSlim Polled { get; } = new();

        protected override void OnEventSourceCreated(EventSource source)
        {
            if (source.Name == TenureMeter.Name)
            {
                EnableEvents(source, EventLevel.Informational, EventKeywords.All, new Dictionary<string, string?> { ["EventCounterIntervalSec"] = "0.2" });
            }
        }

        protected override void OnEventWritten(EventWrittenEventArgs written)
        {
            if (written.EventName == "EventCounters" && written.Payload![0] is IDictionary<string, object?> counter
                && (string?)counter["Name"] == "memory-live" && (double)counter["Mean"]! > 0)
            {
                Polled.Set();
            }
        }
    }
}

/// <summary>In a process of its own: other tests allocate and free meanwhile, and the figures are the process's.</summary>
public sealed unsafe class ProcessFiguresInAChild
{
    [Fact(Explicit = true)]
    public void the_process_figures_follow_what_is_allocated()
    {
        TenureStatistics before = TenureStatistics.Capture();
        void* block = Native.Allocate(300_000_000, Lifetime.Persistent);
        TenureStatistics during = TenureStatistics.Capture();
        Native.Deallocate(block, 300_000_000, Lifetime.Persistent);
        Assert.True(during.HeapIsOurs);
        Assert.True(during.LiveBytes >= before.LiveBytes + 250_000_000);
        Assert.True(during.PeakBytes >= 300_000_000 && during.ReservedBytes >= 300_000_000);
        Assert.True(during.ThreadCount > 0 && during.LiveCount > 0);
        Assert.Equal(0ul, during.SampleCount);
        HeapProfile.Start(1);
        block = Native.Allocate(30_000_000, Lifetime.Persistent);
        new Span<byte>(block, 30_000_000).Fill(1);
        TenureStatistics profiled = TenureStatistics.Capture();
        Assert.InRange(profiled.SampleCount, 1ul, 1000ul);
        Assert.InRange(profiled.ResidentBytes, 30_000_000ul, profiled.ReservedBytes);
        Native.Deallocate(block, 30_000_000, Lifetime.Persistent);
        HeapProfile.Stop();
        void*[] small = new void*[100];
        for (int each = 0; each < small.Length; ++each)
        {
            small[each] = Native.Allocate(100, Lifetime.Persistent);
        }
        ulong cachedBefore = TenureStatistics.Capture().CachedBytes;
        foreach (void* each in small)
        {
            Native.Deallocate(each, 100, Lifetime.Persistent);
        }
        Assert.True(TenureStatistics.Capture().CachedBytes > cachedBefore, "freed blocks are in the thread's cache");
    }
}
