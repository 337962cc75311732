// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

namespace Tenure;

/// <summary>Redirects jemalloc's variable <c>malloc_message</c> once messages are requested.</summary>
/// <remarks>
/// jemalloc calls from any thread, perhaps holding its own locks, so the callback allocates nothing and runs no user
/// code. It copies the bytes into a preallocated buffer, and a separate thread converts them to text. Before the
/// runtime shuts down, jemalloc's own writer is restored, because jemalloc may print statistics after managed code can
/// no longer run.
/// </remarks>
internal static unsafe class JemMessages
{
    private const int RoomBytes = 64 * 1024;

    private static readonly object s_lock = new();
    private static readonly AutoResetEvent s_arrived = new(false);
    private static readonly StringBuilder s_kept = new();
    private static Action<string>? s_handlers;
    private static byte* s_room;
    private static int s_filled;
    private static int s_gate;
    private static long s_failures;
    private static bool s_isThere;

    internal static long Failures => Interlocked.Read(ref s_failures);

    internal static void Add(Action<string>? handler)
    {
        Install();
        lock (s_lock)
        {
            s_handlers += handler;
        }
    }

    internal static void Remove(Action<string>? handler)
    {
        lock (s_lock)
        {
            s_handlers -= handler;
        }
    }

    internal static string Kept()
    {
        Install();
        Drain();
        lock (s_lock)
        {
            return s_kept.ToString();
        }
    }

    private static void Install()
    {
        lock (s_lock)
        {
            nint variable = JemallocSymbols.Address("malloc_message");
            if (s_isThere || variable == 0)
            {
                return;
            }
            if (!JemallocSymbols.ArePackaged)
            {
                UnlessQuietWhileAllocating();
            }
            s_room = (byte*)NativeMemory.Alloc(RoomBytes);
            // Compiles the callback before jemalloc calls it.
            delegate* unmanaged[Cdecl]<void*, byte*, void> heard = &Hear;
            heard(null, null);
            nint before = Volatile.Read(ref *(nint*)variable);
            Volatile.Write(ref *(nint*)variable, (nint)heard);
            AppDomain.CurrentDomain.ProcessExit += (_, _) =>
            {
                Volatile.Write(ref *(nint*)variable, before);
                Drain();
            };
            new Thread(Deliver) { IsBackground = true, Name = "Tenure.Jem messages" }.Start();
            s_isThere = true;
        }
    }

    /// <summary>On a preloaded jemalloc, the runtime allocates in states where managed code must not be entered; a
    /// message at that moment would end the process.</summary>
    private static void UnlessQuietWhileAllocating()
    {
        if ((MallCtlCalls.IsThere("opt.stats_interval") && Jem.GetMallCtlInt64("opt.stats_interval") >= 0)
            || (MallCtlCalls.IsThere("opt.lg_prof_interval") && Jem.GetMallCtlInt64("opt.lg_prof_interval") >= 0)
            || (MallCtlCalls.IsThere("opt.prof_gdump") && Jem.GetMallCtlBool("opt.prof_gdump")))
        {
            throw new NotSupportedException(
                "jemalloc is configured to write messages during an allocation, when .NET code cannot run. Remove "
                + "stats_interval, lg_prof_interval and prof_gdump from MALLOC_CONF, or leave the messages on standard error.");
        }
    }

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static void Hear(void* context, byte* message)
    {
        if (message == null)
        {
            return;
        }
        while (Interlocked.Exchange(ref s_gate, 1) != 0)
        {
            Thread.SpinWait(20);
        }
        // Bytes that do not fit before the reader runs are lost: waiting here would wait for locks that the caller
        // holds.
        while (*message != 0 && s_filled < RoomBytes)
        {
            s_room[s_filled++] = *message++;
        }
        Volatile.Write(ref s_gate, 0);
        s_arrived.Set();
    }

    private static void Deliver()
    {
        while (s_arrived.WaitOne())
        {
            Drain();
        }
    }

    /// <summary>Takes the bytes that have arrived, stores them and raises the event.</summary>
    private static void Drain()
    {
        byte[] taken = new byte[RoomBytes];
        int count;
        Action<string>? handlers;
        string text;
        lock (s_lock)
        {
            if (s_room == null)
            {
                return;
            }
            while (Interlocked.Exchange(ref s_gate, 1) != 0)
            {
                Thread.SpinWait(20);
            }
            count = s_filled;
            new ReadOnlySpan<byte>(s_room, count).CopyTo(taken);
            s_filled = 0;
            Volatile.Write(ref s_gate, 0);
            if (count == 0)
            {
                return;
            }
            text = Encoding.UTF8.GetString(taken, 0, count);
            s_kept.Append(text);
            s_kept.Remove(0, Math.Max(0, s_kept.Length - RoomBytes));
            handlers = s_handlers;
        }
        foreach (Delegate handler in handlers?.GetInvocationList() ?? [])
        {
            try
            {
                ((Action<string>)handler)(text);
            }
#pragma warning disable CA1031 // any exception that a handler throws
            catch (Exception)
#pragma warning restore CA1031
            {
                Interlocked.Increment(ref s_failures);
            }
        }
    }
}
