// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Text.Json;
using Xunit;

namespace Tenure.Tests;

/// <summary>jembench measures, at sizes that are done at once.</summary>
public sealed class BenchMeasurementTests
{
    [Theory]
    [InlineData("array --fill 1000 2000 -l -u --once", "Managed System Tenure", 2 * 9)]
    [InlineData("hugearray --math -h -u 1000 --cold-start -t 2", "Managed System Tenure", 6)]
    [InlineData("malloc --fragment 1 -u -b --once", "Managed System Tenure", 19)]
    [InlineData("malloc --create 1000 --udt --once", "Managed System Tenure", 8)]
    [InlineData("vector --test 1000 --once", "Managed Tenure", 4)]
    [InlineData("safe --create 100 -s --once", "Managed Tenure", 2)]
    public void every_row_is_measured_and_proven(string arguments, string kinds, int rows)
    {
        using var folder = new BenchTool.Folder();
        string file = folder.File("result.json");
        BenchTool said = BenchTool.Run([.. arguments.Split(' '), "--json", file]);
        Assert.True(said.ExitCode == 0, said.Errors + said.Output);
        using JsonDocument result = JsonDocument.Parse(File.ReadAllText(file));
        JsonElement[] found = [.. result.RootElement.GetProperty("rows").EnumerateArray()];
        if (!said.Errors.Contains("jemalloc's rows are left out", StringComparison.Ordinal))
        {
            Assert.Equal(rows, found.Length);
        }
        foreach (JsonElement row in found)
        {
            Assert.Equal("", Text(row, "error"));
            Assert.NotEqual("", Text(row, "proof"));
            Assert.True(row.GetProperty("median_ns").GetDouble() > 0);
            Assert.NotEmpty(row.GetProperty("samples_ns").EnumerateArray());
            Assert.True(row.GetProperty("private_peak_bytes").GetDouble() > 0);
            Assert.Equal(Text(row, "kind") == "Jemalloc", Text(row, "proof").Contains("jemalloc", StringComparison.Ordinal));
        }
        foreach (string kind in kinds.Split(' '))
        {
            Assert.Contains(found, row => Text(row, "kind") == kind);
        }
        foreach (IGrouping<string, JsonElement> table in found.GroupBy(row => Text(row, "operation") + row.GetProperty("count")))
        {
            Assert.Single(table, row => row.GetProperty("baseline").GetBoolean());
        }
        Assert.Contains(" Ratio", said.Output, StringComparison.Ordinal);
    }

    [Fact]
    public void a_file_backed_array_leaves_no_file()
    {
        using var folder = new BenchTool.Folder();
        BenchTool said = BenchTool.Run("huge", "--fill", "100000", "--once", "--file", folder.Path);
        if (said.Errors.Contains("is memory itself", StringComparison.Ordinal))
        {
            Assert.Equal(1, said.ExitCode);
            return;
        }
        Assert.True(said.ExitCode == 0, said.Errors);
        Assert.Contains("Tenure HugeArray, in a file", said.Output, StringComparison.Ordinal);
        Assert.Empty(Directory.GetFiles(folder.Path));
    }

    [Fact]
    public void tables_are_written_beside_the_json()
    {
        using var folder = new BenchTool.Folder();
        BenchTool said = BenchTool.Run("vector", "--test", "1000", "--once", "--out", folder.Path);
        Assert.True(said.ExitCode == 0, said.Errors);
        string[] names = [.. Directory.GetFiles(folder.Path, "*", SearchOption.AllDirectories).Select(Path.GetFileName)!];
        Assert.Contains("results.json", names);
        Assert.Contains(names, name => name.EndsWith(".md", StringComparison.Ordinal));
        Assert.Contains(names, name => name.EndsWith(".csv", StringComparison.Ordinal));
        Assert.DoesNotContain(names, name => name.AsSpan().ContainsAny(" ,<>"));
    }

    [Theory]
    [InlineData("safe --create 1000 -u --once --verbose --json -")]
    [InlineData("lifetimes 50 -t 1 --json -")]
    public void json_on_the_standard_output_stands_there_alone(string arguments)
    {
        BenchTool said = BenchTool.Run(arguments.Split(' '));
        Assert.True(said.ExitCode == 0, said.Errors);
        using JsonDocument result = JsonDocument.Parse(said.Output);
        Assert.True(result.RootElement.GetProperty("complete").GetBoolean());
        Assert.Contains(arguments.StartsWith("safe", StringComparison.Ordinal) ? "Ratio" : "ratio", said.Errors, StringComparison.Ordinal);
    }

    [Fact]
    public void a_cold_start_says_what_it_measures()
    {
        BenchTool said = BenchTool.Run("safe", "--create", "1000", "--cold-start", "-t", "1");
        Assert.True(said.ExitCode == 0, said.Errors);
        Assert.Contains("cold start: 1 iteration,", said.Errors, StringComparison.Ordinal);
        Assert.Contains("The code was compiled before", said.Output, StringComparison.Ordinal);
    }

    [Fact]
    public void what_was_finished_before_an_interrupt_is_written()
    {
        using var folder = new BenchTool.Folder();
        string file = folder.File("result.json");
        BenchTool said = BenchTool.RunUntil("[3/", "malloc", "--create", "1000", "--once", "--json", file);
        Assert.Equal(130, said.ExitCode);
        Assert.Contains("interrupted: the result has the", said.Errors, StringComparison.Ordinal);
        using JsonDocument result = JsonDocument.Parse(File.ReadAllText(file));
        Assert.False(result.RootElement.GetProperty("complete").GetBoolean());
        JsonElement[] rows = [.. result.RootElement.GetProperty("rows").EnumerateArray()];
        Assert.Equal("", Text(rows[0], "error"));
        Assert.True(rows[0].GetProperty("median_ns").GetDouble() > 0);
        Assert.StartsWith("interrupted", Text(rows[^1], "error"), StringComparison.Ordinal);
        Assert.Contains("managed array", said.Output, StringComparison.Ordinal);
    }

    [Fact]
    public void rounds_of_lifetimes_that_were_finished_before_an_interrupt_are_shown()
    {
        BenchTool said = BenchTool.RunUntil("round 2 of", "lifetimes", "50");
        Assert.Equal(130, said.ExitCode);
        Assert.Contains("the 1 round that was finished", said.Errors, StringComparison.Ordinal);
        Assert.Contains("Persistent", said.Output, StringComparison.Ordinal);
    }

    [Fact]
    public void lifetimes_writes_the_three_files_of_the_article_for_each_row()
    {
        using var folder = new BenchTool.Folder();
        BenchTool said = BenchTool.Run("lifetimes", "50", "-t", "1", "--out", folder.Path);
        Assert.True(said.ExitCode == 0, said.Errors);
        foreach (string name in (string[])["Temp", "TempJob", "Persistent", "NativeMemory", "Managed"])
        {
            string[] times = File.ReadAllText(folder.File($"{name}_times.csv")).Split('\n');
            Assert.Equal(3, times.Length); // the last line has no end, as in the article
            Assert.Equal("Operation,Ticks", times[0]);
            Assert.StartsWith("Allocate,", times[1], StringComparison.Ordinal);
            Assert.StartsWith("Deallocate,", times[2], StringComparison.Ordinal);
            string[] distances = File.ReadAllText(folder.File($"{name}_distances.csv")).Split('\n');
            Assert.Equal("Distance", distances[0]);
            Assert.Equal(49 + 2, distances.Length);
            string[] buckets = File.ReadAllLines(folder.File($"{name}_buckets.csv"));
            Assert.Equal("Distance,Count", buckets[0]);
            Assert.Equal(49, buckets.Skip(1).Sum(line => int.Parse(line.Split(',')[1], CultureInfo.InvariantCulture)));
        }
    }

    [Theory]
    [InlineData("blocks", "temp")]
    [InlineData("blocks", "managed")]
    [InlineData("array", "safe-array")]
    [InlineData("fragment", "persistent")]
    [InlineData("pairs", "persistent")]
    [InlineData("pairs", "persistent-without-size")]
    [InlineData("pairs", "array-pool")]
    public void the_short_form_answers_with_figures(string part, string row)
    {
        BenchTool said = BenchTool.Run("short", "--part", part, "--row", row, "--count", part == "fragment" ? "1" : "1000");
        Assert.True(said.ExitCode == 0, said.Errors);
        using JsonDocument answer = JsonDocument.Parse(said.Output);
        Assert.Equal(1, answer.RootElement.GetProperty("format").GetInt32());
        Assert.Equal("", Text(answer.RootElement, "error"));
        List<JsonElement> values = [.. answer.RootElement.GetProperty("values").EnumerateArray()];
        Assert.True(values.Count >= 2);
        Assert.All(values, value => Assert.True(value.GetProperty("value").GetDouble() >= 0));
    }

    [Fact]
    public void jemalloc_that_is_not_preloaded_fails_and_is_not_replaced()
    {
        BenchTool said = BenchTool.Run("short", "--part", "blocks", "--row", "jemalloc");
        Assert.Equal(1, said.ExitCode);
        Assert.Contains("malloc resolves into", said.Output, StringComparison.Ordinal);
    }

    private static string Text(JsonElement row, string name) => row.GetProperty(name).GetString()!;
}
