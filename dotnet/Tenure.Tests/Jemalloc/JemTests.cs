// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using Xunit;

namespace Tenure.Tests;

/// <summary>
/// The explicit tests of this folder, in processes of their own: over Tenure's heap, on jemalloc, and on that of the package. One alone, by hand:
/// <c>tenure run --heap=jemalloc -- Tenure.Tests -explicit only -class Tenure.Tests.JemOnJemallocTests</c>.
/// </summary>
public sealed class JemTests
{
    [Fact]
    public void over_tenures_heap() => JemProcess.Pass(
        // A block between guard pages, one in some thousands, has exactly the requested size.
        [], new(JemProcess.WithoutPackaged) { ["TENURE_HEAP_GUARD_BYTES"] = "0" }, typeof(JemMemoryTests), typeof(JemLedgerTests), typeof(JemOverTenureTests), typeof(JemExample),
        typeof(MigrateJemallocExample));

    [Fact]
    public void on_jemalloc()
    {
        (string[] command, Dictionary<string, string> variables) = JemProcess.OnJemalloc();
        variables["MALLOC_CONF"] = JemInitTests.MallocConf;
        JemProcess.Pass(command, variables, typeof(JemMemoryTests), typeof(JemLedgerTests), typeof(JemOnJemallocTests),
            typeof(JemInitTests), typeof(JemExample), typeof(MigrateJemallocExample));
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
        variables = new(variables.Concat(JemProcess.WithoutPackaged));
        JemProcess.Pass([], variables, typeof(JemTooLateTests));
    }

    [Fact]
    public void on_the_jemalloc_of_the_package_without_a_launcher() => OnPackaged(
        [], typeof(JemPackagedTests), typeof(JemMemoryTests), typeof(JemLedgerTests));

    [Fact]
    public void the_example_needs_no_launcher() =>
        Assert.Contains("All settings are in effect.\nJemalloc: ", OnPackaged([], typeof(JemExample)).Out, StringComparison.Ordinal);

    [Fact]
    public void the_jemalloc_of_the_package_takes_every_option_at_its_start() => OnPackaged([], typeof(JemPackagedStartTests));

    [Fact]
    public void the_jemalloc_of_the_package_refuses_each_wrong_value() => OnPackaged([], typeof(JemPackagedRefusalTests));

    [Fact]
    public void the_environment_has_precedence_over_the_first_init()
    {
        JemProcess.Outcome outcome = OnPackaged(
            new() { [PackagedJemalloc.Variable] = "narenas:2,no_such:1" }, typeof(JemPackagedEnvironmentTests));
        Assert.Contains("Invalid conf pair: no_such:1", outcome.Error, StringComparison.Ordinal);
    }

    [Fact]
    public void confirmation_and_statistics_of_the_package_are_printed()
    {
        JemProcess.Outcome outcome = OnPackaged([], typeof(JemPackagedPrintTests));
        Assert.Contains("-- Set conf value: narenas:5", outcome.Error, StringComparison.Ordinal);
        Assert.Contains("End jemalloc statistics", outcome.Error, StringComparison.Ordinal);
    }

    private static JemProcess.Outcome OnPackaged(Dictionary<string, string> variables, params Type[] classes)
    {
        JemProcess.RequirePackaged();
        return JemProcess.Pass([], variables, classes);
    }
}
