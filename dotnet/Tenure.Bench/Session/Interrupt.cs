// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.InteropServices;
using System.Threading;

namespace Tenure.Bench;

/// <summary>While this object exists, Ctrl-C or SIGTERM ends the current row and then the run; finished rows are
/// written. A second signal ends the tool immediately.</summary>
internal sealed class Interrupt : IDisposable
{
    private static int s_count;
    private readonly PosixSignalRegistration[] _signals =
        [PosixSignalRegistration.Create(PosixSignal.SIGINT, Take), PosixSignalRegistration.Create(PosixSignal.SIGTERM, Take)];

    internal static bool Came => Volatile.Read(ref s_count) != 0;

    /// <summary>Raised once, on another thread.</summary>
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
