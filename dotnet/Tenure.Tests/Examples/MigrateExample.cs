// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Buffers;
using System.Collections.Generic;
using System.IO;
using System.Runtime.InteropServices;
using Xunit;

namespace Tenure.Tests;

/// <summary>The C# lines of docs/guide/migrate.md: the new ones, and the old ones of .NET itself.</summary>
public sealed unsafe class MigrateExample
{
    [Fact]
    public void native_memory_before()
    {
        byte* text = (byte*)NativeMemory.Alloc(100);
        int* zeros = (int*)NativeMemory.AllocZeroed(1000, sizeof(int));
        float* line = (float*)NativeMemory.AlignedAlloc(128, 64);
        text = (byte*)NativeMemory.Realloc(text, 5000);
        Assert.True(zeros[999] == 0 && (nuint)line % 64 == 0);
        NativeMemory.AlignedFree(line); // Free would corrupt the heap on Windows
        NativeMemory.Free(zeros);
        NativeMemory.Free(text);
    }

    [Fact]
    public void native_memory_after()
    {
        byte* text = (byte*)Native.Allocate(100, Lifetime.Persistent);
        int* zeros = (int*)Native.AllocateZeroed(1000 * sizeof(int), Lifetime.Persistent); // multiply in nuint, or checked
        float* line = (float*)Native.Allocate(128, Lifetime.Persistent, alignment: 64);
        text = (byte*)Native.Reallocate(text, 5000);
        Assert.True(zeros[999] == 0 && (nuint)line % 64 == 0);
        Native.Deallocate(line, Lifetime.Persistent); // the same call for every alignment
        Native.Deallocate(zeros, Lifetime.Persistent);
        Native.Deallocate(text, 5000, Lifetime.Persistent); // with the size, where you know it
    }

    [Fact]
    public void array_pool_before()
    {
        byte[] rented = ArrayPool<byte>.Shared.Rent(10_000); // 10,000 or more, with old contents
        try
        {
            rented[0] = 1;
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(rented);
        }
    }

    [Fact]
    public void array_pool_after_inside_a_method()
    {
        using var scope = TempScope.Begin();
        Span<byte> rented = scope.Allocate<byte>(10_000); // exactly 10,000, with old contents
        rented[0] = 1;
        Assert.Equal(10_000, rented.Length);
    }

    [Fact]
    public void array_pool_after_across_await()
    {
        using IMemoryOwner<byte> rented = NativeMemoryPool<byte>.Shared.Rent(10_000); // 10,000 or more, with old contents
        rented.Memory.Span[0] = 1;
        Assert.True(rented.Memory.Length >= 10_000);
    }

    [Fact]
    public void recyclable_memory_stream_after()
    {
        using var message = new NativeBufferWriter<byte>(); // grows in native memory: one piece
        message.Write("header "u8);
        message.Write("body"u8);
        using var file = new MemoryStream();
        file.Write(message.WrittenSpan); // no ToArray, no chain of blocks
        Assert.Equal(11, file.Length);
        message.Clear(); // keeps the memory for the next message
        Assert.Equal(0, message.WrittenCount);
    }

    [Fact]
    public void recyclable_memory_stream_after_for_code_that_takes_a_stream()
    {
        using var buffer = new SafeArray<byte>(4096); // of a fixed length
        using (Stream stream = buffer.AsStream())
        {
            stream.Write("header body"u8);
        }
        Assert.Equal((byte)'h', buffer[0]);
    }

    [Fact]
    public void native_memory_array_after()
    {
        using var votes = new HugeArray<byte>(3_000_000_000L); // zeroed, as there; untouched pages take no memory
        votes[2_999_999_999] = 1;
        Span<byte> part = votes.Slice(2_000_000_000L, 1000);
        IReadOnlyList<Memory<byte>> pieces = votes.AsMemoryList(chunk: 1 << 30);
        ReadOnlySequence<byte> sequence = votes.AsReadOnlySequence(chunk: 1 << 30);
        byte* first = votes.PointerTo(0);
        Assert.True(part.Length == 1000 && pieces.Count == 3 && sequence.Length == votes.Length && first[2_999_999_999] == 1);
        votes.Dispose();
        Assert.Throws<ObjectDisposedException>(() => votes[0]); // there: memory that is no longer yours
    }

    [Fact]
    public void native_memory_array_after_unwritten()
    {
        using var samples = new HugeArray<float>(1_000_000, new BufferOptions { Fill = AllocationFill.Unwritten }); // skipZeroClear
        samples[999_999] = 1;
        Assert.Equal(1_000_000, samples.Length);
    }
}
