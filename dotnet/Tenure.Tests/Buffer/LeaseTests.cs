// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Threading;
using Xunit;

namespace Tenure.Tests;

public sealed class LeaseTests
{
    [Fact]
    public void a_copy_of_a_lease_does_not_release_what_somebody_else_holds()
    {
        using var buffer = new FixedBuffer<int>(10);
        buffer.Acquire();
        Lease<int> lease = buffer.Lease();
        Lease<int> copy = lease;
        Assert.Equal(2, buffer.RefCount);
        lease.Dispose();
        copy.Dispose();
        copy.Dispose();
        Assert.Equal(1, buffer.RefCount);
        buffer.Release();
    }

    [Fact]
    public void a_copy_of_a_lease_that_ended_leaves_a_later_lease_alone()
    {
        using var buffer = new FixedBuffer<int>(10);
        Lease<int> lease = buffer.Lease();
        Lease<int> copy = lease;
        lease.Dispose();
        Lease<int> later = buffer.Lease(); // in the same place of the thread's
        copy.Dispose();
        Assert.Equal(1, buffer.RefCount);
        later.Dispose();
        Assert.Equal(0, buffer.RefCount);
    }

    [Fact]
    public void leases_end_in_any_order()
    {
        using var one = new FixedBuffer<int>(1);
        using var other = new SafeArray<int>(1);
        for (int order = 0; order < 3; order++)
        {
            Lease<int> first = one.Lease();
            Lease<int> second = other.Lease();
            Lease<int> third = one.Lease();
            (order == 0 ? ref first : ref order == 1 ? ref second : ref third).Dispose();
            Lease<int> fourth = other.Lease();
            first.Dispose();
            fourth.Dispose();
            second.Dispose();
            third.Dispose();
            Assert.Equal(0, one.RefCount);
            Assert.Equal(0, other.RefCount);
        }
    }

    [Fact]
    public void a_thread_has_as_many_leases_as_it_wants()
    {
        using var buffer = new FixedBuffer<int>(1);
        Assert.Equal(1000, Nested(buffer, 1000));
        Assert.Equal(0, buffer.RefCount);
        var thread = new Thread(() => Nested(buffer, 100));
        thread.Start();
        thread.Join();
        Assert.Equal(0, buffer.RefCount);

        static int Nested(FixedBuffer<int> buffer, int depth)
        {
            if (depth == 0)
            {
                return buffer.RefCount;
            }
            using Lease<int> lease = buffer.Lease();
            return Nested(buffer, depth - 1);
        }
    }
}
