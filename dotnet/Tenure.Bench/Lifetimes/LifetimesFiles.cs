// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Text;
using System.Text.Json;

namespace Tenure.Bench;

/// <summary>Writes the article's three files for each row, byte for byte as its script does, and all results as
/// JSON.</summary>
internal static class LifetimesFiles
{
    internal static void Write(BenchRequest request, IReadOnlyList<LifetimeRow> rows, Dictionary<string, List<LifetimeReply>> replies)
    {
        if (request.OutFolder is { } folder)
        {
            foreach (LifetimeRow row in rows.Where(row => replies[row.Name][0].Error.Length == 0))
            {
                Csv(folder, row.Name, replies[row.Name][0]);
            }
            using Stream to = File.Create(Path.Combine(folder, "results.json"));
            Json(to, request, rows, replies);
        }
        if (request.JsonFile is { } file)
        {
            using Stream to = file == OutputFiles.StandardOutput ? Console.OpenStandardOutput() : File.Create(file);
            Json(to, request, rows, replies);
        }
    }

    /// <summary>Writes the first batch of the first round: the article's script runs once.</summary>
    private static void Csv(string folder, string name, LifetimeReply reply)
    {
        string times = $"Operation,Ticks\nAllocate,{Text(reply.AllocateTicks)}\nDeallocate,{Text(reply.DeallocateTicks)}";
        Save(folder, $"{name}_times.csv", times);
        var distances = new StringBuilder("Distance\n");
        foreach (long distance in reply.Distances)
        {
            distances.Append(Text(distance)).Append('\n');
        }
        Save(folder, $"{name}_distances.csv", distances.ToString());
        var buckets = new StringBuilder("Distance,Count\n");
        foreach ((long distance, int count) in LifetimesTable.Buckets(reply.Distances))
        {
            buckets.Append(Text(distance)).Append(',').Append(Text(count)).Append('\n');
        }
        Save(folder, $"{name}_buckets.csv", buckets.ToString());
    }

    private static void Save(string folder, string name, string text) =>
        File.WriteAllText(Path.Combine(folder, name), text);

    private static string Text(long number) => number.ToString(CultureInfo.InvariantCulture);

    private static void Json(
        Stream to, BenchRequest request, IReadOnlyList<LifetimeRow> rows, Dictionary<string, List<LifetimeReply>> replies)
    {
        using var json = new Utf8JsonWriter(to, new JsonWriterOptions { Indented = true });
        json.WriteStartObject();
        JsonResult.Head(json, request);
        json.WriteNumber("count", request.Counts[0]);
        json.WriteNumber("block_bytes", LifetimeRow.Bytes);
        json.WriteBoolean("first_batch_written", request.FirstBatch == Storing.Inside);
        json.WriteStartArray("rows");
        foreach (LifetimeRow row in rows)
        {
            List<LifetimeReply> rounds = replies[row.Name];
            json.WriteStartObject();
            json.WriteString("memory", row.Name);
            json.WriteString("kind", row.Kind.ToString());
            json.WriteString("proof", rounds[0].Proof);
            json.WriteString("error", rounds.FirstOrDefault(each => each.Error.Length != 0)?.Error ?? "");
            int count = Math.Max(1, (int)request.Counts[0]);
            Samples(json, "first_allocate_ns", rounds, each => LifetimesTable.Ns(each.AllocateTicks, count));
            Samples(json, "first_deallocate_ns", rounds, each => LifetimesTable.Ns(each.DeallocateTicks, count));
            Samples(json, "warm_allocate_ns", rounds, each => each.Warm.Allocate);
            Samples(json, "warm_deallocate_ns", rounds, each => each.Warm.Deallocate);
            Samples(json, "warm_written_allocate_ns", rounds, each => each.WarmWritten.Allocate);
            Samples(json, "warm_written_deallocate_ns", rounds, each => each.WarmWritten.Deallocate);
            json.WriteStartArray("distances");
            foreach (long distance in rounds[0].Distances)
            {
                json.WriteNumberValue(distance);
            }
            json.WriteEndArray();
            json.WriteEndObject();
        }
        json.WriteEndArray();
        json.WriteEndObject();
    }

    private static void Samples(Utf8JsonWriter json, string name, List<LifetimeReply> rounds, Func<LifetimeReply, double> figure)
    {
        json.WriteStartArray(name);
        foreach (LifetimeReply each in rounds)
        {
            json.WriteNumberValue(figure(each));
        }
        json.WriteEndArray();
    }
}
