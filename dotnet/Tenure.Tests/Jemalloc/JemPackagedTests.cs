// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.IO;
using System.Linq;
using System.Runtime.InteropServices;
using System.Text.Json;
using Xunit;

namespace Tenure.Tests;

/// <summary>In a process without a launcher, whose jemalloc is that of the package, started by any call.</summary>
public sealed unsafe class JemPackagedTests
{
    private const ulong Large = 32 << 20;

    [Fact(Explicit = true)]
    public void jemalloc_serves_this_class_and_nothing_else()
    {
        Assert.Equal(JemBackend.Jemalloc, Jem.Backend);
        Jem.RequireJemalloc();
        Assert.Equal(PackagedJemalloc.FileName, Path.GetFileName(Jem.LibraryPath));
        Assert.StartsWith("5.3.0-", Jem.GetMallCtlStr("version"), StringComparison.Ordinal);
        Assert.True(Jem.Initialized);
        Assert.False(Jem.ServesPersistentMemory);
        // The process's own names are not jemalloc's.
        Assert.False(NativeLibrary.TryGetExport(NativeLibrary.GetMainProgramHandle(), "mallctl", out _));
        Assert.False(NativeLibrary.TryGetExport(NativeLibrary.GetMainProgramHandle(), "tenure_je_mallctl", out _));
    }

    [Fact(Explicit = true)]
    public void blocks_are_in_its_arenas_and_those_of_others_are_not_counted()
    {
        nint[] blocks =
        [
            Jem.Malloc(100), Jem.Calloc(10, 1000), Jem.AlignedAlloc(64, 64), Jem.Mallocx(1 << 20, Jem.MallocxZero),
            Jem.Realloc(Jem.Malloc(10), 5000), Jem.Rallocx(Jem.Malloc(10), 50_000, 0),
        ];
        Assert.All(blocks, block => Assert.NotNull(ArenaOf(block)));
        Assert.Equal(0, Jem.PosixMemalign(out nint aligned, 4096, 10));
        Assert.True(ArenaOf(aligned) is not null && aligned % 4096 == 0);
        // jemalloc counts by thread too; it may not be asked about the addresses of others.
        ulong before = Jem.GetMallCtlUInt64("thread.allocated");
        void* systems = NativeMemory.Alloc(100), tenures = Native.Allocate(100, Lifetime.Persistent);
        Assert.Equal(before, Jem.GetMallCtlUInt64("thread.allocated"));
        NativeMemory.Free(systems);
        Native.Deallocate(tenures, Lifetime.Persistent);
        nint own = Jem.Malloc(1000);
        Assert.Equal(before + Jem.MallocUsableSize(own), Jem.GetMallCtlUInt64("thread.allocated"));
        Jem.Free(own);
        Assert.All(blocks.Append(aligned), block => Assert.True(Jem.Free(block)));
    }

    [Fact(Explicit = true)]
    public void statistics_count_this_class_only()
    {
        ulong before = Jem.AllocatedBytes;
        void* systems = NativeMemory.Alloc((nuint)Large);
        Assert.InRange(Jem.AllocatedBytes, before, before + (1 << 20));
        nint block = Jem.Malloc(Large);
        Assert.InRange(Jem.AllocatedBytes - before, Large, Large + (8 << 20));
        Assert.True(Jem.ResidentBytes > 0 && Jem.MappedBytes >= Large && Jem.MetadataBytes > 0);
        Jem.Free(block);
        NativeMemory.Free(systems);
        using JsonDocument json = JsonDocument.Parse(Jem.GetMallocStats("J"));
        Assert.True(json.RootElement.GetProperty("jemalloc").GetProperty("stats").GetProperty("mapped").GetInt64() > 0);
    }

    [Fact(Explicit = true)]
    public void keys_are_read_set_and_refused()
    {
        Assert.True(Jem.GetMallCtlBool("config.prof"));
        long before = Jem.GetMallCtlInt64("arenas.muzzy_decay_ms");
        Jem.SetMallCtlInt64("arenas.muzzy_decay_ms", 4321);
        Assert.Equal(4321, Jem.GetMallCtlInt64("arenas.muzzy_decay_ms"));
        Jem.SetMallCtlInt64("arenas.muzzy_decay_ms", before);
        Jem.CallMallCtl("thread.tcache.flush");
        Assert.Equal(2, Assert.Throws<MallCtlException>(() => Jem.GetMallCtlBool("opt.retian")).ErrorCode);
        Assert.Equal(Jem.GetMallCtlNUInt("arenas.bin.0.size"), new MallCtlKey<nuint>("arenas.bin.0.size").Get());
        int arena = (int)Jem.GetMallCtlUInt32("arenas.create");
        nint block = Jem.Mallocx(100_000, Jem.MallocxArena(arena) | Jem.MallocxTcacheNone);
        Assert.Equal((uint)arena, ArenaOf(block));
        Jem.Dallocx(block, Jem.MallocxTcacheNone);
        Jem.CallMallCtl($"arena.{arena}.destroy");
    }

    [Fact(Explicit = true)]
    public void what_comes_after_the_start_is_refused_with_the_reason_and_the_variable()
    {
        Jem.Free(Jem.Malloc(1));
        Assert.Equal("", Jem.MallocConf);
        JemInitException thrown = Assert.Throws<JemInitException>(() => Jem.Init("narenas:7,dirty_decay_ms:2000,retain:true,retian:true"));
        Assert.Equal(["dirty_decay_ms"], thrown.Result!.Applied);
        Assert.Equal(["retain"], thrown.Result.InEffect);
        Assert.Equal(["retian"], thrown.Result.Unknown);
        Assert.Equal("TENURE_JE_MALLOC_CONF=narenas:7", thrown.Result.MallocConf);
        Assert.All((string[])["jemalloc has already started, with an earlier call of Jem", "Pass them to Init before any other call",
            "TENURE_JE_MALLOC_CONF=narenas:7", "did you mean \"retain\"?"],
            part => Assert.Contains(part, thrown.Message, StringComparison.Ordinal));
        Assert.Equal(2000, Jem.GetMallCtlInt64("arenas.dirty_decay_ms"));
        Jem.Init("dirty_decay_ms:10000");
        Assert.Equal(18, Assert.Throws<JemConfException>(() => Jem.Init("background_thread:maybe")).Position);
    }

    private static uint? ArenaOf(nint block)
    {
        uint arena = 0;
        ulong size = sizeof(uint);
        return Jem.Mallctl("arenas.lookup", (nint)(&arena), ref size, (nint)(&block), (ulong)sizeof(nint)) == 0 ? arena : null;
    }
}
