// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics;
using System.Runtime;
using System.Threading;

namespace Tenure.Bench;

/// <summary>Waits for the runtime to compile, as well as it will, what is measured warm.</summary>
/// <remarks>
/// With the options that a program has, code is compiled quickly first, once more with counters when it was called thirty
/// times, and a last time by what they counted. Calls count only when for a tenth of a second nothing was called for the
/// first time, and for a second in a process with one processor; <see cref="NoDelay"/> in the environment takes that wait
/// away, and changes nothing about the code. What is measured is called until nothing more is compiled.
/// </remarks>
internal static class HotCode
{
    internal const string NoDelay = "DOTNET_TC_CallCountingDelayMs";

    private const int Calls = 32;
    private const int QuietPasses = 3;
    private const int MaxPasses = 60;

    private static readonly int s_quietMilliseconds =
        Environment.GetEnvironmentVariable(NoDelay) == "0" ? 12 : Environment.ProcessorCount == 1 ? 2100 : 210;

    internal static void Settle(Action measured)
    {
        int quiet = 0;
        for (int pass = 0; pass < MaxPasses && quiet < QuietPasses; pass++)
        {
            long before = JitInfo.GetCompiledMethodCount();
            for (int call = 0; call < Calls; call++)
            {
                measured();
            }
            quiet = IsCompiling(before) ? 0 : quiet + 1;
        }
    }

    /// <summary>Waits for what is being compiled already: the first batch of memory is not to share its processor with
    /// that.</summary>
    internal static void Drain()
    {
        for (int pass = 0; pass < MaxPasses && IsCompiling(JitInfo.GetCompiledMethodCount()); pass++)
        {
        }
    }

    private static bool IsCompiling(long before)
    {
        long begin = Stopwatch.GetTimestamp();
        do
        {
            Thread.Sleep(1);
            if (JitInfo.GetCompiledMethodCount() != before)
            {
                return true;
            }
        }
        while (Stopwatch.GetElapsedTime(begin).TotalMilliseconds < s_quietMilliseconds);
        return false;
    }
}
