// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.IO;
using System.Runtime.InteropServices;
using System.Text.Json;
using Xunit;

namespace Tenure.Tests;

/// <summary>In a process that runs on any other malloc: everything lives on Tenure's heap.</summary>
public sealed class JemOverTenureTests
{
    private const string Command = "tenure run --heap=jemalloc -- dotnet app.dll";

    [Fact(Explicit = true)]
    public void the_process_does_not_run_on_jemalloc()
    {
        Assert.Equal(JemBackend.Tenure, Jem.Backend);
        Assert.True(Jem.Initialized);
        Assert.False(Jem.ServesPersistentMemory);
        Assert.Equal("", Jem.MallocConf);
        Assert.Null(Jem.LibraryPath);
        JemallocUnavailableException thrown = Assert.Throws<JemallocUnavailableException>(Jem.RequireJemalloc);
        Assert.Contains("does not run on jemalloc", thrown.Message, StringComparison.Ordinal);
        Assert.Contains(Command, thrown.Message, StringComparison.Ordinal);
        Assert.Contains("The switch Tenure.Jem.Packaged is off.", thrown.Message, StringComparison.Ordinal);
    }

    [Fact(Explicit = true)]
    public void figures_that_both_have_are_answered()
    {
        const ulong large = 32 << 20;
        ulong before = Jem.AllocatedBytes;
        nint block = Jem.Malloc(large);
        Assert.InRange(Jem.AllocatedBytes - before, large, large + (2 << 20));
        Assert.True(Jem.ActiveBytes >= large && Jem.ResidentBytes >= Jem.ActiveBytes && Jem.MappedBytes >= large);
        _ = Jem.RetainedBytes;
        Assert.Equal(Jem.AllocatedBytes, Jem.GetMallCtlUInt64("stats.allocated"));
        Jem.Free(block);
        ulong epoch = Jem.GetMallCtlUInt64("epoch");
        Jem.SetMallCtlUInt64("epoch", 1);
        Assert.Equal(epoch + 1, Jem.GetMallCtlUInt64("epoch"));
        Assert.StartsWith("Tenure ", Jem.GetMallCtlStr("version"), StringComparison.Ordinal);
        Assert.Equal((nuint)Environment.SystemPageSize, Jem.GetMallCtlNUInt("arenas.page"));
        Jem.CallMallCtl("arena.4096.purge");
        Assert.Contains("allocated_bytes: ", Jem.MallocStats, StringComparison.Ordinal);
        using JsonDocument json = JsonDocument.Parse(Jem.GetMallocStats("J"));
        Assert.Equal("tenure", json.RootElement.GetProperty("allocator").GetString());
        Assert.Equal("", Jem.MallocMessages);
    }

    [Theory(Explicit = true)]
    [InlineData("arenas.dirty_decay_ms", "tenure.heap_purge_delay_ms")]
    [InlineData("background_thread", "tenure.heap_background")]
    [InlineData("opt.narenas", "nothing to set")]
    [InlineData("thread.tcache.enabled", "nothing to set")]
    [InlineData("stats.metadata", "is a jemalloc key")]
    public void what_only_jemalloc_has_is_refused_by_name_with_what_is_near_and_the_command(string key, string near)
    {
        foreach (Action call in (Action[])[() => Jem.GetMallCtlUInt64(key), () => Jem.SetMallCtlUInt64(key, 1), () => Jem.GetMallCtlStr(key),
            () => Jem.CallMallCtl(key), () => Jem.MallCtlNameToMib(key), () => _ = new MallCtlKey<ulong>(key)])
        {
            JemallocUnavailableException thrown = Assert.Throws<JemallocUnavailableException>(call);
            Assert.All((string[])[$"\"{key}\"", near, Command], part => Assert.Contains(part, thrown.Message, StringComparison.Ordinal));
        }
    }

    [Fact(Explicit = true)]
    public void what_nobody_has_is_no_key()
    {
        Assert.Equal(2, Assert.Throws<MallCtlException>(() => Jem.GetMallCtlBool("no.such.key")).ErrorCode);
        Assert.Contains("tenure options", Assert.Throws<MallCtlException>(() => Jem.GetMallCtlBool("tenure.none")).Message, StringComparison.Ordinal);
        Assert.Equal(1, Assert.Throws<MallCtlException>(() => Jem.SetMallCtlUInt64("stats.allocated", 1)).ErrorCode);
        Assert.Equal(22, Assert.Throws<MallCtlException>(() => Jem.GetMallCtlInt32("stats.allocated")).ErrorCode);
        Assert.Equal(22, Assert.Throws<MallCtlException>(() => Jem.GetMallCtlStr("stats.allocated")).ErrorCode);
        Assert.Equal(22, Assert.Throws<MallCtlException>(() => Jem.CallMallCtl("stats.allocated")).ErrorCode);
        Assert.Throws<NotSupportedException>(() => Jem.GetMallCtl<double>("stats.allocated"));
        Assert.Throws<JemallocUnavailableException>(() => Jem.MetadataBytes);
        ulong size = 0;
        Assert.Throws<JemallocUnavailableException>(() => Jem.Mallctl("epoch", 0, ref size, 0, 0));
        Assert.Throws<JemallocUnavailableException>(() => Jem.Mallocx(10, Jem.MallocxArena(1)));
        Assert.Throws<JemallocUnavailableException>(() => Jem.Mallocx(10, Jem.MallocxTcache(1)));
    }

    [Fact(Explicit = true)]
    public void options_are_read_and_set_by_their_names()
    {
        var key = new MallCtlKey<ulong>("tenure.heap_purge_delay_ms");
        ulong before = key.Get();
        key.Set(250);
        Assert.Equal(250, Jem.GetMallCtlInt32("tenure.heap_purge_delay_ms"));
        Assert.Equal("250", Jem.GetMallCtlStr("tenure.heap_purge_delay_ms"));
        Jem.SetMallCtlByMib(Jem.MallCtlNameToMib("tenure.heap_purge_delay_ms"), before);
        Jem.SetMallCtlStr("tenure.heap_max_retained_bytes", "64M");
        Assert.Equal((nuint)(64 << 20), Jem.GetMallCtlNUInt("tenure.heap_max_retained_bytes"));
        Jem.SetMallCtlBool("tenure.buffer_fill", true);
        Assert.True(Jem.GetMallCtlBool("tenure.buffer_fill"));
        Jem.SetMallCtlBool("tenure.buffer_fill", false);
        MallCtlException thrown = Assert.Throws<MallCtlException>(() => Jem.SetMallCtlInt32("tenure.heap_purge_delay_ms", -1));
        Assert.Contains("From 0 to ", thrown.Message, StringComparison.Ordinal);
        Assert.Throws<MallCtlException>(() => Jem.GetMallCtlBool("tenure.heap_max_retained_bytes"));
        Assert.Throws<MallCtlException>(() => Jem.GetMallCtlByMib<ulong>([9999]));
        Assert.Equal(Jem.AllocatedBytes, Jem.GetMallCtlByMib<ulong>(Jem.MallCtlNameToMib("stats.allocated")));
    }

    [Fact(Explicit = true)]
    public void a_configuration_for_jemalloc_is_refused_with_the_line_that_sets_it()
    {
        JemInitException thrown = Assert.Throws<JemInitException>(() => Jem.Init("narenas:4,dirty_decay_ms:100,tenure.heap_purge_delay_ms:1000,nonsense:1"));
        JemInitResult result = thrown.Result!;
        Assert.Equal(["tenure.heap_purge_delay_ms"], result.Applied);
        Assert.Equal(["nonsense"], result.Unknown);
        Assert.Equal("MALLOC_CONF=narenas:4,dirty_decay_ms:100", result.MallocConf);
        Assert.All((string[])[result.MallocConf + " " + Command, "tenure.heap_purge_delay_ms", "does not run on jemalloc", "Tenure.Jem.Packaged"],
            part => Assert.Contains(part, thrown.Message, StringComparison.Ordinal));
        Assert.Equal(6, Assert.Throws<JemConfException>(() => Jem.Init("retain=false")).Position);
    }

    [Fact(Explicit = true)]
    public void a_jemalloc_that_is_loaded_later_is_told_to_be_too_late()
    {
        string folder = Directory.CreateTempSubdirectory("tenure").FullName, file = Path.Combine(folder, "libjemalloc.so.2");
        File.Copy(Path.Combine(RuntimeEnvironment.GetRuntimeDirectory(), "libSystem.IO.Compression.Native.so"), file);
        nint library = NativeLibrary.Load(file);
        try
        {
            Assert.Contains(file + " was loaded too late", Assert.Throws<JemallocUnavailableException>(Jem.RequireJemalloc).Message, StringComparison.Ordinal);
            Assert.Equal(JemBackend.Tenure, Jem.Backend);
        }
        finally
        {
            NativeLibrary.Free(library);
            Directory.Delete(folder, recursive: true);
        }
    }
}
