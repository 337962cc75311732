// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using Xunit;

namespace Tenure.Tests;

/// <summary>What an observer hears of regions is looked at in tests/base/observer: here, that each end has its begin.</summary>
public sealed class RegionTests
{
    [Fact]
    public void a_name_as_text_takes_nothing_from_the_garbage_collector()
    {
        static void EnterAndMark()
        {
            using var region = Region.Begin("physics");
            Region.Mark("begun");
        }

        EnterAndMark(); // the first call binds the native functions, which takes a little
        long before = GC.GetAllocatedBytesForCurrentThread();
        for (int round = 0; round < 100; round++)
        {
            EnterAndMark();
        }
        Assert.Equal(0, GC.GetAllocatedBytesForCurrentThread() - before);
    }

    [Fact]
    public void the_checked_library_finds_every_end_with_its_begin() =>
        ChildProcess.RunChecked(typeof(RegionsOfTheCheckedLibrary));
}

/// <summary>In a process that has the library with the caller's mistakes checked.</summary>
public sealed class RegionsOfTheCheckedLibrary
{
    /// <summary>What was reported: an end without a begin is.</summary>
    private static int _heard;

    public RegionsOfTheCheckedLibrary() => Reports.Handler = (_, _) => _heard++;

    [Fact(Explicit = true)]
    public void regions_nest_and_have_any_name()
    {
        int before = _heard;
        using (Region.Begin("frame"u8))
        using (Region.Begin("größer"))
        using (Region.Begin(ReadOnlySpan<byte>.Empty))
        using (Region.Begin(""))
        {
            Region.Mark("a moment"u8);
            Region.Mark(new string('n', 1000));
        }
        Assert.Equal(before, _heard);
        NativeMethods.tn_region_end();
        Assert.Equal(before + 1, _heard); // all of them had ended
    }

    [Fact(Explicit = true)]
    public void a_second_dispose_does_nothing()
    {
        int before = _heard;
        var region = Region.Begin("once"u8);
        region.Dispose();
        region.Dispose();
        default(Region).Dispose();
        Assert.Equal(before, _heard);
        NativeMethods.tn_region_end();
        Assert.Equal(before + 1, _heard);
    }
}
