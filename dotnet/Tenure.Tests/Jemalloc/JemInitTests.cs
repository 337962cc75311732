// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Linq;
using Xunit;

namespace Tenure.Tests;

/// <summary>In a process that runs on jemalloc, which has started with this configuration.</summary>
public sealed class JemInitTests
{
    internal const string MallocConf = "tcache:true,narenas:3";

    /// <summary>In jemalloc.NET a malformed configuration was taken, and nobody complained.</summary>
    [Theory(Explicit = true)]
    [InlineData("retain=false", 6)]
    [InlineData("retain", 6)]
    [InlineData("background_thread:true,", 22)]
    [InlineData("background_thread:true, narenas:1", 23)]
    [InlineData(":true", 0)]
    [InlineData("background_thread:maybe", 18)]
    [InlineData("dirty_decay_ms:1s", 15)]
    [InlineData("background_thread:true,,narenas:1", 23)]
    public void what_is_malformed_is_refused_with_its_place_and_nothing_is_applied(string conf, int position)
    {
        Jem.SetMallCtlBool("background_thread", false);
        JemConfException thrown = Assert.Throws<JemConfException>(() => Jem.Init(conf));
        Assert.Equal(position, thrown.Position);
        Assert.Contains($"position {position}", thrown.Message, StringComparison.Ordinal);
        Assert.Throws<JemConfException>(() => Jem.TryInit(conf));
        Assert.Throws<JemConfException>(() => Jem.MallocConf = conf);
        Assert.False(Jem.GetMallCtlBool("background_thread"));
    }

    [Fact(Explicit = true)]
    public void what_a_running_jemalloc_takes_is_applied()
    {
        JemInitResult result = Jem.Init("background_thread:true,dirty_decay_ms:1234,muzzy_decay_ms:0x10,max_background_threads:2");
        Assert.Equal(["background_thread", "dirty_decay_ms", "muzzy_decay_ms", "max_background_threads"], result.Applied);
        Assert.True(result.Succeeded);
        Assert.Equal("", result.MallocConf);
        Assert.True(Jem.GetMallCtlBool("background_thread"));
        Assert.Equal(1234, Jem.GetMallCtlInt64("arenas.dirty_decay_ms"));
        // Those of threads that are there already have it too.
        Assert.Equal(1234, Jem.GetMallCtlInt64("arena.0.dirty_decay_ms"));
        Assert.Equal(16, Jem.GetMallCtlInt64("arena.0.muzzy_decay_ms"));
        Assert.Equal((nuint)2, Jem.GetMallCtlNUInt("max_background_threads"));
        Jem.Init("background_thread:false,dirty_decay_ms:10000,muzzy_decay_ms:0");
        Assert.Empty(Jem.Init("").Applied);
        Assert.Throws<ArgumentNullException>(() => Jem.Init(null!));
    }

    /// <summary>In jemalloc.NET what came too late was ignored.</summary>
    [Fact(Explicit = true)]
    public void what_comes_too_late_is_refused_by_name_and_the_rest_is_applied()
    {
        JemInitException thrown = Assert.Throws<JemInitException>(
            () => Jem.Init("narenas:7,dirty_decay_ms:2000,percpu_arena:phycpu,retian:true,lg_tcache_max:16"));
        JemInitResult result = thrown.Result!;
        Assert.Equal(["dirty_decay_ms"], result.Applied);
        Assert.Equal(["narenas", "percpu_arena", "lg_tcache_max"], result.Refused.Select(each => each.Key));
        Assert.Equal(["retian"], result.Unknown);
        Assert.Equal("MALLOC_CONF=tcache:true,narenas:7,percpu_arena:phycpu,lg_tcache_max:16", result.MallocConf);
        foreach (string part in (string[])["narenas:7 was rejected", result.MallocConf + " " + JemallocUnavailableException.Command,
            "retian is not a jemalloc key; did you mean \"retain\"?"])
        {
            Assert.Contains(part, thrown.Message, StringComparison.Ordinal);
        }
        Assert.Equal(2000, Jem.GetMallCtlInt64("arenas.dirty_decay_ms"));
        Jem.Init("dirty_decay_ms:10000");
    }

    [Fact(Explicit = true)]
    public void what_has_the_value_since_the_start_is_in_effect()
    {
        Assert.Equal(MallocConf, Jem.MallocConf);
        JemInitResult result = Jem.Init(MallocConf + ",retain:true,dss:" + Jem.GetMallCtlStr("opt.dss"));
        Assert.Equal(["tcache", "narenas", "retain", "dss"], result.InEffect);
        Assert.Empty(result.Applied);
        Jem.MallocConf = MallocConf;
    }

    [Fact(Explicit = true)]
    public void a_value_out_of_range_is_refused()
    {
        long before = Jem.GetMallCtlInt64("arenas.dirty_decay_ms"); // other tests of this process change it
        JemInitResult result = Jem.TryInit("dirty_decay_ms:-7");
        Assert.Equal("dirty_decay_ms", Assert.Single(result.Refused).Key);
        Assert.Contains("out of range", result.ToString(), StringComparison.Ordinal);
        Assert.Equal(before, Jem.GetMallCtlInt64("arenas.dirty_decay_ms"));
    }

    [Fact(Explicit = true)]
    public void what_wants_profiling_says_so()
    {
        JemInitResult result = Jem.TryInit("prof_active:true");
        Assert.Contains("prof:true", Assert.Single(result.Refused).Reason, StringComparison.Ordinal);
        Assert.Equal($"MALLOC_CONF={MallocConf},prof:true,prof_active:true", result.MallocConf);
        Assert.Throws<MallCtlException>(() => Jem.GetMallCtlStr("thread.prof.name"));
    }

    [Fact(Explicit = true)]
    public void a_line_for_the_shell_is_quoted()
    {
        Assert.EndsWith(",slab_sizes:1-64:4|65-128:2'", Jem.TryInit("slab_sizes:1-64:4|65-128:2").MallocConf, StringComparison.Ordinal);
        Assert.EndsWith(",prof_prefix:it'\\''s'", Jem.TryInit("prof_prefix:it's").MallocConf, StringComparison.Ordinal);
    }

    [Fact(Explicit = true)]
    public void tenures_options_may_stand_among_them()
    {
        Assert.Equal(["tenure.heap_purge_delay_ms"], Jem.Init("tenure.heap_purge_delay_ms:900").Applied);
        Assert.Equal(900ul, Jem.GetMallCtlUInt64("tenure.heap_purge_delay_ms"));
        Assert.Equal(["tenure.heap_purge_dely_ms"], Jem.TryInit("tenure.heap_purge_dely_ms:900").Unknown);
        JemInitResult refused = Jem.TryInit("tenure.heap_purge_delay_ms:often");
        Assert.Equal("", refused.MallocConf);
        Assert.Contains("does not accept \"often\"", Assert.Single(refused.Refused).Reason, StringComparison.Ordinal);
    }
}
