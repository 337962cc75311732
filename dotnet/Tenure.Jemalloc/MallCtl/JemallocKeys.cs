// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Globalization;

namespace Tenure;

/// <summary>Facts about jemalloc 5's keys and options that the library does not expose: which are text, which can be
/// set at run time, and what Tenure offers instead.</summary>
internal static class JemallocKeys
{
    private static readonly HashSet<string> s_text = new(StringComparer.Ordinal)
    {
        "version", "config.malloc_conf", "thread.prof.name", "prof.dump", "prof.prefix", "prof.log_start", "arena.#.dss",
        "stats.arenas.#.dss", "opt.dss", "opt.percpu_arena", "opt.metadata_thp", "opt.junk", "opt.thp", "opt.prof_prefix",
        "opt.stats_print_opts", "opt.stats_interval_opts", "opt.zero_realloc", "opt.prof_time_resolution",
        "opt.malloc_conf.symlink", "opt.malloc_conf.env_var", "opt.malloc_conf.global_var",
        "opt.malloc_conf.global_var_2_conf_harder",
    };

    /// <summary>Options of MALLOC_CONF that a running jemalloc accepts, with the key that sets them; # stands for each
    /// arena.</summary>
    private static readonly Dictionary<string, string[]> s_settable = new(StringComparer.Ordinal)
    {
        ["background_thread"] = ["background_thread"],
        ["max_background_threads"] = ["max_background_threads"],
        ["dirty_decay_ms"] = ["arenas.dirty_decay_ms", "arena.#.dirty_decay_ms"],
        ["muzzy_decay_ms"] = ["arenas.muzzy_decay_ms", "arena.#.muzzy_decay_ms"],
        ["prof_active"] = ["prof.active"],
        ["prof_thread_active_init"] = ["prof.thread_active_init"],
        ["prof_gdump"] = ["prof.gdump"],
    };

    /// <summary>Options of jemalloc 5.3 whose value is true or false.</summary>
    private static readonly string[] s_flags =
    [
        "abort", "abort_conf", "background_thread", "cache_oblivious", "confirm_conf", "experimental_infallible_new", "hpa", "prof",
        "prof_accum", "prof_active", "prof_final", "prof_gdump", "prof_leak", "prof_leak_error", "prof_log", "prof_stats",
        "prof_sys_thread_name", "prof_thread_active_init", "prof_unbias", "retain", "stats_print", "tcache", "trust_madvise",
        "utrace", "xmalloc", "zero",
    ];

    private static readonly string[] s_numbers =
    [
        "dirty_decay_ms", "hpa_hugification_threshold", "hpa_hugify_delay_ms", "hpa_min_purge_interval_ms",
        "hpa_sec_batch_fill_extra", "hpa_sec_bytes_after_flush", "hpa_sec_max_alloc", "hpa_sec_max_bytes", "hpa_sec_nshards",
        "hpa_slab_max_alloc", "lg_extent_max_active_fit", "lg_prof_interval", "lg_prof_sample", "lg_san_uaf_align",
        "lg_tcache_flush_large_div", "lg_tcache_flush_small_div", "lg_tcache_max", "lg_tcache_nslots_mul",
        "max_background_threads", "mutex_max_spin", "muzzy_decay_ms", "oversize_threshold", "prof_recent_alloc_max",
        "san_guard_large", "san_guard_small", "stats_interval", "tcache_gc_delay_bytes", "tcache_gc_incr_bytes", "tcache_max",
        "tcache_nslots_large", "tcache_nslots_small_max", "tcache_nslots_small_min",
    ];

    /// <summary>Options with words, lists or fractions; and narenas, whose value is a number or "default".</summary>
    private static readonly string[] s_others =
    [
        "bin_shards", "dss", "hpa_dirty_mult", "hpa_hugification_threshold_ratio", "junk", "metadata_thp", "narenas",
        "narenas_ratio", "percpu_arena", "prof_prefix", "prof_time_resolution", "slab_sizes", "stats_interval_opts",
        "stats_print_opts", "thp", "zero_realloc",
    ];

    private static readonly string[] s_options = [.. s_flags, .. s_numbers, .. s_others];

    private static readonly string[] s_beginnings =
        ["arena.", "arenas.", "config.", "experimental.", "opt.", "prof.", "stats.", "tcache.", "thread.", "approximate_stats."];

    private static readonly string[] s_whole = ["background_thread", "epoch", "max_background_threads", "version"];

    /// <summary>Part of a name, and the Tenure feature with a similar purpose.</summary>
    private static readonly (string Part, string Instead)[] s_instead =
    [
        ("decay", "the option tenure.heap_purge_delay_ms"),
        ("background_thread", "the option tenure.heap_background"),
        ("retain", "the option tenure.heap_max_retained_bytes"),
        ("oversize", "the option tenure.heap_max_retained_bytes"),
        ("lg_extent_max_active_fit", "the option tenure.heap_max_retained_bytes"),
        ("purge", "the key arena.4096.purge, for the whole heap"),
        ("prof", "the option tenure.handle_stack_frames, and Leaks.Snapshot"),
        ("stats_print", "the option tenure.handle_report"),
        ("junk", "the option tenure.buffer_fill"),
        ("narenas", "nothing to set: it distributes threads itself"),
        ("percpu_arena", "nothing to set: it distributes threads itself"),
        ("tcache", "nothing to set: each thread always has a cache"),
        ("arenas.create", "the class NativeHeap"),
    ];

    internal static bool IsText(string key)
    {
        string[] parts = key.Split('.');
        for (int i = 1; i < parts.Length; i++)
        {
            parts[i] = uint.TryParse(parts[i], NumberStyles.None, CultureInfo.InvariantCulture, out _) ? "#" : parts[i];
        }
        return s_text.Contains(string.Join('.', parts));
    }

    /// <summary>Whether jemalloc could have this key, for use on Tenure's heap, where jemalloc cannot be
    /// asked.</summary>
    internal static bool LooksLikeOne(string key) => Array.IndexOf(s_whole, key) >= 0
        || Array.Exists(s_beginnings, each => key.StartsWith(each, StringComparison.Ordinal));

    internal static IReadOnlyList<string> Options => s_options;

    internal static bool IsOption(string option) => Array.IndexOf(s_options, option) >= 0;

    internal static JemallocKind KindOf(string option) => Array.IndexOf(s_flags, option) >= 0 ? JemallocKind.Flag
        : Array.IndexOf(s_numbers, option) >= 0 ? JemallocKind.Number
        : JemallocKind.Other;

    /// <summary>Whether jemalloc returns the value of an option in the form in which it was set.</summary>
    internal static bool IsReadAsSet(string option, string value) => option != "hpa_dirty_mult" && value != "default";

    /// <summary>Gets the keys that set an option at run time; none if it can only be set at start.</summary>
    internal static string[] SettersOf(string option) => s_settable.TryGetValue(option, out string[]? keys) ? keys : [];

    /// <summary>Gets a sentence about Tenure's alternative; empty if there is none.</summary>
    internal static string Instead(string name)
    {
        (string part, string instead) = Array.Find(s_instead, each => name.Contains(each.Part, StringComparison.Ordinal));
        return part is null ? "" : $" Tenure's heap has {instead}.";
    }

    /// <summary>Whether a running jemalloc accepts the option only if profiling was enabled at start.</summary>
    internal static bool NeedsProfiling(string option) =>
        option.StartsWith("prof_", StringComparison.Ordinal) && s_settable.ContainsKey(option);

    /// <summary>Gets a suggestion for an option or key; empty if none is similar.</summary>
    internal static string DidYouMean(string name)
    {
        string option = name.StartsWith("opt.", StringComparison.Ordinal) ? name[4..] : name;
        if (option.Contains('.', StringComparison.Ordinal))
        {
            return "";
        }
        string? nearest = null;
        int least = Math.Max(2, option.Length / 4) + 1;
        foreach (string each in s_options)
        {
            int distance = Distance(option, each);
            (nearest, least) = distance < least ? (each, distance) : (nearest, least);
        }
        return nearest is null || nearest == option ? "" : $"; did you mean \"{name[..^option.Length]}{nearest}\"?";
    }

    /// <summary>The number of letters to insert, remove or replace.</summary>
    private static int Distance(string from, string to)
    {
        int[] row = new int[to.Length + 1];
        for (int column = 0; column <= to.Length; column++)
        {
            row[column] = column;
        }
        for (int line = 1; line <= from.Length; line++)
        {
            int corner = row[0];
            row[0] = line;
            for (int column = 1; column <= to.Length; column++)
            {
                int replaced = corner + (from[line - 1] == to[column - 1] ? 0 : 1);
                corner = row[column];
                row[column] = Math.Min(replaced, Math.Min(row[column], row[column - 1]) + 1);
            }
        }
        return row[^1];
    }
}

/// <summary>What a jemalloc option has as its value.</summary>
internal enum JemallocKind
{
    /// <summary>True or false.</summary>
    Flag,

    /// <summary>A number.</summary>
    Number,

    /// <summary>A word, a list or a fraction.</summary>
    Other,
}
