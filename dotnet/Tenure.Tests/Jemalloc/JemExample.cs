// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using Xunit;

namespace Tenure.Tests;

/// <summary>What docs/guide/jemalloc.md shows.</summary>
public sealed class JemExample
{
    [Fact(Explicit = true)]
    public void tunes_and_watches()
    {
        JemInitResult settings = Jem.TryInit("background_thread:true,dirty_decay_ms:1000,narenas:4");
        Console.WriteLine(settings); // the first call: all settings are in effect; later: what was refused, and why

        nint block = Jem.Mallocx(1 << 20, Jem.MallocxAlign(4096) | Jem.MallocxZero);
        using var samples = new FixedBuffer<double>(1_000_000);
        Console.WriteLine($"{Jem.Backend}: {Jem.AllocatedBytes} bytes in use, {Jem.ResidentBytes} resident");
        Jem.Free(block);

        if (Jem.Backend == JemBackend.Jemalloc)
        {
            var sizes = new MallCtlKey<nuint>("arenas.bin.0.size"); // looked up once
            for (int bin = 0; bin < Jem.GetMallCtlInt32("arenas.nbins"); bin++)
            {
                Console.Write($"{sizes.WithIndex(2, bin).Get()} ");
            }
        }
        else
        {
            Jem.SetMallCtlStr("tenure.heap_purge_delay_ms", "250"); // the same calls, our options
        }
        // The samples are not in the jemalloc of the package, which serves only Jem.
        Assert.True(Jem.AllocatedBytes > (Jem.ServesPersistentMemory || Jem.Backend == JemBackend.Tenure ? 8_000_000u : 0u));
    }
}
