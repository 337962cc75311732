// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text.RegularExpressions;
using Xunit;

namespace Tenure.Tests;

/// <summary>The C compiler holds tests/consumers/c/layout.c to be true; so must C#.</summary>
public sealed class NativeStructuresTests
{
    private static readonly Dictionary<string, Type> _types = new()
    {
        ["tn_text"] = typeof(NativeUtf8),
        ["tn_temp_scope"] = typeof(NativeTempMarker),
        ["tn_temp_stats"] = typeof(NativeTempStats),
        ["tn_block_cache"] = typeof(NativeBlockCache),
        ["tn_temp_position"] = typeof(NativeTempState),
        ["tn_temp_job_state"] = typeof(NativeTempJobState),
        ["tn_quick_layout"] = typeof(NativeQuickLayout),
        ["tn_quick_thread"] = typeof(NativeQuickThread),
        ["tn_allocator_stats"] = typeof(NativeAllocatorStats),
        ["tn_heap_options"] = typeof(NativeHeapSettings),
        ["tn_arena"] = typeof(NativeArena),
        ["tn_arena_marker"] = typeof(NativeArenaMarker),
        ["tn_affinity_options"] = typeof(NativeAffinitySettings),
        ["tn_offset_range"] = typeof(NativeOffsetRange),
        ["tn_offset_usage"] = typeof(NativeOffsetUsage),
        ["tn_handle"] = typeof(NativeHandle),
        ["tn_handle_info"] = typeof(NativeHandleInfo),
        ["tn_handle_usage"] = typeof(NativeHandleUsage),
        ["tn_tag_usage"] = typeof(NativeTagUsage),
        ["tn_stats"] = typeof(NativeStats),
        ["tn_option_info"] = typeof(NativeOptionInfo),
        ["tn_hooks"] = typeof(NativeHooks),
        ["tn_text_writer"] = typeof(NativeTextWriter),
    };

    private static string LayoutFile => Path.Combine(Metadata("SourceFolder"), "..", "tests", "consumers", "c", "layout.c");

    [Fact]
    public void sizes_and_offsets_are_those_that_the_c_compiler_found()
    {
        string text = File.ReadAllText(LayoutFile);
        var seen = new HashSet<string>();
        foreach (Match match in Regex.Matches(text, @"SIZE_IS\((\w+), (\d+)\);"))
        {
            if (_types.TryGetValue(match.Groups[1].Value, out Type? type))
            {
                Assert.Equal((match.Value, int.Parse(match.Groups[2].Value)), (match.Value, SizeOf(type)));
                seen.Add(match.Groups[1].Value);
            }
        }
        foreach (Match match in Regex.Matches(text, @"OFFSET_IS\((\w+), (\w+), (\d+)\);"))
        {
            if (_types.TryGetValue(match.Groups[1].Value, out Type? type))
            {
                Assert.Equal((match.Value, int.Parse(match.Groups[3].Value)), (match.Value, OffsetOf(type, match.Groups[2].Value)));
            }
        }
        Assert.Equal(_types.Keys.Order(), seen.Order());
    }

    [Fact]
    public void every_function_is_in_the_library()
    {
        nint library = NativeLibrary.Load(NativeMethods.Library, typeof(NativeMethods).Assembly, null);
        foreach (MethodInfo method in Functions())
        {
            Assert.True(NativeLibrary.TryGetExport(library, method.Name, out _), method.Name);
        }
    }

    [Fact]
    public void only_calls_that_cannot_wait_leave_the_collector_waiting()
    {
        string[] found = [.. Functions()
            .Where(method => method.GetCustomAttribute<SuppressGCTransitionAttribute>() is not null)
            .Select(method => method.Name).Order()];
        Assert.Equal(["tn_try_free", "tn_try_malloc"], found);
    }

    private static IEnumerable<MethodInfo> Functions() => typeof(NativeMethods)
        .GetMethods(BindingFlags.Static | BindingFlags.NonPublic | BindingFlags.Public)
        .Where(method => method.Name.StartsWith("tn_", StringComparison.Ordinal));

    private static int SizeOf(Type type) =>
        (int)typeof(Unsafe).GetMethod(nameof(Unsafe.SizeOf))!.MakeGenericMethod(type).Invoke(null, null)!;

    /// <summary>Counted, because nothing is marshalled: each field after the one before, at its own alignment.</summary>
    private static int OffsetOf(Type type, string field)
    {
        int offset = 0;
        foreach (FieldInfo each in type.GetFields(BindingFlags.Instance | BindingFlags.NonPublic | BindingFlags.Public)
            .OrderBy(each => each.MetadataToken))
        {
            Type held = each.FieldType.IsPointer || each.FieldType.IsFunctionPointer ? typeof(nint) : each.FieldType;
            int size = SizeOf(held), alignment = Math.Min(size, 8);
            offset = (offset + alignment - 1) / alignment * alignment;
            if (each.Name.Trim('_').Equals(field.Replace("_", "", StringComparison.Ordinal), StringComparison.OrdinalIgnoreCase))
            {
                return offset;
            }
            offset += size;
        }
        return -1;
    }

    private static string Metadata(string key) => typeof(NativeStructuresTests).Assembly
        .GetCustomAttributes<AssemblyMetadataAttribute>().First(attribute => attribute.Key == key).Value!;
}
