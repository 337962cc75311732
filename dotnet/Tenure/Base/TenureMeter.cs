// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Diagnostics.Metrics;
using System.Threading;

namespace Tenure;

/// <summary>The meter "Tenure": native memory for dotnet-counters, OpenTelemetry and other listeners.</summary>
/// <remarks>
/// <para>All instruments are observable: they are read when a listener collects them and cost allocations and frees
/// nothing. In bytes (By): <c>tenure.memory.live</c>, <c>tenure.memory.resident</c>, <c>tenure.memory.committed</c>,
/// <c>tenure.memory.cached</c>, <c>tenure.memory.retained</c>, <c>tenure.memory.reserved</c>, and <c>tenure.tag.live</c>, which has one value per owner tag, named by the attribute
/// <c>tenure.tag</c>; each value costs a walk of the live TempJob blocks. Counts: <c>tenure.allocations.live</c>,
/// <c>tenure.temp_job.live</c>, <c>tenure.handles.live</c>, <c>tenure.profile.samples</c>.</para>
/// <para>In trimmed programs with <c>MeterSupport</c> off, <see cref="Start"/> does nothing.</para>
/// </remarks>
public static class TenureMeter
{
    /// <summary>The name of the meter and the event source.</summary>
    public const string Name = TenureEventSource.SourceName;

    private static Instruments? _instruments;

    /// <summary>Publishes the meter and the event source. A second call does nothing.</summary>
    /// <remarks>Call it once when the program starts, from any thread.</remarks>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public static void Start()
    {
        NativeLibraryCheck.Ensure();
        if (FeatureSwitches.EventSourceIsSupported)
        {
            _ = TenureEventSource.Log;
        }
        if (FeatureSwitches.MeterIsSupported && Volatile.Read(ref _instruments) is null)
        {
            var made = new Instruments();
            if (Interlocked.CompareExchange(ref _instruments, made, null) is null)
            {
                made.Publish();
            }
            else
            {
                made.Dispose();
            }
        }
    }

    private sealed class Instruments : IDisposable
    {
        private const string Bytes = "By";

        private readonly Meter _meter = new(Name, typeof(TenureMeter).Assembly.GetName().Version?.ToString(3));

        internal void Publish()
        {
            Figure("tenure.memory.live", Bytes, "Bytes in use in the process heap.",
                static () => Now.LiveBytes);
            Figure("tenure.memory.committed", Bytes, "Committed bytes of the process heap.",
                static () => Now.CommittedBytes);
            Figure("tenure.memory.resident", Bytes, "Bytes of the process heap that are in memory.",
                static () => Now.ResidentBytes);
            Figure("tenure.memory.cached", Bytes, "Bytes of free blocks in thread caches.",
                static () => Now.CachedBytes);
            Figure("tenure.profile.samples", "{allocation}", "Blocks in use that the heap profile has recorded.",
                static () => Now.SampleCount);
            Figure("tenure.memory.retained", Bytes, "Bytes of freed blocks retained for reuse.",
                static () => Now.RetainedBytes);
            Figure("tenure.memory.reserved", Bytes, "Bytes of address space reserved by the process heap.",
                static () => Now.ReservedBytes);
            Figure("tenure.allocations.live", "{allocation}", "Blocks in use in the process heap.",
                static () => Now.LiveCount);
            Figure("tenure.temp_job.live", "{allocation}", "Live TempJob blocks.",
                static () => Now.TempJobLiveCount);
            Figure("tenure.handles.live", "{handle}", "Live handles.", LiveHandles);
            _meter.CreateObservableUpDownCounter("tenure.tag.live", TagBytes, Bytes, "Bytes in use under each owner tag.");
        }

        public void Dispose() => _meter.Dispose();

        private static TenureStatistics Now => TenureStatistics.Capture();

        private void Figure(string name, string unit, string description, Func<ulong> read) =>
            _meter.CreateObservableUpDownCounter(name, () => (long)read(), unit, description);

        private static unsafe ulong LiveHandles()
        {
            NativeHandleUsage usage = default;
            usage.Size = (uint)sizeof(NativeHandleUsage);
            NativeMethods.tn_handle_get_usage(&usage);
            return usage.LiveCount;
        }

        private static IEnumerable<Measurement<long>> TagBytes()
        {
            foreach (Tag tag in Tag.All)
            {
                TagUsage usage = tag.Usage;
                yield return new Measurement<long>(
                    (long)(usage.PersistentBytes + usage.TempJobBytes), new KeyValuePair<string, object?>("tenure.tag", tag.Name));
            }
        }
    }
}
