// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using Xunit;

namespace Tenure.Tests;

/// <summary>That the memory comes from TempJob is seen in <see cref="CollectionsInAChild"/>, where no other test allocates.</summary>
public sealed class BufferLifetimeTests
{
    [Theory]
    [InlineData(Lifetime.Persistent)]
    [InlineData(Lifetime.TempJob)]
    public void buffers_take_a_lifetime(Lifetime lifetime)
    {
        var buffer = new FixedBuffer<int>(1000, lifetime);
        using (var array = new SafeArray<int>(1000, lifetime))
        {
            Assert.Equal(0u, (ulong)buffer.Handle.Address % 64);
            Assert.True(buffer.EqualTo(new int[1000]) && array.EqualTo(new int[1000]));
        }
        FixedBuffer<int> copy = buffer;
        buffer.Free();
        Assert.Throws<ObjectDisposedException>(() => copy[0]);
        new FixedBuffer<int>(0, lifetime).Free();
    }

    [Fact]
    public void options_carry_the_lifetime()
    {
        Assert.Equal(Lifetime.Persistent, default(BufferOptions).Lifetime);
        var options = new BufferOptions { Lifetime = Lifetime.TempJob, Alignment = 4096, Fill = AllocationFill.Unwritten };
        Assert.Equal(Lifetime.TempJob, options.Lifetime);
        using var array = new HugeArray<int>(100_000, options);
        Assert.Equal(0u, (ulong)array.Handle.Address % 4096);
    }

    [Fact]
    public void temp_is_refused_in_favour_of_a_scope()
    {
        ArgumentException refused = Assert.Throws<ArgumentException>(() => new FixedBuffer<int>(1, Lifetime.Temp));
        Assert.Contains("TempScope", refused.Message, StringComparison.Ordinal);
        Assert.Throws<ArgumentException>(() => new SafeArray<int>(1, Lifetime.Temp));
        Assert.Throws<ArgumentException>(() => new SafeArray<int>(1, new BufferOptions { Lifetime = Lifetime.Temp }));
        Assert.Throws<ArgumentOutOfRangeException>(() => new SafeArray<int>(1, (Lifetime)7));
        Assert.Throws<ArgumentOutOfRangeException>(() => new SafeArray<int>(-1, Lifetime.TempJob));
        Assert.Throws<OutOfMemoryException>(() => new FixedBuffer<NativeListTests.Megabyte>(int.MaxValue, Lifetime.TempJob));
    }
}
