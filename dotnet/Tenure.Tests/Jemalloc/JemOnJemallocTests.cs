// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.IO;
using System.Text.Json;
using System.Threading;
using Xunit;

namespace Tenure.Tests;

/// <summary>In a process that runs on jemalloc.</summary>
public sealed unsafe class JemOnJemallocTests
{
    private const long Large = 32 << 20;

    [Fact(Explicit = true)]
    public void the_process_runs_on_it()
    {
        Assert.Equal(JemBackend.Jemalloc, Jem.Backend);
        Assert.True(Jem.Initialized);
        Assert.True(Jem.ServesPersistentMemory);
        // Preloaded, it is used instead of the jemalloc of the package.
        Assert.StartsWith("libjemalloc.so", Path.GetFileName(Jem.LibraryPath), StringComparison.Ordinal);
        Assert.False(JemallocSymbols.ArePackaged);
        Jem.RequireJemalloc();
        Assert.StartsWith("5.", Jem.GetMallCtlStr("version"), StringComparison.Ordinal);
    }

    /// <summary>In jemalloc.NET figures were as of the first time that anybody had asked.</summary>
    [Fact(Explicit = true)]
    public void figures_are_fresh_each_time()
    {
        for (int round = 0; round < 3; round++)
        {
            ulong before = Jem.AllocatedBytes;
            nint block = Jem.Malloc((ulong)Large);
            ulong during = Jem.AllocatedBytes;
            Assert.InRange((long)(during - before), Large - (8 << 20), Large + (8 << 20));
            Jem.Free(block);
            Assert.InRange((long)(during - Jem.AllocatedBytes), Large - (8 << 20), Large + (8 << 20));
        }
        Assert.True(Jem.ActiveBytes >= Jem.AllocatedBytes / 2 && Jem.MappedBytes > 0 && Jem.ResidentBytes > 0 && Jem.MetadataBytes > 0);
        _ = Jem.RetainedBytes;
    }

    [Fact(Explicit = true)]
    public void persistent_memory_and_buffers_live_on_it()
    {
        ulong before = Jem.AllocatedBytes;
        void* block = Native.Allocate((nuint)Large, Lifetime.Persistent);
        Assert.True((long)(Jem.AllocatedBytes - before) >= Large - (8 << 20));
        Native.Deallocate(block, Lifetime.Persistent);
        before = Jem.AllocatedBytes;
        using (var buffer = new FixedBuffer<byte>((int)Large))
        {
            Assert.True((long)(Jem.AllocatedBytes - before) >= Large - (8 << 20));
        }
        // Signed: the runtime frees memory of its own in the meantime.
        Assert.True((long)(Jem.AllocatedBytes - before) < 8 << 20);
    }

    [Fact(Explicit = true)]
    public void keys_are_read_and_set_by_type()
    {
        Assert.True(Jem.GetMallCtlBool("config.stats"));
        Assert.True(Jem.GetMallCtlUInt32("arenas.narenas") > 0);
        Assert.Equal(Jem.GetMallCtlUInt32("arenas.narenas"), (uint)Jem.GetMallCtlInt32("arenas.narenas"));
        Assert.Equal((nuint)Environment.SystemPageSize, Jem.GetMallCtlNUInt("arenas.page"));
        Assert.Equal(Jem.GetMallCtlSInt64("arenas.dirty_decay_ms"), Jem.GetMallCtlInt64("arenas.dirty_decay_ms"));
        long before = Jem.GetMallCtl<nint>("arenas.muzzy_decay_ms");
        Jem.SetMallCtlInt64("arenas.muzzy_decay_ms", 4321);
        Assert.Equal(4321, Jem.GetMallCtlInt64("arenas.muzzy_decay_ms"));
        Jem.SetMallCtl("arenas.muzzy_decay_ms", before);
        ulong epoch = Jem.GetMallCtlUInt64("epoch");
        Jem.RefreshStats();
        Assert.True(Jem.GetMallCtlUInt64("epoch") > epoch);
        Assert.False(string.IsNullOrEmpty(Jem.GetMallCtlStr("arena.0.dss")));
        Jem.SetMallCtlStr("arena.0.dss", Jem.GetMallCtlStr("arena.0.dss"));
        Jem.CallMallCtl("thread.tcache.flush");
        Jem.CallMallCtl("arena.4096.purge");
    }

    [Fact(Explicit = true)]
    public void a_key_is_refused_by_name_and_with_the_reason()
    {
        Refused(() => Jem.GetMallCtlBool("opt.retian"), 2, "\"opt.retian\"", "did you mean \"opt.retain\"?");
        Refused(() => Jem.GetMallCtlInt32("config.stats"), 22, "1 bytes, not of 4", "bool");
        Refused(() => Jem.GetMallCtlUInt64("arenas.narenas"), 22, "4 bytes, not of 8", "Int32 or UInt32");
        Refused(() => Jem.SetMallCtlUInt64("background_thread", 1), 22, "1 bytes, not of 8");
        Refused(() => Jem.SetMallCtlBool("opt.retain", true), 1, "can only be read");
        Refused(() => Jem.SetMallCtlInt64("arenas.dirty_decay_ms", -5), 14, "out of range");
        Refused(() => Jem.CallMallCtl("arena.no.purge"), 2, "arena.no.purge");
        // A number taken for the address of a text would end the process.
        Refused(() => Jem.GetMallCtlStr("stats.allocated"), 0, "not known to be text");
        Assert.Throws<NotSupportedException>(() => Jem.GetMallCtl<byte>("config.stats"));
        Assert.Throws<ArgumentException>(() => Jem.GetMallCtlBool(""));
        Assert.Throws<ArgumentNullException>(() => Jem.GetMallCtlBool(null!));
        Assert.Throws<ArgumentNullException>(() => Jem.SetMallCtlStr("arena.0.dss", null!));
        Refused(() => Jem.SetMallCtlStr("arena.0.dss", "sometimes"), 22, "arena.0.dss");

        static void Refused(Action call, int error, params string[] parts)
        {
            MallCtlException thrown = Assert.Throws<MallCtlException>(call);
            Assert.Equal(error, thrown.ErrorCode);
            Assert.All(parts, part => Assert.Contains(part, thrown.Message, StringComparison.Ordinal));
        }
    }

    [Fact(Explicit = true)]
    public void a_key_is_looked_up_once_and_its_index_changed()
    {
        var sizes = new MallCtlKey<nuint>("arenas.bin.0.size");
        uint bins = new MallCtlKey<uint>("arenas.nbins").Get();
        nuint last = 0;
        for (int bin = 0; bin < (int)bins; bin++)
        {
            MallCtlKey<nuint> key = sizes.WithIndex(2, bin);
            Assert.Equal(key.Get(), Jem.GetMallCtlNUInt(key.Name));
            Assert.True(key.Get() > last);
            last = key.Get();
        }
        nuint[] mib = Jem.MallCtlNameToMib("arenas.bin.0.size");
        Assert.Equal(mib, sizes.ToMib());
        mib[2] = 1;
        Assert.Equal(sizes.WithIndex(2, 1).Get(), Jem.GetMallCtlByMib<nuint>(mib));
        Jem.SetMallCtlByMib(Jem.MallCtlNameToMib("epoch"), 1ul);
        Assert.Throws<MallCtlException>(() => sizes.WithIndex(2, 10_000).Get());
        Assert.Throws<ArgumentOutOfRangeException>(() => sizes.WithIndex(1, 0));
        Assert.Throws<ArgumentOutOfRangeException>(() => sizes.WithIndex(9, 0));
        Assert.Throws<MallCtlException>(() => new MallCtlKey<nuint>("arenas.bun.0.size"));
        Assert.Throws<MallCtlException>(() => Jem.MallCtlNameToMib("tenure.heap_purge_delay_ms"));
        Assert.Throws<InvalidOperationException>(() => default(MallCtlKey<int>).Get());
        Assert.Equal(sizes, new MallCtlKey<nuint>("arenas.bin.0.size"));
    }

    [Fact(Explicit = true)]
    public void the_calls_of_c_are_there_as_they_are()
    {
        uint arenas = 0;
        ulong size = sizeof(uint);
        Assert.Equal(0, Jem.Mallctl("arenas.narenas", (nint)(&arenas), ref size, 0, 0));
        Assert.True(arenas > 0 && size == 4);
        Assert.Equal(0, Jem.Mallctlbymib(Jem.MallCtlNameToMib("arenas.narenas"), (nint)(&arenas), ref size, 0, 0));
        Assert.Equal(2, Jem.Mallctl("no.such.key", 0, ref size, 0, 0));
    }

    [Fact(Explicit = true)]
    public void tenures_options_have_their_own_names()
    {
        ulong before = Jem.GetMallCtlUInt64("tenure.heap_purge_delay_ms");
        Jem.SetMallCtlUInt64("tenure.heap_purge_delay_ms", 777);
        Assert.Equal(777, Jem.GetMallCtlInt32("tenure.heap_purge_delay_ms"));
        Jem.SetMallCtlUInt64("tenure.heap_purge_delay_ms", before);
        Assert.Equal(32, Jem.GetMallCtlInt32("tenure.passthrough"));
    }

    [Fact(Explicit = true)]
    public void an_arena_of_ones_own_serves_and_is_destroyed()
    {
        int arena = (int)Jem.GetMallCtlUInt32("arenas.create");
        nint block = Jem.Mallocx(100_000, Jem.MallocxArena(arena) | Jem.MallocxTcacheNone | Jem.MallocxZero);
        Jem.RefreshStats();
        Assert.True(Jem.GetMallCtlNUInt($"stats.arenas.{arena}.large.allocated") >= 100_000);
        Jem.Dallocx(block, Jem.MallocxTcacheNone);
        Jem.CallMallCtl($"arena.{arena}.destroy");
    }

    /// <summary>In jemalloc.NET the garbage collector could take the callback away meanwhile.</summary>
    [Fact(Explicit = true)]
    public void statistics_are_told_as_text_while_the_collector_runs()
    {
        bool stops = false;
        var collector = new Thread(() =>
        {
            while (!Volatile.Read(ref stops))
            {
                GC.Collect();
            }
        });
        collector.Start();
        for (int round = 0; round < 5; round++)
        {
            Assert.StartsWith("___ Begin jemalloc statistics ___", Jem.MallocStats, StringComparison.Ordinal);
            Assert.EndsWith("--- End jemalloc statistics ---\n", Jem.GetMallocStats("mdablxeh"), StringComparison.Ordinal);
            using JsonDocument json = JsonDocument.Parse(Jem.GetMallocStats("J"));
            Assert.True(json.RootElement.GetProperty("jemalloc").GetProperty("stats").GetProperty("allocated").GetInt64() > 0);
        }
        Volatile.Write(ref stops, true);
        collector.Join();
        Assert.Throws<ArgumentNullException>(() => Jem.GetMallocStats(null!));
    }
}
