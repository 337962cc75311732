// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.IO;
using Xunit;

namespace Tenure.Tests;

/// <summary>The command line of jembench: what it says, and what it ends with.</summary>
public sealed class BenchCommandTests
{
    [Fact]
    public void without_arguments_the_version_and_help_are_printed()
    {
        BenchTool said = BenchTool.Run();
        Assert.Equal(0, said.ExitCode);
        Assert.StartsWith("jembench ", said.Output, StringComparison.Ordinal);
        Assert.Contains("BenchmarkDotNet 0.14.0", said.Output, StringComparison.Ordinal);
        Assert.Contains("huge, hugearray <SIZE>", said.Output, StringComparison.Ordinal);
        Assert.Contains("array, buffer <SIZE>", said.Output, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("malloc")]
    [InlineData("buffer")]
    [InlineData("array")]
    [InlineData("safe")]
    [InlineData("huge")]
    [InlineData("hugearray")]
    [InlineData("vector")]
    [InlineData("lifetimes")]
    public void every_verb_has_help_of_its_own(string verb)
    {
        BenchTool said = BenchTool.Run(verb, "--help");
        Assert.Equal(0, said.ExitCode);
        Assert.Contains("--json <FILE>", said.Output, StringComparison.Ordinal);
        Assert.Contains("Usage:", said.Output, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("mallok --fill 10", "did you mean malloc?")]
    [InlineData("nothing", "nothing is not a verb")]
    [InlineData("malloc --fil 10", "did you mean --fill?")]
    [InlineData("array --fill 10 --cold-strat", "did you mean --cold-start?")]
    [InlineData("array --fill ten", "ten is not a valid size")]
    [InlineData("array --fill 0", "0 is not a valid size")]
    [InlineData("array --fill -3", "-3 is not an option")]
    [InlineData("array --fill", "array needs at least one size")]
    [InlineData("array --fil 10", "See: jembench array --help")]
    [InlineData("-h", "-h is Int16")]
    [InlineData("array -h", "(-h is Int16; use --help for help)")]
    [InlineData("lifetimes -h", "; use --help for help")]
    [InlineData("array 10", "needs an operation: --create, --fill, --math")]
    [InlineData("array --fill -l -b 10", "different types")]
    [InlineData("array --fill -f -u 10", "-u is for integers")]
    [InlineData("array --math --udt 10", "does not support arithmetic")]
    [InlineData("array --fill -s 10", "strings are created")]
    [InlineData("array --fill 4200000000", "use `jembench huge`")]
    [InlineData("array --fill 10 -t 0", "-t must be from 1 to 1000")]
    [InlineData("array --fill 10 -t many", "many")]
    [InlineData("malloc --fragment --fill 10", "measure them separately")]
    [InlineData("vector --mandel -i", "requires -f or -d")]
    [InlineData("lifetimes 1", "2 to 10000000")]
    [InlineData("short --part blocks", "--row")]
    [InlineData("short --part block --row temp", "did you mean blocks?")]
    public void a_wrong_argument_is_named_and_nothing_is_measured(string arguments, string words)
    {
        BenchTool said = BenchTool.Run(arguments.Split(' '));
        Assert.Equal(2, said.ExitCode);
        Assert.Contains(words, said.Errors, StringComparison.Ordinal);
        Assert.Contains("--help", said.Errors, StringComparison.Ordinal);
        Assert.Equal("", said.Output);
    }

    [Fact]
    public void what_does_not_fit_is_said_before_it_starts_with_the_ways_out()
    {
        BenchTool said = BenchTool.Run("hugearray", "-l", "-u", "--math", "--cold-start", "-t", "3", "4096000000000");
        Assert.Equal(1, said.ExitCode);
        Assert.Contains("4096000000000 elements of UInt64, 8 bytes each, need 32768.0 GB of memory", said.Errors, StringComparison.Ordinal);
        Assert.Contains("-h -u instead of -l -u", said.Errors, StringComparison.Ordinal);
        Assert.Contains("--file FOLDER", said.Errors, StringComparison.Ordinal);
        Assert.Contains("Nothing was started", said.Errors, StringComparison.Ordinal);
        Assert.Equal("", said.Output);
    }

    [Fact]
    public void a_folder_that_is_not_there_is_refused_before_it_starts()
    {
        BenchTool said = BenchTool.Run("huge", "--fill", "1000", "--file", "/nowhere/at/all");
        Assert.Equal(1, said.ExitCode);
        Assert.StartsWith("jembench: --file /nowhere/at/all: the folder does not exist", said.Errors, StringComparison.Ordinal);
    }

    [Fact]
    public void a_result_that_cannot_be_written_is_refused_before_it_starts()
    {
        BenchTool said = BenchTool.Run("array", "--fill", "1000", "--json", Path.Combine("/nowhere", "at", "all.json"));
        Assert.Equal(1, said.ExitCode);
        Assert.Equal("", said.Output);
    }
}
