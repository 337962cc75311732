// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Text.Json;
using BenchmarkDotNet.Reports;
using BenchmarkDotNet.Running;

namespace Tenure.Bench;

/// <summary>Writes all measurements as JSON: rows with their samples, from which every table can be computed.</summary>
internal static class JsonResult
{
    /// <summary>MemoryDiagnoser's metrics, and their names here.</summary>
    private static readonly (string Id, string Name)[] s_collections =
    [
        ("Gen0Collects", "gen0_per_1000"),
        ("Gen1Collects", "gen1_per_1000"),
        ("Gen2Collects", "gen2_per_1000"),
        ("Allocated Memory", "allocated_bytes"),
    ];

    internal static void Write(BenchRequest request, IReadOnlyList<Summary> summaries, ChildToolchain toolchain)
    {
        var places = new List<string>();
        if (request.JsonFile is { } file)
        {
            places.Add(file);
        }
        if (request.OutFolder is { } folder)
        {
            places.Add(Path.Combine(folder, "results.json"));
        }
        foreach (string place in places)
        {
            using Stream to = place == OutputFiles.StandardOutput ? Console.OpenStandardOutput() : File.Create(place);
            using var json = new Utf8JsonWriter(to, new JsonWriterOptions { Indented = true });
            Write(json, request, summaries, toolchain);
        }
    }

    private static void Write(Utf8JsonWriter json, BenchRequest request, IReadOnlyList<Summary> summaries, ChildToolchain toolchain)
    {
        json.WriteStartObject();
        Head(json, request);
        json.WriteString("element", request.Element.Name);
        json.WriteNumber("element_bytes", request.Element.Size);
        json.WriteString("job", JobPlan.Describe(request));
        json.WriteStartArray("rows");
        foreach (Summary summary in summaries)
        {
            foreach (BenchmarkCase each in summary.BenchmarksCases)
            {
                Row(json, summary, each, toolchain.ReplyOf(each));
            }
        }
        json.WriteEndArray();
        json.WriteEndObject();
    }

    internal static void Head(Utf8JsonWriter json, BenchRequest request)
    {
        json.WriteString("tool", "jembench");
        json.WriteString("version", Versions.Tool);
        json.WriteString("tenure", Versions.Library);
        json.WriteString("benchmarkdotnet", Versions.BenchmarkDotNet);
        json.WriteString("runtime", Versions.Runtime);
        json.WriteString("tiered_pgo", Versions.TieredPgo);
        json.WriteNumber("processors", Environment.ProcessorCount);
        json.WriteNumber("memory_bytes", MachineMemory.Now().TotalBytes);
        json.WriteString("started_at", DateTime.UtcNow.ToString("yyyy-MM-dd'T'HH:mm:ss'Z'", CultureInfo.InvariantCulture));
        json.WriteString("command", request.CommandText);
        json.WriteString("verb", request.Verb.ToString());
        json.WriteBoolean("complete", !Interrupt.Came);
    }

    private static void Row(Utf8JsonWriter json, Summary summary, BenchmarkCase each, CaseReply? reply)
    {
        CaseInfo info = CaseInfo.Of(each);
        json.WriteStartObject();
        json.WriteString("operation", info.Operation);
        json.WriteString("memory", info.Row);
        json.WriteString("kind", info.Kind.ToString());
        json.WriteNumber("count", info.Count);
        json.WriteNumber("elements", info.Elements);
        json.WriteBoolean("baseline", each.Descriptor.Baseline);
        json.WriteString("proof", reply?.Proof ?? "");
        json.WriteString("error", reply?.Error ?? "it was not reached");
        if (reply is { Error.Length: 0 })
        {
            double[] samples = reply.Samples();
            Number(json, "mean_ns", SampleStatistics.Mean(samples));
            Number(json, "standard_deviation_ns", SampleStatistics.Deviation(samples));
            Number(json, "median_ns", SampleStatistics.Median(samples));
            Number(json, "ratio", Ratios.Of(summary, each));
            json.WriteStartArray("samples_ns");
            foreach (double sample in samples)
            {
                json.WriteNumberValue(sample);
            }
            json.WriteEndArray();
            foreach ((string name, double value) in reply.Figures)
            {
                json.WriteNumber(name.Replace('-', '_') + "_bytes", value);
            }
            BenchmarkReport? report = summary[each];
            foreach ((string id, string name) in s_collections)
            {
                if (report is not null && report.Metrics.TryGetValue(id, out Metric? metric))
                {
                    json.WriteNumber(name, metric.Value);
                }
            }
        }
        json.WriteEndObject();
    }

    internal static void Number(Utf8JsonWriter json, string name, double value)
    {
        if (double.IsFinite(value))
        {
            json.WriteNumber(name, value);
        }
        else
        {
            json.WriteNull(name);
        }
    }
}
