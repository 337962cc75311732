// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

namespace Tenure;

/// <summary>Handles a report from the library.</summary>
/// <remarks>Called on the thread that caused the report, which may be the finalizer thread. The handler must not block
/// and must not allocate from the part that reports. An exception that it throws is written to standard error and not
/// propagated.</remarks>
/// <param name="kind">The kind of the report.</param>
/// <param name="text">What happened, where, and what to do.</param>
public delegate void ReportHandler(ReportKind kind, string text);

/// <summary>Reports from the native library and about owners that were not disposed.</summary>
/// <remarks>
/// Misuse is detected only in checked builds of the native library (<see cref="CheckLevel"/> of 1 or more). TempJob
/// leaks and notices are reported in every build.
/// </remarks>
public static unsafe class Reports
{
    private static readonly object _lock = new();
    private static ReportHandler? _handler;
    private static bool _isHeard; // whether the event source has a session

    /// <summary>Gets the check level, which is fixed when the native library is built: 0 no checks, 1 misuse by the
    /// caller, 2 also the library's own invariants, 3 also whole structures.</summary>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public static int CheckLevel
    {
        get
        {
            NativeLibraryCheck.Ensure();
            return (int)NativeMethods.tn_check_level();
        }
    }

    /// <summary>Gets or sets the handler for all reports of the process, including those from C and C++ code. Null is
    /// the default: reports are written to standard error, and misuse and broken invariants abort the process. If the
    /// handler returns, the program continues and the offending call does nothing.</summary>
    /// <remarks>Any thread may set it. The change takes effect at the next report.</remarks>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public static ReportHandler? Handler
    {
        get => Volatile.Read(ref _handler);
        set
        {
            NativeLibraryCheck.Ensure();
            lock (_lock)
            {
                Volatile.Write(ref _handler, value);
                Install();
            }
        }
    }

    /// <summary>Called when the event source starts or stops listening. Native reports are routed here only while it
    /// listens or a handler is set.</summary>
    internal static void SetHeard(bool heard)
    {
        lock (_lock)
        {
            Volatile.Write(ref _isHeard, heard);
            Install();
        }
    }

    /// <summary>Reports, in checked builds, that the garbage collector finalized an owner that was not
    /// disposed.</summary>
    internal static void TellLeakedOwner(string what)
    {
        if (NativeMethods.tn_check_level() != 0)
        {
            Tell(ReportKind.Leak, what + " was not disposed; the garbage collector freed it. "
                + "Dispose it, or put it in a using statement.");
        }
    }

    /// <summary>Reports, in checked builds, that the garbage collector finalized a buffer that is still held. Its
    /// memory is never freed.</summary>
    internal static void TellHeldBuffer(string type, long bytes, uint holders)
    {
        if (NativeMethods.tn_check_level() != 0)
        {
            Tell(ReportKind.Leak, $"{type} of {bytes} bytes was not disposed, and is held {holders} "
                + $"time{(holders == 1 ? "" : "s")}: its memory is not freed. Release it as often as it is acquired, "
                + "and dispose it.");
        }
    }

    /// <summary>Reports a leak in every build, for code that cannot throw.</summary>
    internal static void TellLeak(string text) => Tell(ReportKind.Leak, text);

    private static void Install()
    {
        bool wanted = _handler is not null || _isHeard;
        NativeMethods.tn_set_report_handler(wanted ? &Hear : null, null);
    }

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static void Hear(void* context, uint kind, byte* text, nuint length)
    {
        try
        {
            Tell((ReportKind)kind, length == 0 ? "" : Encoding.UTF8.GetString(text, (int)length));
        }
#pragma warning disable CA1031 // no exception may cross into native code, and none can be reported from here
        catch (Exception)
#pragma warning restore CA1031
        {
        }
    }

    private static void Tell(ReportKind kind, string text)
    {
        if (TenureEventSource.IsOn)
        {
            TenureEventSource.Log.Report(kind, text);
        }
        ReportHandler? handler = Volatile.Read(ref _handler);
        if (handler is null)
        {
            TellByDefault(kind, text);
            return;
        }
        try
        {
            handler(kind, text);
        }
#pragma warning disable CA1031 // an exception from a handler must not cross into native code
        catch (Exception exception)
#pragma warning restore CA1031
        {
            Console.Error.WriteLine(string.Concat("tenure: a report handler threw ", exception.ToString()));
            Console.Error.WriteLine("tenure: " + text);
        }
    }

    /// <summary>Does what the native library does when no handler is set.</summary>
    private static void TellByDefault(ReportKind kind, string text)
    {
        Console.Error.WriteLine("tenure: " + text);
        if (kind is ReportKind.Misuse or ReportKind.Invariant)
        {
            Environment.FailFast("tenure: " + text);
        }
    }
}
