// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Linq;
using System.Numerics;
using System.Runtime.CompilerServices;
using Xunit;

namespace Tenure.Tests;

public sealed class FixedBufferTests
{
    [Fact]
    public void a_buffer_has_the_size_of_three_pointers() => Assert.Equal(24, Unsafe.SizeOf<FixedBuffer<decimal>>());

    [Fact]
    public void fresh_elements_are_zero_also_in_memory_that_was_used_before()
    {
        for (int i = 0; i < 100; i++)
        {
            var buffer = new FixedBuffer<int>(100);
            Assert.True(buffer.EqualTo(new int[100]));
            buffer.Fill(-1);
            buffer.Free();
        }
    }

    [Theory]
    [InlineData(0, 64)]
    [InlineData(1, 1)]
    [InlineData(16, 16)]
    [InlineData(64, 64)]
    [InlineData(4096, 4096)]
    [InlineData(1 << 21, 1 << 21)]
    public unsafe void the_first_element_is_at_a_multiple_of_the_alignment(int asked, int multiple)
    {
        using var buffer = new FixedBuffer<byte>(100, new BufferOptions { Alignment = asked });
        fixed (byte* first = buffer)
        {
            Assert.Equal(0, (long)first % multiple);
        }
    }

    [Theory]
    [InlineData(-1)]
    [InlineData(3)]
    [InlineData(48)]
    public void an_alignment_that_is_no_power_of_two_is_refused(int alignment) =>
        Assert.Throws<ArgumentException>(() => new FixedBuffer<int>(1, new BufferOptions { Alignment = alignment }));

    [Fact]
    public void a_fill_that_is_none_is_refused() =>
        Assert.Throws<ArgumentException>(() => new FixedBuffer<int>(1, new BufferOptions { Fill = (AllocationFill)7 }));

    [Fact]
    public void a_buffer_is_made_from_an_array_a_span_values_and_a_collection()
    {
        int[] values = [1, 2, 3];
        using var ofArray = new FixedBuffer<int>(values);
        using var ofSpan = new FixedBuffer<int>(values.AsSpan());
        using FixedBuffer<int> ofValues = FixedBuffer.Create(1, 2, 3);
        using FixedBuffer<int> ofCollection = [1, .. values[1..]];
        values[0] = 9;
        foreach (FixedBuffer<int> each in (FixedBuffer<int>[])[ofArray, ofSpan, ofValues, ofCollection])
        {
            Assert.True(each.EqualTo([1, 2, 3]));
        }
        Assert.Throws<ArgumentNullException>(() => new FixedBuffer<int>(null!));
    }

    [Fact]
    public void a_buffer_without_elements_is_valid_and_can_be_used_and_freed()
    {
        var buffer = new FixedBuffer<int>(0);
        Assert.True(buffer.IsValid);
        Assert.Equal(0, buffer.Length);
        Assert.Empty(buffer.CopyToArray());
        Assert.True(buffer.Span.IsEmpty);
        foreach (int each in buffer)
        {
            Assert.Fail($"There is {each}.");
        }
        Assert.Throws<IndexOutOfRangeException>(() => buffer[0]);
        buffer.VectorMultiply(3);
        Assert.Equal(0, buffer.VectorSum());
        Assert.Throws<InvalidOperationException>(() => buffer.VectorMin());
        buffer.Free();
        Assert.Throws<ObjectDisposedException>(() => buffer[0]);
    }

    [Fact]
    public void contents_are_copied_in_and_out()
    {
        using FixedBuffer<int> buffer = [1, 2, 3, 4];
        buffer.CopyFrom([7, 8]);
        Assert.Equal([7, 8, 3, 4], buffer.CopyToArray());
        int[] copy = new int[5];
        buffer.CopyTo(copy);
        Assert.Equal([7, 8, 3, 4, 0], copy);
        using var other = new FixedBuffer<int>(4);
        buffer.CopyTo(other);
        Assert.True(other.EqualTo(copy.AsSpan(0, 4)));
        Assert.Throws<ArgumentException>(() => buffer.CopyTo(new int[3]));
        Assert.Throws<ArgumentException>(() => buffer.CopyFrom(new int[5]));
        Assert.Equal([7, 8, 3, 4], new FixedBuffer<int>(buffer.Span).CopyToArrayAndFree());
    }

    [Fact]
    public void a_slice_shows_the_same_memory()
    {
        using FixedBuffer<int> buffer = [1, 2, 3, 4];
        Span<int> slice = buffer.Slice(1, 2);
        slice[0] = 20;
        Assert.Equal(20, buffer[1]);
        Assert.Equal(2, slice.Length);
        Assert.Equal([3, 4], buffer.Slice(2).ToArray());
        Assert.Equal([4], buffer[^1..].ToArray());
        Assert.Equal(4, buffer[^1]);
    }

    [Fact]
    public void the_same_bytes_are_elements_of_another_type()
    {
        using var buffer = new FixedBuffer<uint>([0x04030201, 0x08070605, 0x0C0B0A09]);
        FixedBuffer<byte> bytes = buffer.Reinterpret<byte>();
        Assert.Equal(Enumerable.Range(1, 12).Select(each => (byte)each), bytes.CopyToArray());
        Assert.Equal(1, buffer.Reinterpret<ulong>().Length);
        Assert.Equal(0x0807060504030201ul, buffer.Read<ulong>(0));
        buffer.Write(1, in buffer.Read<ulong>(0));
        Assert.Equal(0x04030201u, buffer[1]);
        Assert.Throws<IndexOutOfRangeException>(() => buffer.Read<ulong>(2));
        Assert.Throws<IndexOutOfRangeException>(() => buffer.Read<byte>(3));
        Assert.Throws<IndexOutOfRangeException>(() => buffer.Read<byte>(-1));
    }

    [Fact]
    public void elements_are_vectors_without_a_copy()
    {
        int count = Vector<int>.Count;
        using var buffer = new FixedBuffer<int>((3 * count) + 1);
        Span<Vector<int>> vectors = buffer.AcquireVectorWriteSpan();
        Assert.Equal(3, vectors.Length);
        vectors[1] = Vector<int>.One;
        Assert.Equal(count, buffer.VectorSum());
        Assert.Equal(Vector<int>.One, buffer.AcquireVectorSpan()[1]);
        Assert.Equal(Vector<int>.One, buffer.GetVector(count));
        Assert.Equal(2, buffer.RefCount);
        buffer.Release();
        buffer.Release();
        Assert.Throws<InvalidOperationException>(() => buffer.AcquireAsSingleVector());
        Assert.Equal(0, buffer.RefCount);

        using var single = new FixedBuffer<int>(count);
        single.AcquireAsSingleVector() = Vector<int>.One * 5;
        Assert.Equal(5, single[count - 1]);
        single.Release();

        using var guids = new FixedBuffer<Guid>(4);
        Assert.Throws<NotSupportedException>(() => guids.AcquireVectorSpan().Length);
        Assert.Throws<NotSupportedException>(() => guids.GetVector());
    }

    [Fact]
    public void an_acquired_span_holds_the_buffer_until_the_release()
    {
        var buffer = new FixedBuffer<int>(3);
        Span<int> span = buffer.AcquireWriteSpan();
        span[2] = 5;
        Assert.Equal(5, buffer.AcquireSpan()[2]);
        Assert.Equal(12, buffer.AcquireSpan<byte>().Length);
        Assert.Equal(3, buffer.RefCount);
        Assert.Contains("3 times", Assert.Throws<InvalidOperationException>(() => buffer.Free()).Message, StringComparison.Ordinal);
        buffer.Release();
        buffer.Release();
        buffer.Release();
        buffer.Free();
    }

    [Fact]
    public void a_lease_holds_the_buffer_and_shows_its_elements()
    {
        FixedBuffer<int> buffer = [1, 2, 3];
        using (Lease<int> lease = buffer.Lease())
        {
            lease[1] = 20;
            Assert.Equal(3, lease.Length);
            int sum = 0;
            foreach (ref int each in lease)
            {
                sum += each;
            }
            Assert.Equal(24, sum);
            Assert.Throws<InvalidOperationException>(() => buffer.Free());
        }
        buffer.Free();
    }

    [Fact]
    public void a_lease_that_has_ended_shows_nothing_and_may_be_disposed_of_again()
    {
        using var buffer = new FixedBuffer<int>(3);
        Lease<int> lease = buffer.Lease();
        lease.Dispose();
        lease.Dispose();
        Assert.Equal(0, buffer.RefCount);
        bool threw = false;
        try
        {
            _ = lease.Span;
        }
        catch (ObjectDisposedException)
        {
            threw = true;
        }
        Assert.True(threw);
        Assert.Equal(0, lease.Length);
        foreach (int each in lease)
        {
            Assert.Fail($"There is {each}.");
        }
    }

    [Fact]
    public void a_loop_gives_references_to_the_elements()
    {
        using var buffer = new FixedBuffer<int>(5);
        int next = 0;
        foreach (ref int each in buffer)
        {
            each = next++;
        }
        Assert.Equal([0, 1, 2, 3, 4], buffer.CopyToArray());
    }

    [Fact]
    public void a_free_inside_a_loop_over_the_buffer_is_refused()
    {
        FixedBuffer<int> buffer = [1, 2];
        foreach (int each in buffer)
        {
            Assert.Throws<InvalidOperationException>(() => buffer.Free());
        }
        buffer.Free();
    }

    [Fact]
    public void two_are_equal_when_they_show_the_same_memory()
    {
        using FixedBuffer<int> one = [1, 2], other = [1, 2];
        FixedBuffer<int> copy = one;
        Assert.True(one == copy);
        Assert.True(one.Equals((object)copy));
        Assert.Equal(one.GetHashCode(), copy.GetHashCode());
        Assert.True(one != other);
        Assert.True(one.EqualTo(other.Span));
        Assert.True(default(FixedBuffer<int>) == default);
    }

    [Fact]
    public void a_buffer_tells_its_size_and_its_handle()
    {
        using var buffer = new FixedBuffer<long>(5);
        Assert.Equal(40, buffer.Size);
        Assert.Equal(40u, buffer.Handle.Bytes);
        Assert.True(buffer.Handle.IsLive);
        Assert.Equal("FixedBuffer<Int64>[5]", buffer.ToString());
        Assert.Equal("FixedBuffer<Int64>[0] never allocated", default(FixedBuffer<long>).ToString());
    }
}
