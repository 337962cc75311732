// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

namespace Tenure;

/// <summary>Hears what the library has to say.</summary>
/// <remarks>Called on the thread where it happened, finalizer threads included. It must not allocate from the part that
/// reports, and not block. What it throws is written to standard error and goes no further.</remarks>
/// <param name="kind">Why the report is made.</param>
/// <param name="text">What happened, where, and the next step.</param>
public delegate void ReportHandler(ReportKind kind, string text);

/// <summary>What the native library, and owners that were never disposed, have to say.</summary>
/// <remarks>
/// The caller's mistakes are looked for in checked builds of the native library only (<see cref="CheckLevel"/> of 1 and
/// more). Leaks of TempJob and notices are reported in every build.
/// </remarks>
public static unsafe class Reports
{
    private static readonly object _lock = new();
    private static ReportHandler? _handler;
    private static bool _isHeard; // by the event source

    /// <summary>0 no checks, 1 the caller's mistakes, 2 also the library's own invariants, 3 also whole structures;
    /// fixed when the native library was built.</summary>
    /// <exception cref="TenureLoadException">There is no native library, or another version's.</exception>
    public static int CheckLevel
    {
        get
        {
            NativeLibraryCheck.Ensure();
            return (int)NativeMethods.tn_check_level();
        }
    }

    /// <summary>Who hears the reports of the process, C and C++ in it included. Null is the default: they are written
    /// to standard error, and the process is aborted for misuse and broken invariants. A handler that returns lets the
    /// program go on: the offending call then does nothing.</summary>
    /// <remarks>Threads any; takes effect at the next report.</remarks>
    /// <exception cref="TenureLoadException">There is no native library, or another version's.</exception>
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

    /// <summary>The event source begins or ceases to listen: native reports come here only while somebody
    /// does.</summary>
    internal static void SetHeard(bool heard)
    {
        lock (_lock)
        {
            Volatile.Write(ref _isHeard, heard);
            Install();
        }
    }

    /// <summary>An owner was left to the garbage collector. Says so in checked builds.</summary>
    internal static void TellLeakedOwner(string what)
    {
        if (NativeMethods.tn_check_level() != 0)
        {
            Tell(ReportKind.Leak, what + " was not disposed and has been given back by the garbage collector. "
                + "Next step: dispose it, or put it into a using statement.");
        }
    }

    /// <summary>A buffer was left to the garbage collector while it is held, and so stays for good. Says so in checked
    /// builds.</summary>
    internal static void TellHeldBuffer(string type, long bytes, uint holders)
    {
        if (NativeMethods.tn_check_level() != 0)
        {
            Tell(ReportKind.Leak, $"{type} of {bytes} bytes was not disposed, and is held {holders} "
                + $"time{(holders == 1 ? "" : "s")}: its memory stays. Next step: release it as often as it is acquired, "
                + "and dispose it.");
        }
    }

    /// <summary>What nobody can be thrown: in every build.</summary>
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
#pragma warning disable CA1031 // whatever it is, it must not cross into native code, and there is nobody left to tell
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
#pragma warning disable CA1031 // whatever a handler throws must not cross into native code
        catch (Exception exception)
#pragma warning restore CA1031
        {
            Console.Error.WriteLine(string.Concat("tenure: a report handler threw ", exception.ToString()));
            Console.Error.WriteLine("tenure: " + text);
        }
    }

    /// <summary>What the native library does by itself while nobody listens.</summary>
    private static void TellByDefault(ReportKind kind, string text)
    {
        Console.Error.WriteLine("tenure: " + text);
        if (kind is ReportKind.Misuse or ReportKind.Invariant)
        {
            Environment.FailFast("tenure: " + text);
        }
    }
}
