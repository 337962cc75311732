// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Buffers;
using System.IO;
using System.Linq;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using Xunit;

namespace Tenure.Tests;

/// <summary>Buffers where .NET wants Memory, IMemoryOwner, MemoryPool, IBufferWriter, ReadOnlySequence and
/// Stream.</summary>
public sealed class BufferIntegrationTests
{
    [Fact]
    public unsafe void a_pin_of_memory_holds_the_buffer_until_it_is_disposed_of()
    {
        FixedBuffer<int> buffer = [1, 2, 3];
        Memory<int> memory = buffer.AsMemory();
        Assert.Equal([1, 2, 3], memory.ToArray());
        using (MemoryHandle pin = memory[1..].Pin())
        {
            Assert.Equal(2, *(int*)pin.Pointer);
            Assert.Equal(1, buffer.RefCount);
            Assert.Throws<InvalidOperationException>(() => buffer.Free());
        }
        buffer.Free();
        Assert.Throws<ObjectDisposedException>(() => memory.Span.Length);
        Assert.Throws<ObjectDisposedException>(() => memory.Pin());
        Assert.Throws<ObjectDisposedException>(() => buffer.AsMemory());
    }

    [Fact]
    public void an_array_is_an_owner_of_memory()
    {
        var array = new SafeArray<int>(3, 1, 2, 3);
        Memory<int> memory = Assert.IsType<IMemoryOwner<int>>(array, exactMatch: false).Memory;
        memory.Span[0] = 9;
        Assert.Equal([9, 2, 3], array);
        array.Dispose();
        Assert.Throws<ObjectDisposedException>(() => memory.Span.Length);
        using var huge = new HugeArray<int>(10);
        huge.AsMemory(5, 2).Span[1] = 7;
        Assert.Equal(7, huge[6]);
    }

    [Fact]
    public void a_pool_gives_at_least_what_is_asked_for_and_refuses_the_rest()
    {
        using var pool = new NativeMemoryPool<long>();
        for (int size = 0; size < 300; size++)
        {
            using IMemoryOwner<long> owner = pool.Rent(size);
            Assert.True(owner.Memory.Length >= int.Max(size, 1));
            Assert.True(owner.Memory.Span.IndexOfAnyExcept(0) < 0);
            owner.Memory.Span.Fill(-1);
        }
        using IMemoryOwner<long> usual = pool.Rent();
        Assert.Equal(512, usual.Memory.Length);
        Assert.Throws<ArgumentOutOfRangeException>(() => pool.Rent(-2));
        Assert.Throws<ArgumentOutOfRangeException>(() => pool.Rent(pool.MaxBufferSize + 1));
        Assert.Throws<ArgumentOutOfRangeException>(() => new NativeMemoryPool<long>(-1));
    }

    [Fact]
    public void what_a_pool_keeps_is_freed_by_a_trim_and_by_its_end()
    {
        using var leaks = new LeakScope();
        var pool = new NativeMemoryPool<byte>(retainedBytes: 5000);
        IMemoryOwner<byte>[] owners = [.. Enumerable.Range(0, 4).Select(_ => pool.Rent(2048))];
        foreach (IMemoryOwner<byte> owner in owners)
        {
            owner.Dispose();
            owner.Dispose();
        }
        Assert.Equal(4096, pool.RetainedBytes);
        Assert.Equal(4096, pool.Trim());
        Assert.Equal(0, pool.RetainedBytes);
        IMemoryOwner<byte> late = pool.Rent(100);
        pool.Dispose();
        Assert.Throws<ObjectDisposedException>(() => pool.Rent(1));
        late.Memory.Span[0] = 1;
        late.Dispose();
        Assert.Equal(0, pool.RetainedBytes);
        NativeMemoryPool<byte>.Shared.Dispose();
        NativeMemoryPool<byte>.Shared.Rent(1).Dispose();
        NativeMemoryPool<byte>.Shared.Trim();
    }

    [Fact]
    public void a_rental_that_is_pinned_is_not_given_back_and_one_that_was_shows_nothing()
    {
        using var pool = new NativeMemoryPool<int>();
        IMemoryOwner<int> owner = pool.Rent(20);
        Memory<int> memory = owner.Memory;
        using (memory.Pin())
        {
            Assert.Throws<InvalidOperationException>(owner.Dispose);
            Assert.Equal(0, pool.RetainedBytes);
        }
        owner.Dispose();
        using IMemoryOwner<int> next = pool.Rent(20);
        Assert.Throws<ObjectDisposedException>(() => memory.Span.Length);
        Assert.Throws<ObjectDisposedException>(() => memory.Pin());
        Assert.Throws<ObjectDisposedException>(() => owner.Memory);
    }

    [Fact]
    public void a_pool_serves_many_threads()
    {
        using var pool = new NativeMemoryPool<int>();
        Parallel.For(0, 2000, new ParallelOptions { CancellationToken = TestContext.Current.CancellationToken }, i =>
        {
            using IMemoryOwner<int> owner = pool.Rent(1 + (i % 100));
            Span<int> span = owner.Memory.Span;
            span.Fill(i);
            Thread.Yield();
            Assert.True(span.IndexOfAnyExcept(i) < 0);
        });
        Assert.True(pool.RetainedBytes > 0);
    }

    [Fact]
    public void a_writer_grows_and_keeps_what_was_written()
    {
        using var writer = new NativeBufferWriter<byte>(0);
        for (int i = 0; i < 1000; i++)
        {
            Span<byte> room = writer.GetSpan(3);
            Assert.True(room.Length >= 3);
            room[0] = (byte)i;
            room[1] = 1;
            writer.Advance(2);
        }
        Assert.Equal(2000, writer.WrittenCount);
        Assert.Equal((byte)231, writer.WrittenSpan[2 * 999]);
        Assert.Equal(1, writer.WrittenMemory.Span[1]);
        writer.GetMemory(5).Span[0] = 7;
        writer.Advance(1);
        Assert.Equal(7, writer.WrittenSpan[2000]);
        writer.Clear();
        Assert.Equal(0, writer.WrittenCount);
        Assert.Throws<ArgumentOutOfRangeException>(() => writer.GetSpan(-1).Length);
        Assert.Throws<ArgumentOutOfRangeException>(() => new NativeBufferWriter<int>(-1));
        using (writer.GetMemory(1).Pin())
        {
            Assert.Throws<InvalidOperationException>(() => writer.GetSpan(writer.Capacity + 1).Length);
        }
        writer.Dispose();
        writer.Dispose();
        Assert.Throws<ObjectDisposedException>(() => writer.GetSpan().Length);
        Assert.Throws<ObjectDisposedException>(() => writer.WrittenSpan.Length);
        Assert.Throws<ObjectDisposedException>(() => writer.Advance(0));
    }

    [Fact]
    public void text_is_written_through_a_writer()
    {
        using var writer = new NativeBufferWriter<byte>();
        Encoding.UTF8.GetBytes("añb".AsSpan(), writer);
        Assert.Equal("añb"u8.ToArray(), writer.WrittenSpan.ToArray());
    }

    [Fact]
    public void a_stream_reads_writes_and_seeks_inside_its_part()
    {
        using var buffer = new FixedBuffer<int>(5);
        using (Stream stream = buffer.AsStream(4, 8))
        {
            stream.Write([1, 0, 0, 0, 2]);
            Assert.Equal(5, stream.Position);
            stream.WriteByte(1);
            Assert.Throws<IOException>(() => stream.Write([1, 2, 3]));
            Assert.Equal(6, stream.Position);
            Assert.Equal(7, stream.Seek(-1, SeekOrigin.End));
            Assert.Equal(0, stream.ReadByte());
            Assert.Equal(-1, stream.ReadByte());
            stream.Position = 100;
            Assert.Equal(0, stream.Read(new byte[3], 0, 3));
            Assert.Throws<IOException>(() => stream.WriteByte(1));
            Assert.Throws<IOException>(() => stream.Seek(-1, SeekOrigin.Begin));
            Assert.Throws<ArgumentOutOfRangeException>(() => stream.Position = -1);
            Assert.Throws<NotSupportedException>(() => stream.SetLength(3));
            Assert.Equal(0, stream.Seek(0, SeekOrigin.Begin));
            using var copy = new MemoryStream();
            stream.CopyTo(copy);
            Assert.Equal([1, 0, 0, 0, 2, 1, 0, 0], copy.ToArray());
            stream.Dispose();
            Assert.Throws<ObjectDisposedException>(() => stream.ReadByte());
            Assert.False(stream.CanRead);
        }
        Assert.Equal([0, 1, 258, 0, 0], buffer.CopyToArray());
        Assert.Throws<ArgumentOutOfRangeException>(() => buffer.AsStream(21, 0));
        Assert.Throws<ArgumentOutOfRangeException>(() => buffer.AsStream(0, -1));
    }

    [Fact]
    public async Task a_stream_of_freed_memory_throws()
    {
        var array = new SafeArray<byte>(4, 1, 2, 3, 4);
        Stream stream = array.AsStream();
        byte[] read = new byte[2];
        CancellationToken token = TestContext.Current.CancellationToken;
        Assert.Equal(2, await stream.ReadAsync(read, token));
        await stream.WriteAsync(read, token);
        Assert.Equal([1, 2, 1, 2], array);
        array.Dispose();
        await Assert.ThrowsAsync<ObjectDisposedException>(async () => await stream.ReadExactlyAsync(read, token));
        Assert.Throws<ObjectDisposedException>(() => stream.Write(read));
    }
}
