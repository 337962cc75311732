// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using Xunit;

namespace Tenure.Tests;

/// <summary>In a process whose first call is Init, with every option that the jemalloc of the package has.</summary>
public sealed class JemPackagedStartTests
{
    /// <summary>Each option with a value that is not the default, as far as there is one that needs no other
    /// machine.</summary>
    private static readonly string[] s_every =
    [
        "abort:true", "abort_conf:false", "confirm_conf:false", "trust_madvise:false", "metadata_thp:auto", "retain:false",
        "dss:disabled", "narenas:3", "bin_shards:1-160:2", "mutex_max_spin:100", "dirty_decay_ms:1234", "muzzy_decay_ms:567",
        "stats_print:false", "stats_print_opts:mda", "stats_interval:-1", "stats_interval_opts:md", "junk:alloc", "zero:false",
        "xmalloc:true", "tcache:true", "lg_tcache_nslots_mul:2", "tcache_nslots_small_min:10", "tcache_nslots_small_max:100",
        "tcache_nslots_large:12", "tcache_gc_incr_bytes:70000", "tcache_gc_delay_bytes:1", "lg_tcache_flush_small_div:2",
        "lg_tcache_flush_large_div:2", "tcache_max:8192", "oversize_threshold:4194304", "lg_extent_max_active_fit:5",
        "percpu_arena:disabled", "background_thread:true", "max_background_threads:2", "hpa:false", "hpa_slab_max_alloc:131072",
        "hpa_hugification_threshold:1048576", "hpa_hugify_delay_ms:11", "hpa_min_purge_interval_ms:12", "hpa_dirty_mult:0.5",
        "hpa_sec_nshards:2", "hpa_sec_max_alloc:16384", "hpa_sec_max_bytes:65536", "hpa_sec_bytes_after_flush:32768",
        "hpa_sec_batch_fill_extra:1", "slab_sizes:32-64:2", "prof:true", "prof_prefix:mine", "prof_active:false",
        "prof_thread_active_init:false", "lg_prof_sample:20", "prof_accum:true", "lg_prof_interval:-1", "prof_gdump:false",
        "prof_final:false", "prof_leak:false", "prof_leak_error:false", "prof_recent_alloc_max:4", "prof_stats:true",
        "prof_sys_thread_name:true", "prof_time_resolution:default", "prof_unbias:false", "thp:default", "zero_realloc:free",
        "san_guard_small:0", "san_guard_large:0",
    ];

    /// <summary>Options without a key in jemalloc 5.3: they were accepted, but cannot be read.</summary>
    private static readonly string[] s_unreadable =
        ["bin_shards", "slab_sizes", "prof_unbias", "prof_log", "san_guard_small", "san_guard_large"];

    [Fact(Explicit = true)]
    public unsafe void every_option_is_applied_and_has_its_value()
    {
        Assert.Equal(JemBackend.Jemalloc, Jem.Backend);
        Assert.NotNull(Jem.LibraryPath);
        Assert.False(Jem.Initialized); // asking starts nothing
        var heard = new List<string>();
        Jem.MallocMessage += heard.Add; // neither does listening

        string conf = string.Join(',', s_every);
        JemInitResult result = Jem.Init(conf + ",tenure.heap_purge_delay_ms:900");

        Assert.True(Jem.Initialized);
        Assert.Equal([.. s_every.Select(KeyOf), "tenure.heap_purge_delay_ms"], result.Applied);
        Assert.Empty(result.InEffect);
        Assert.Equal(conf, Jem.MallocConf);
        foreach (string setting in s_every.Where(each => !s_unreadable.Contains(KeyOf(each)) && KeyOf(each) != "hpa_dirty_mult"))
        {
            Assert.Equal(setting, KeyOf(setting) + ":" + Read("opt." + KeyOf(setting)));
        }
        Assert.Empty(heard);

        // They do what they say.
        Assert.True(Jem.GetMallCtlBool("background_thread"));
        Assert.Equal(1234, Jem.GetMallCtlInt64("arena.0.dirty_decay_ms"));
        Assert.Equal((nuint)32, Jem.GetMallCtlNUInt("arenas.bin.2.size"));
        Assert.Equal((nuint)8192, Jem.GetMallCtlNUInt("arenas.bin.2.slab_size")); // two pages
        Assert.Equal(2u, Jem.GetMallCtlUInt32("arenas.bin.0.nshards"));
        byte* junk = (byte*)Jem.Malloc(100);
        Assert.Equal(0xa5, junk[50]);
        Jem.Free((nint)junk);
        Jem.SetMallCtlBool("prof.active", true);

        // Too late now; what has its value is in effect.
        Assert.Equal(["narenas"], Jem.Init("narenas:3").InEffect);
        Assert.Equal("narenas", Assert.Single(Jem.TryInit("narenas:4").Refused).Key);
        Assert.Equal(3u, Jem.GetMallCtlUInt32("opt.narenas"));
        Assert.Equal(conf, Jem.MallocConf);

        // The threads that it started do not end with the thread that started it.
        var other = new Thread(() => Jem.Free(Jem.Malloc(1 << 20)));
        other.Start();
        other.Join();
    }

    /// <summary>Every option that Tenure knows is tried here, or is not in this build of jemalloc.</summary>
    [Fact(Explicit = true)]
    public void no_option_is_left_out()
    {
        string[] notHere = ["cache_oblivious", "experimental_infallible_new", "lg_san_uaf_align", "utrace"];
        // They set what other options in the list set, or write a file.
        string[] same = ["narenas_ratio", "hpa_hugification_threshold_ratio", "lg_tcache_max", "prof_log"];
        Assert.Equal(JemallocKeys.Options.Order(), s_every.Select(KeyOf).Concat(notHere).Concat(same).Order());
    }

    internal static string KeyOf(string setting) => setting[..setting.IndexOf(':', StringComparison.Ordinal)];

    internal static string Read(string option) => MallCtlCalls.SizeOf(option) switch
    {
        1 => Jem.GetMallCtlBool(option) ? "true" : "false",
        4 => $"{Jem.GetMallCtlUInt32(option)}",
        8 when JemallocKeys.IsText(option) => Jem.GetMallCtlStr(option),
        _ => $"{Jem.GetMallCtlInt64(option)}",
    };
}

/// <summary>In a process whose first call is Init, with values that are wrong.</summary>
public sealed class JemPackagedRefusalTests
{
    [Fact(Explicit = true)]
    public void a_wrong_value_is_refused_with_the_reason_and_the_rest_is_applied()
    {
        // Found before the start: nothing happens.
        foreach (string option in JemallocKeys.Options.Where(each => JemallocKeys.KindOf(each) != JemallocKind.Other))
        {
            JemConfException thrown = Assert.Throws<JemConfException>(() => Jem.Init($"narenas:2,{option}:maybe"));
            Assert.Equal("narenas:2,".Length + option.Length + 1, thrown.Position);
            Assert.Contains(JemallocKeys.KindOf(option) == JemallocKind.Flag ? "\"true\" or \"false\"" : "a number", thrown.Message, StringComparison.Ordinal);
        }
        Assert.Throws<JemConfException>(() => Jem.Init("narenas=2"));
        Assert.False(Jem.Initialized);

        // Found by jemalloc. abort_conf only reaches values that jemalloc sees.
        string[] wrong =
        [
            "metadata_thp:maybe", "dss:maybe", "narenas:0", "bin_shards:5", "mutex_max_spin:-2", "dirty_decay_ms:-7",
            "muzzy_decay_ms:-7", "junk:maybe", "lg_tcache_nslots_mul:17", "lg_extent_max_active_fit:65", "percpu_arena:maybe",
            "hpa_hugification_threshold_ratio:2", "hpa_dirty_mult:maybe", "narenas_ratio:maybe", "slab_sizes:5", "lg_prof_interval:64",
            "prof_time_resolution:maybe", "thp:maybe", "zero_realloc:maybe", "prof_recent_alloc_max:-2", "stats_interval:-2",
        ];
        string[] clipped = ["tcache_max:99999999999", "tcache_nslots_large:0", "lg_prof_sample:99"];
        string[] lacking = ["utrace:true", "lg_san_uaf_align:12", "experimental_infallible_new:true", "cache_oblivious:false"];
        JemInitResult result = Jem.TryInit(string.Join(',', [.. wrong, .. clipped, .. lacking,
            "prof_leak_error:true", "retian:true", "tcache_gc_incr_bytes:70000", "tenure.heap_purge_dely_ms:1"]));
        Assert.Equal(["tcache_gc_incr_bytes"], result.Applied);
        Assert.Equal(["retian", "tenure.heap_purge_dely_ms"], result.Unknown);
        Assert.Equal([.. wrong, .. clipped, .. lacking, "prof_leak_error:true"], result.Refused.Select(each => each.Key + ":" + each.Value));
        foreach (JemRefusal refusal in result.Refused)
        {
            string setting = refusal.Key + ":" + refusal.Value;
            string wanted = setting == "prof_leak_error:true" ? "It requires prof_final:true."
                : lacking.Contains(setting) ? "was built without it." : clipped.Contains(setting) ? "jemalloc uses the value " : "";
            Assert.Contains(wanted, refusal.Reason, StringComparison.Ordinal);
            Assert.EndsWith(".", refusal.Reason, StringComparison.Ordinal);
            Assert.DoesNotContain("<jemalloc>", refusal.Reason, StringComparison.Ordinal);
        }
        Assert.Equal("Out-of-range conf value.", result.Refused.First(each => each.Key == "narenas").Reason);
        Assert.Equal("jemalloc uses the value 1.", result.Refused.First(each => each.Key == "tcache_nslots_large").Reason);
        Assert.StartsWith("TENURE_JE_MALLOC_CONF=", result.MallocConf.Replace("'", "", StringComparison.Ordinal), StringComparison.Ordinal);
        Assert.True(Jem.Initialized);
        Jem.Free(Jem.Malloc(1000));
    }
}

/// <summary>In a process whose environment sets narenas to 2, and an option that does not exist.</summary>
public sealed class JemPackagedEnvironmentTests
{
    [Fact(Explicit = true)]
    public void what_the_environment_sets_is_not_changed()
    {
        JemInitException thrown = Assert.Throws<JemInitException>(() => Jem.Init("narenas:4,muzzy_decay_ms:321"));
        Assert.Equal(["muzzy_decay_ms"], thrown.Result!.Applied);
        Assert.Contains("jemalloc uses the value 2. The environment variable TENURE_JE_MALLOC_CONF sets this key.", thrown.Message, StringComparison.Ordinal);
        Assert.Equal(2u, Jem.GetMallCtlUInt32("opt.narenas"));
        Assert.Equal(["narenas"], Jem.Init("narenas:2").InEffect);
    }
}

/// <summary>In a process that asks for what jemalloc prints.</summary>
public sealed class JemPackagedPrintTests
{
    [Fact(Explicit = true)]
    public void it_is_printed_at_the_start_and_at_the_end() =>
        Assert.Equal(["confirm_conf", "narenas", "stats_print"], Jem.Init("confirm_conf:true,narenas:5,stats_print:true").Applied);
}
