// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.CommandLine;
using System.Linq;
using System.Text.Json;

namespace Tenure.Bench;

/// <summary>
/// The command that `tenure bench dotnet` starts for each row, part and round: measures one row once, in this process,
/// in well under a second. The lab controls the rounds, their order and all statistics.
/// </summary>
internal static class ShortCommand
{
    /// <summary>Increased when an older reader would misinterpret the output.</summary>
    private const int Format = 2;

    internal static void AddTo(RootCommand root)
    {
        var part = new Option<string>("--part") { Required = true, HelpName = "PART", Description = string.Join(", ", ShortPart.Names) };
        var row = new Option<string>("--row") { Required = true, HelpName = "ROW", Description = string.Join(", ", ShortPart.Rows) };
        var count = new Option<long>("--count")
        {
            HelpName = "N",
            Description = "Number of blocks, elements, rounds, blocks per batch, objects or bytes per array; 0 selects the default.",
            DefaultValueFactory = static _ => 0L,
        };
        var command = new Command("short", "Measures one row once and prints JSON; used by `tenure bench dotnet`.") { part, row, count };
        command.SetAction(parsed => Run(parsed.GetRequiredValue(part), parsed.GetRequiredValue(row), parsed.GetValue(count)));
        root.Add(command);
    }

    private static int Run(string part, string row, long count)
    {
        const string Read = "jembench short --help";
        if (!ShortPart.Names.Contains(part))
        {
            return CommandLine.Refuse($"{part} is not a part{NearestWord.Question(part, ShortPart.Names)}", Read);
        }
        if (!ShortPart.Rows.Contains(row))
        {
            return CommandLine.Refuse($"{row} is not a row{NearestWord.Question(row, ShortPart.Rows)}", Read);
        }
        if (count < 0)
        {
            return CommandLine.Refuse($"{count} is not a valid count", Read);
        }
        var found = new ShortResult();
        var malloc = new CaseReply();
        Heaps.ProveMalloc(ShortPart.KindOf(row), malloc);
        found.Error = malloc.Error;
        try
        {
            if (found.Error.Length == 0)
            {
                ShortPart.Measure(part, row, count, found);
            }
        }
        catch (Exception failure) when (failure is InvalidOperationException or OutOfMemoryException)
        {
            found.Error = failure.Message;
        }
        if (found.Error.Length == 0 && !found.Proof.IsProven)
        {
            found.Error = $"not proven: {found.Proof.Sentence}";
        }
        Write(found, malloc.Proof);
        return found.Error.Length == 0 ? ExitCode.Ok : ExitCode.Failed;
    }

    private static void Write(ShortResult found, string malloc)
    {
        using var json = new Utf8JsonWriter(Console.OpenStandardOutput());
        json.WriteStartObject();
        json.WriteNumber("format", Format);
        json.WriteString("runtime", Versions.Runtime);
        json.WriteString("tool", Versions.Tool);
        json.WriteString("tiered_pgo", Versions.TieredPgo);
        json.WriteString("error", found.Error);
        json.WriteStartObject("proof");
        json.WriteString("malloc", malloc);
        json.WriteString("query", found.Proof.Query);
        json.WriteNumber("asked", found.Proof.Asked);
        json.WriteNumber("owned", found.Proof.Owned);
        json.WriteStartArray("blocks");
        foreach ((nint address, string mapping) in found.Proof.Told)
        {
            json.WriteStartObject();
            json.WriteString("address", $"0x{address:x}");
            json.WriteString("mapping", mapping);
            json.WriteEndObject();
        }
        json.WriteEndArray();
        json.WriteEndObject();
        json.WriteStartArray("values");
        foreach ((string metric, string variant, string unit, double value) in found.Values)
        {
            json.WriteStartObject();
            json.WriteString("metric", metric);
            json.WriteString("variant", variant);
            json.WriteString("unit", unit);
            JsonResult.Number(json, "value", value);
            json.WriteEndObject();
        }
        json.WriteEndArray();
        json.WriteEndObject();
    }
}
