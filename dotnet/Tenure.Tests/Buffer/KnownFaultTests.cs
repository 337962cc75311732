// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Buffers;
using System.IO;
using System.Linq;
using System.Numerics;
using System.Threading;
using System.Threading.Tasks;
using Xunit;

namespace Tenure.Tests;

/// <summary>What was found wrong in libraries of this kind, jemalloc.NET and NativeMemoryArray: each stays right
/// here.</summary>
public sealed class KnownFaultTests
{
    [Fact]
    public void the_indexer_of_a_freed_buffer_throws_and_reads_nothing()
    {
        var buffer = new FixedBuffer<int>(10);
        buffer.Free();
        Assert.ThrowsAny<InvalidOperationException>(() => buffer[0] = 1);
        Assert.Throws<ObjectDisposedException>(() => buffer[0]);
    }

    [Fact]
    public void the_indexer_of_a_live_buffer_checks_its_bounds()
    {
        using var buffer = new FixedBuffer<int>(10);
        Assert.Throws<IndexOutOfRangeException>(() => buffer[10]);
        Assert.Throws<IndexOutOfRangeException>(() => buffer[-1]);
    }

    [Fact]
    public void a_disposed_huge_array_throws_from_every_member_that_reaches_memory()
    {
        var huge = new HugeArray<int>(10);
        huge.Dispose();
        Assert.Throws<ObjectDisposedException>(() => huge[0]);
        Assert.Throws<ObjectDisposedException>(() => huge.Fill(1));
        Assert.Throws<ObjectDisposedException>(() => huge.Slice(0, 1).Length);
        Assert.Throws<ObjectDisposedException>(() => huge.CopyToArray());
        Assert.Throws<ObjectDisposedException>(() => huge.Acquire());
    }

    [Fact]
    public void the_vector_operations_of_a_safe_array_reach_every_element()
    {
        for (int length = 0; length < 200; length++)
        {
            using var array = new SafeArray<int>(length);
            array.VectorFill(9);
            array.VectorMultiply(4);
            array.VectorSqrt();
            Assert.All(array, each => Assert.Equal(6, each));
        }
    }

    [Fact]
    public void a_slice_of_a_huge_array_begins_where_it_is_said_to_and_compares_all_of_it()
    {
        using var huge = new HugeArray<int>(5, 10, 11, 12, 13, 14);
        Assert.Equal([12, 13], huge.Slice(2, 2).ToArray());
        Assert.True(huge.EqualTo([10, 11, 12, 13, 14]));
        Assert.False(huge.EqualTo([10, 11, 12, 13, 15]));
        Assert.False(huge.EqualTo([10, 11, 12, 13]));
        Assert.Throws<IndexOutOfRangeException>(() => huge.GetVector(6 - Vector<int>.Count));
    }

    [Fact]
    public void less_than_all_answers_true_when_all_are_less_and_tells_the_first_that_is_not()
    {
        using var buffer = new FixedBuffer<int>(1003);
        buffer.Fill(5);
        Assert.True(buffer.VectorLessThanAll(6, out int index));
        Assert.Equal(-1, index);
        buffer[1001] = 6;
        Assert.False(buffer.VectorLessThanAll(6, out index));
        Assert.Equal(1001, index);
    }

    [Fact]
    public void a_square_root_of_integers_is_a_number_in_the_tail_too()
    {
        using var buffer = new FixedBuffer<int>(Vector<int>.Count + 1);
        buffer.Fill(144);
        buffer.VectorSqrt();
        Assert.All(buffer, each => Assert.Equal(12, each));
    }

    [Fact]
    public void a_multiplication_wraps_in_the_tail_as_in_the_vectors()
    {
        using var buffer = new FixedBuffer<byte>((2 * Vector<byte>.Count) + 1);
        buffer.Fill(200);
        checked
        {
            buffer.VectorMultiply((byte)200);
        }
        Assert.All(buffer, each => Assert.Equal(unchecked((byte)40_000), each));
    }

    [Fact]
    public async Task the_count_of_what_was_freed_throws_and_blocks_nobody()
    {
        var buffer = new FixedBuffer<int>(1);
        buffer.Free();
        Assert.Throws<ObjectDisposedException>(() => buffer.RefCount);
        Assert.Throws<ObjectDisposedException>(() => buffer.IsRetained);
        CancellationToken token = TestContext.Current.CancellationToken;
        Assert.True(await Task.Run(() => new FixedBuffer<int>(1).Free(), token).WaitAsync(TimeSpan.FromSeconds(30), token));
    }

    [Fact]
    public void a_read_only_buffer_has_nothing_that_writes()
    {
        using var buffer = new FixedBuffer<int>([1, 2, 3]);
        ReadOnlyFixedBuffer<int> only = buffer.AsReadOnly();
        Assert.Equal(2, only[1]);
        Assert.True(typeof(ReadOnlyFixedBuffer<int>).GetProperties().Where(each => each.GetIndexParameters().Length == 1)
            .All(each => each.PropertyType == typeof(int)
                || each.GetMethod!.ReturnParameter.GetRequiredCustomModifiers().Any(modifier => modifier.Name == "InAttribute")));
        Assert.DoesNotContain(typeof(ReadOnlyFixedBuffer<int>).GetMethods(), each => each.Name is "Free" or "Fill" or "Dispose" or "Write");
    }

    [Fact]
    public void an_enumerator_releases_what_it_acquires()
    {
        using var buffer = new FixedBuffer<int>([1, 2, 3]);
        int held = 0;
        foreach (int each in buffer)
        {
            held = buffer.RefCount;
        }
        Assert.Equal(1, held);
        Assert.Equal(0, buffer.RefCount);
        Assert.Equal(6, buffer.Sum());
        Assert.Equal(0, buffer.RefCount);
    }

    [Fact]
    public void an_object_has_one_count_and_may_be_disposed_of_twice()
    {
        var array = new SafeArray<int>(3);
        array.Acquire();
        Assert.Equal(1, array.RefCount);
        Assert.Throws<InvalidOperationException>(array.Dispose);
        Assert.True(array.IsValid);
        array.Release();
        Assert.Equal(0, array.RefCount);
        array.Dispose();
        array.Dispose();
        Assert.Throws<ObjectDisposedException>(() => array.Free());
    }

    [Fact]
    public void the_empty_string_is_empty_and_valid()
    {
        Assert.True(FixedUtf8String.Empty.IsEmpty);
        Assert.True(FixedUtf8String.Empty.IsValid);
        Assert.Equal(0, FixedUtf8String.Empty.Length);
        Assert.True(FixedUtf8String.Empty == "");
        Assert.True(new FixedUtf8String("").IsEmpty);
        Assert.Equal("", FixedUtf8String.Empty.ToString());
    }

    [Fact]
    public void a_substring_allocates_nothing()
    {
        using var text = new FixedUtf8String("hello, world");
        using var scope = new LeakScope();
        long before = GC.GetAllocatedBytesForCurrentThread();
        FixedUtf8String part = text.Substring(7);
        Assert.Equal(before, GC.GetAllocatedBytesForCurrentThread());
        Assert.Empty(scope.Live());
        Assert.True(part == "world");
        Assert.Equal(text.Handle.Entry, part.Handle.Entry);
    }

    [Fact]
    public void an_access_allocates_nothing()
    {
        using var buffer = new FixedBuffer<long>(64);
        using var array = new SafeArray<long>(64);
        using var huge = new HugeArray<long>(64);
        Use(buffer, array, huge);
        long before = GC.GetAllocatedBytesForCurrentThread();
        Use(buffer, array, huge);
        Assert.Equal(before, GC.GetAllocatedBytesForCurrentThread());

        static long Use(FixedBuffer<long> buffer, SafeArray<long> array, HugeArray<long> huge)
        {
            long sum = 0;
            for (int i = 0; i < buffer.Length; i++)
            {
                sum += buffer[i] + array[i] + huge[i];
            }
            foreach (ref long each in buffer)
            {
                each = 1;
            }
            foreach (long each in array)
            {
                sum += each;
            }
            foreach (long each in huge)
            {
                sum += each;
            }
            foreach (Span<long> span in huge.Spans(7))
            {
                sum += span[0];
            }
            using Lease<long> lease = buffer.Lease();
            buffer.Fill(2);
            buffer.VectorMultiply(2);
            buffer.Acquire();
            buffer.Release();
            return sum + buffer.VectorSum() + lease.Span[3];
        }
    }

    [Fact]
    public void a_sequence_of_exact_multiples_has_no_segment_too_many()
    {
        using var huge = new HugeArray<int>(12, Enumerable.Range(0, 12).ToArray());
        for (int chunk = 1; chunk <= 13; chunk++)
        {
            ReadOnlySequence<int> sequence = huge.AsReadOnlySequence(chunk);
            Assert.Equal(12, sequence.Length);
            Assert.Equal(Enumerable.Range(0, 12), sequence.ToArray());
            int segments = 0;
            foreach (ReadOnlyMemory<int> segment in sequence)
            {
                Assert.False(segment.IsEmpty);
                segments++;
            }
            Assert.Equal((12 + chunk - 1) / chunk, segments);
        }
        using var none = new HugeArray<int>(0);
        Assert.True(none.AsReadOnlySequence(4).IsEmpty);
    }

    [Fact]
    public void a_stream_that_begins_later_does_not_end_later()
    {
        using var huge = new HugeArray<byte>(10, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
        using Stream stream = huge.AsStream(4, 3);
        Assert.Equal(3, stream.Length);
        byte[] read = new byte[10];
        Assert.Equal(3, stream.Read(read));
        Assert.Equal([4, 5, 6], read[..3]);
        Assert.Equal(0, stream.Read(read));
        Assert.Throws<ArgumentOutOfRangeException>(() => huge.AsStream(4, 7));
    }

    [Fact]
    public void a_writer_does_not_advance_past_its_end()
    {
        using var writer = new NativeBufferWriter<int>(4);
        Assert.Throws<ArgumentOutOfRangeException>(() => writer.Advance(5));
        Assert.Throws<ArgumentOutOfRangeException>(() => writer.Advance(-1));
        writer.Advance(4);
        Assert.Equal(4, writer.WrittenCount);
    }

    [Fact]
    public void a_debugger_that_looks_at_freed_memory_reads_none()
    {
        var buffer = new FixedBuffer<int>([1, 2]);
        Assert.Equal([1, 2], new FixedBufferDebugView<int>(buffer).Items);
        buffer.Free();
        Assert.Empty(new FixedBufferDebugView<int>(buffer).Items);
        Assert.Equal("FixedBuffer<Int32>[2] freed", buffer.ToString());
        var array = new SafeArray<int>(2);
        array.Dispose();
        Assert.Empty(new OwnedBufferDebugView<int>(array).Items);
        Assert.Equal("SafeArray<Int32>[2] freed", array.ToString());
    }

    [Fact]
    public void a_pool_rents_again_what_was_given_back()
    {
        using var pool = new NativeMemoryPool<byte>();
        IMemoryOwner<byte> first = pool.Rent(1000);
        nint address;
        using (MemoryHandle pin = first.Memory.Pin())
        {
            unsafe
            {
                address = (nint)pin.Pointer;
            }
        }
        first.Dispose();
        Assert.Equal(1024, pool.RetainedBytes);
        using IMemoryOwner<byte> second = pool.Rent(1024);
        using MemoryHandle again = second.Memory.Pin();
        unsafe
        {
            Assert.Equal(address, (nint)again.Pointer);
        }
        Assert.Throws<ObjectDisposedException>(() => first.Memory);
    }

    [Fact]
    public async Task threads_do_not_wait_for_each_other_to_use_their_own_buffers()
    {
        // What a table behind one lock would make of it is a hang of the second thread while the first one sits in a
        // free.
        using var started = new ManualResetEventSlim();
        using var finish = new ManualResetEventSlim();
        CancellationToken token = TestContext.Current.CancellationToken;
        Task first = Task.Run(() =>
        {
            var mine = new FixedBuffer<int>(1);
            using (mine.Lease())
            {
                started.Set();
                finish.Wait(token);
            }
            mine.Free();
        }, token);
        started.Wait(token);
        var buffer = new FixedBuffer<int>(1000);
        buffer[999] = 1;
        buffer.Free();
        finish.Set();
        await first.WaitAsync(TimeSpan.FromSeconds(30), token);
    }
}
