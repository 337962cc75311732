// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics.Tracing;

namespace Tenure;

/// <summary>The EventSource "Tenure": counters that are read while a session polls them, and an event for each
/// report.</summary>
/// <remarks>Without a session, no counter is read and no report is routed through it. A trimmed program with
/// <c>EventSourceSupport</c> off contains none of it.</remarks>
[EventSource(Name = SourceName)]
internal sealed class TenureEventSource : EventSource
{
    internal const string SourceName = "Tenure";

    /// <summary>Keywords of the events.</summary>
    public static class Keywords
    {
        /// <summary>Reports: misuse, broken invariants, leaks, notices.</summary>
        public const EventKeywords Reports = (EventKeywords)1;
    }

    private const int MisuseId = 1;
    private const int LeakId = 2;
    private const int NoticeId = 3;

    private PollingCounter? _live;
    private PollingCounter? _committed;

    private TenureEventSource()
    {
    }

    /// <summary>Gets the single instance, created at its first use.</summary>
    internal static TenureEventSource Log { get; } = new();

    /// <summary>Gets a value indicating whether a session listens.</summary>
    internal static bool IsOn => FeatureSwitches.EventSourceIsSupported && Log.IsEnabled();

    /// <summary>Reports misuse or a broken invariant.</summary>
    [Event(MisuseId, Level = EventLevel.Error, Keywords = Keywords.Reports, Message = "{0}")]
    public void Misuse(string text) => WriteEvent(MisuseId, text);

    /// <summary>Reports that a block or object outlived its lifetime.</summary>
    [Event(LeakId, Level = EventLevel.Warning, Keywords = Keywords.Reports, Message = "{0}")]
    public void Leak(string text) => WriteEvent(LeakId, text);

    /// <summary>Reports a one-time notice.</summary>
    [Event(NoticeId, Level = EventLevel.Informational, Keywords = Keywords.Reports, Message = "{0}")]
    public void Notice(string text) => WriteEvent(NoticeId, text);

    [NonEvent]
    internal void Report(ReportKind kind, string text)
    {
        switch (kind)
        {
            case ReportKind.Leak:
                Leak(text);
                break;
            case ReportKind.Notice:
                Notice(text);
                break;
            default:
                Misuse(text);
                break;
        }
    }

    /// <inheritdoc/>
    protected override void OnEventCommand(EventCommandEventArgs command)
    {
        if (command.Command is not (EventCommand.Enable or EventCommand.Disable))
        {
            return;
        }
        bool on = command.Command == EventCommand.Enable;
        try
        {
            Reports.SetHeard(on);
        }
        catch (TenureLoadException)
        {
            return; // the first call by the program reports the error; a session must not
        }
        if (on)
        {
            _live ??= new PollingCounter("memory-live", this, static () => TenureStatistics.Capture().LiveBytes)
            {
                DisplayName = "Live native memory",
                DisplayUnits = "B",
            };
            _committed ??= new PollingCounter("memory-committed", this, static () => TenureStatistics.Capture().CommittedBytes)
            {
                DisplayName = "Committed native memory",
                DisplayUnits = "B",
            };
        }
    }

    /// <inheritdoc/>
    protected override void Dispose(bool disposing)
    {
        if (disposing)
        {
            _live?.Dispose();
            _committed?.Dispose();
        }
        base.Dispose(disposing);
    }
}
