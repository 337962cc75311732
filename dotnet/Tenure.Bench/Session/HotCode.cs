// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics;
using System.Runtime;
using System.Threading;

namespace Tenure.Bench;

/// <summary>Waits until the runtime has fully optimized the warm code.</summary>
/// <remarks>
/// By default, code is first compiled quickly, again with counters after thirty calls, and finally with the counters'
/// results. Calls count only after a tenth of a second without first calls of other methods, or a second in a process
/// with one processor. <see cref="NoDelay"/> in the environment removes that wait without changing the code. The
/// measured code is called until nothing more is compiled.
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

    /// <summary>Waits for pending compilation, so that the first batch does not share its processor with it.</summary>
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
