// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Text.Json;
using Xunit;

namespace Tenure.Tests;

/// <summary>jembench measures, at sizes that are done at once.</summary>
public sealed class BenchMeasurementTests
{
    [Theory]
    [InlineData("array --fill 1000 2000 -l -u --once", "Managed System Tenure", 2 * 13)]
    [InlineData("hugearray --math -h -u 1000 --cold-start -t 2", "Managed System Tenure", 8)]
    [InlineData("malloc --fragment 1 -u -b --once", "Managed System Tenure", 20)]
    [InlineData("malloc --create 1000 --udt --once", "Managed System Tenure", 10)]
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
        if (said.Errors.Contains("the folder is in memory", StringComparison.Ordinal))
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
        Assert.Contains("interrupted: the result contains the", said.Errors, StringComparison.Ordinal);
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

    [Fact]
    public void lifetimes_are_measured_with_and_without_writing()
    {
        using var folder = new BenchTool.Folder();
        string file = folder.File("result.json");
        BenchTool said = BenchTool.Run("lifetimes", "50", "-t", "1", "--written", "--json", file);
        Assert.True(said.ExitCode == 0, said.Errors);
        Assert.Contains("first batch: allocate and write", said.Output, StringComparison.Ordinal);
        using JsonDocument result = JsonDocument.Parse(File.ReadAllText(file));
        Assert.True(result.RootElement.GetProperty("first_batch_written").GetBoolean());
        foreach (JsonElement row in result.RootElement.GetProperty("rows").EnumerateArray())
        {
            foreach (string figure in (string[])["first_allocate_ns", "warm_allocate_ns", "warm_written_allocate_ns"])
            {
                Assert.True(row.GetProperty(figure)[0].GetDouble() > 0, figure);
            }
            Assert.Contains("of 1000 blocks are known to", Text(row, "proof"), StringComparison.Ordinal);
        }
    }

    [Fact]
    public void the_tool_has_the_options_of_every_program()
    {
        string options = File.ReadAllText(BenchTool.FileOf("Tenure.Bench.runtimeconfig.json"));
        Assert.DoesNotContain("Tiered", options, StringComparison.Ordinal);
        Assert.DoesNotContain("System.GC.", options, StringComparison.Ordinal);
        Assert.Equal("on", TieredPgo(BenchTool.Run("short", "--part", "blocks-written", "--row", "managed")));
        Assert.Equal("off", TieredPgo(BenchTool.RunWith(("DOTNET_TieredPGO", "0"), "short", "--part", "blocks-written", "--row", "managed")));

        static string TieredPgo(BenchTool said)
        {
            Assert.True(said.ExitCode == 0, said.Errors);
            using JsonDocument answer = JsonDocument.Parse(said.Output);
            return Text(answer.RootElement, "tiered_pgo");
        }
    }

    [Theory]
    [InlineData("blocks", "temp")]
    [InlineData("blocks", "temp-job")]
    [InlineData("blocks", "managed")]
    [InlineData("blocks-written", "native-memory")]
    [InlineData("blocks-written", "persistent")]
    [InlineData("array", "safe-array")]
    [InlineData("array", "safe-array-at-16")]
    [InlineData("array", "native-memory-at-64")]
    [InlineData("array", "managed-not-zeroed")]
    [InlineData("array", "huge-array")]
    [InlineData("fragment", "persistent")]
    [InlineData("fragment-unwritten", "managed-not-zeroed")]
    [InlineData("pairs", "persistent")]
    [InlineData("pairs", "persistent-without-size")]
    [InlineData("pairs", "array-pool")]
    [InlineData("blocks", "native-memory-at-64")]
    [InlineData("text", "managed")]
    [InlineData("text", "interpolated-string")]
    [InlineData("text", "utf8-try-write")]
    [InlineData("text", "utf8-builder")]
    [InlineData("text", "paged-writer")]
    [InlineData("kernels", "managed")]
    [InlineData("kernels", "safe-array-tensor")]
    [InlineData("kernels", "safe-array")]
    [InlineData("huge", "managed")]
    [InlineData("huge", "huge-array")]
    public void the_short_form_answers_with_figures(string part, string row)
    {
        BenchTool said = BenchTool.Run("short", "--part", part, "--row", row, "--count", part.StartsWith("fragment", StringComparison.Ordinal) ? "1" : "1000");
        Assert.True(said.ExitCode == 0, said.Errors);
        using JsonDocument answer = JsonDocument.Parse(said.Output);
        Assert.Equal(2, answer.RootElement.GetProperty("format").GetInt32());
        Assert.Equal("", Text(answer.RootElement, "error"));
        List<JsonElement> values = [.. answer.RootElement.GetProperty("values").EnumerateArray()];
        Assert.True(values.Count >= 2);
        Assert.All(values, value => Assert.True(value.GetProperty("value").GetDouble() >= 0));
        Assert.Equal(values.Count, values.Select(value => (Text(value, "metric"), Text(value, "variant"))).Distinct().Count());
    }

    [Theory]
    [InlineData("blocks-written", "temp", "tn_temp_get_stats", 1000)]
    [InlineData("blocks-written", "temp-job", "tn_get_stats", 1000)]
    [InlineData("blocks-written", "persistent", "tn_owns", 1000)]
    [InlineData("blocks-written", "native-memory", "mallinfo2", 1000)]
    [InlineData("blocks-written", "managed", "GC.GetAllocatedBytesForCurrentThread", 1000)]
    [InlineData("pairs", "array-pool", "GC.GetAllocatedBytesForCurrentThread", 1000)]
    [InlineData("array", "huge-array", "tn_owns", 1)]
    [InlineData("fragment-unwritten", "native-memory", "mallinfo2", 1)]
    public void the_short_form_proves_whose_its_blocks_are(string part, string row, string query, int asked)
    {
        BenchTool said = BenchTool.Run("short", "--part", part, "--row", row, "--count", part.StartsWith("fragment", StringComparison.Ordinal) ? "1" : "1000");
        Assert.True(said.ExitCode == 0, said.Errors + said.Output);
        using JsonDocument answer = JsonDocument.Parse(said.Output);
        JsonElement proof = answer.RootElement.GetProperty("proof");
        Assert.Equal(query, Text(proof, "query"));
        Assert.Equal(asked, proof.GetProperty("asked").GetInt32());
        Assert.Equal(asked, proof.GetProperty("owned").GetInt32());
        JsonElement[] blocks = [.. proof.GetProperty("blocks").EnumerateArray()];
        Assert.NotEmpty(blocks);
        foreach (JsonElement block in blocks)
        {
            ulong[] range = [.. Text(block, "mapping").Split(' ')[0].Split('-').Select(Hex)];
            Assert.InRange(Hex(Text(block, "address")[2..]), range[0], range[1] - 1);
        }

        static ulong Hex(string text) => ulong.Parse(text, NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture);
    }

    [Fact]
    public void arrays_that_the_collector_did_not_give_out_since_the_begin_are_not_proven()
    {
        string tool = BenchTool.FileOf("Tenure.Bench.dll");
        Assert.SkipUnless(File.Exists(tool), $"The tool is not built: {tool}");
        Type kind = Assembly.LoadFrom(tool).GetType("Tenure.Bench.BlockProof", throwOnError: true)!;
        const BindingFlags Any = BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic;
        object proof = Activator.CreateInstance(kind)!;
        MethodInfo begin = kind.GetMethod("Begin", Any)!;
        Action<ReadOnlySpan<byte[]>> show = kind.GetMethods(Any).Single(each => each.Name == "Show" && each.IsGenericMethodDefinition)
            .MakeGenericMethod(typeof(byte)).CreateDelegate<Action<ReadOnlySpan<byte[]>>>(proof);
        object collector = Enum.ToObject(begin.GetParameters()[0].ParameterType, 0);
        byte[][] old = [new byte[1 << 20]];
        begin.Invoke(proof, [collector]);
        show(old);
        Assert.False(IsProven());
        begin.Invoke(proof, [collector]);
        show([new byte[1 << 20]]);
        Assert.True(IsProven());

        bool IsProven() => (bool)kind.GetProperty("IsProven", Any)!.GetValue(proof)!;
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
