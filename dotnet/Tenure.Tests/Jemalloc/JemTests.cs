// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.IO;
using Xunit;

namespace Tenure.Tests;

/// <summary>
/// The explicit tests of this folder, in processes of their own: over Tenure's heap, and on jemalloc. One alone, by hand:
/// <c>tenure run --heap=jemalloc -- Tenure.Tests -explicit only -class Tenure.Tests.JemOnJemallocTests</c>.
/// </summary>
public sealed class JemTests
{
    [Fact]
    public void over_tenures_heap() => JemProcess.Pass(
        [], [], typeof(JemMemoryTests), typeof(JemLedgerTests), typeof(JemOverTenureTests), typeof(JemExample));

    [Fact]
    public void on_jemalloc()
    {
        (string[] command, Dictionary<string, string> variables) = JemProcess.OnJemalloc();
        variables["MALLOC_CONF"] = JemInitTests.MallocConf;
        JemProcess.Pass(command, variables, typeof(JemMemoryTests), typeof(JemLedgerTests), typeof(JemOnJemallocTests),
            typeof(JemInitTests), typeof(JemExample));
    }

    [Fact]
    public void statistics_printed_at_the_end_do_not_meet_a_runtime_that_has_ended()
    {
        (string[] command, Dictionary<string, string> variables) = JemProcess.OnJemalloc();
        variables["MALLOC_CONF"] = "stats_print:true";
        JemProcess.Outcome outcome = JemProcess.Pass(command, variables, typeof(JemMessageTests));
        Assert.Contains("End jemalloc statistics", outcome.Error, StringComparison.Ordinal);
    }

    [Fact]
    public void messages_in_the_middle_of_an_allocation_are_refused()
    {
        (string[] command, Dictionary<string, string> variables) = JemProcess.OnJemalloc();
        variables["MALLOC_CONF"] = "stats_interval:8589934592";
        JemProcess.Pass(command, variables, typeof(JemMessageRefusalTests));
    }

    [Fact]
    public void jemalloc_behind_another_malloc_is_not_what_the_process_runs_on()
    {
        (string[] command, Dictionary<string, string> variables) = JemProcess.OnJemalloc();
        string own = command.Length == 0 ? "" : Path.Combine(Path.GetDirectoryName(command[0])!, "libtenure_malloc.so");
        Assert.SkipUnless(File.Exists(own), "this tree has no drop-in");
        variables["LD_PRELOAD"] = own + ":libjemalloc.so.2";
        JemProcess.Pass([], variables, typeof(JemTooLateTests));
    }
}
