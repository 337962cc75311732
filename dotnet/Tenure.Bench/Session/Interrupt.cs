// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.InteropServices;
using System.Threading;

namespace Tenure.Bench;

/// <summary>While it is there, Ctrl-C or a SIGTERM ends the row that is measured and the run after it; what was finished is
/// written. A second one ends the tool at once.</summary>
internal sealed class Interrupt : IDisposable
{
    private static int s_count;
    private readonly PosixSignalRegistration[] _signals =
        [PosixSignalRegistration.Create(PosixSignal.SIGINT, Take), PosixSignalRegistration.Create(PosixSignal.SIGTERM, Take)];

    internal static bool Came => Volatile.Read(ref s_count) != 0;

    /// <summary>Called once, on another thread.</summary>
    internal static event Action? Coming;

    public void Dispose()
    {
        foreach (PosixSignalRegistration signal in _signals)
        {
            signal.Dispose();
        }
    }

    private static void Take(PosixSignalContext context)
    {
        if (Interlocked.Increment(ref s_count) == 1)
        {
            context.Cancel = true;
            Coming?.Invoke();
        }
    }
}
