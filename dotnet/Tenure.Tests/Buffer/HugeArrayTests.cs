// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.IO;
using System.Linq;
using Xunit;

namespace Tenure.Tests;

public sealed class HugeArrayTests
{
    private const long PastSpan = (1L << 31) + 12_345;

    [Fact]
    public void more_than_two_thousand_million_elements_are_filled_indexed_summed_and_sliced()
    {
        Assert.SkipWhen(FreeBytes() < 6L << 30, $"The machine has {FreeBytes() >> 20} MiB of 6144 free.");
        using var huge = new HugeArray<byte>(PastSpan, new BufferOptions { Fill = AllocationFill.Unwritten });
        Assert.Equal(PastSpan, huge.Length);
        huge.Fill(3);
        Assert.Equal(3, huge[PastSpan - 1]);
        Assert.Equal((ulong)PastSpan * 3, huge.VectorSum());
        huge[PastSpan - 1] = 200;
        Assert.Equal(200, huge.VectorMax());
        Assert.False(huge.VectorLessThanAll(200, out long index));
        Assert.Equal(PastSpan - 1, index);
        huge.VectorMultiply(2);
        Assert.Equal(6, huge[(1L << 31) + 5]);
        Assert.Equal([6, unchecked((byte)400)], huge.Slice(PastSpan - 2, 2).ToArray());
        Assert.Throws<InvalidOperationException>(() => huge.CopyToArray());
        Assert.Throws<IndexOutOfRangeException>(() => huge[PastSpan]);

        long elements = 0, sum = 0;
        foreach (Span<byte> span in huge.Spans())
        {
            elements += span.Length;
            sum += (long)VectorMaths.Sum(span);
        }
        Assert.Equal(PastSpan, elements);
        Assert.Equal(((PastSpan - 1) * 6) + unchecked((byte)400), sum);
        Assert.Equal(PastSpan, huge.AsReadOnlySequence().Length);
        Assert.Equal(3, huge.AsMemoryList().Count);

        using Stream stream = huge.AsStream();
        stream.Seek(-2, SeekOrigin.End);
        Assert.Equal(6, stream.ReadByte());
        Assert.Equal(unchecked((byte)400), stream.ReadByte());
        Assert.Equal(-1, stream.ReadByte());
        Assert.Equal(PastSpan, stream.Position);
    }

    [Fact]
    public void a_part_is_copied_in_and_out()
    {
        using var huge = new HugeArray<int>(10);
        huge.CopyFrom(4, [1, 2, 3]);
        int[] part = new int[4];
        huge.CopyTo(3, part);
        Assert.Equal([0, 1, 2, 3], part);
        Assert.Throws<ArgumentOutOfRangeException>(() => huge.CopyFrom(8, [1, 2, 3]));
        Assert.Throws<ArgumentOutOfRangeException>(() => huge.CopyTo(8, part));
    }

    [Fact]
    public void spans_go_through_all_elements_and_hold_the_array()
    {
        using var huge = new HugeArray<int>(10, Enumerable.Range(0, 10).ToArray());
        int next = 0;
        foreach (Span<int> span in huge.Spans(3))
        {
            Assert.Equal(1, huge.RefCount);
            Assert.Equal(next == 9 ? 1 : 3, span.Length);
            foreach (int each in span)
            {
                Assert.Equal(next++, each);
            }
        }
        Assert.Equal(10, next);
        Assert.Equal(0, huge.RefCount);
        Assert.Throws<ArgumentOutOfRangeException>(() => huge.Spans(0));
        Assert.Throws<ArgumentOutOfRangeException>(() => huge.AsReadOnlySequence(-1));
        Assert.Throws<ArgumentOutOfRangeException>(() => huge.AsMemoryList(0));
    }

    [Fact]
    public void a_lease_of_a_part_holds_the_whole()
    {
        using var huge = new HugeArray<int>(10);
        using (Lease<int> lease = huge.Lease(5, 3))
        {
            lease[2] = 8;
            Assert.Throws<InvalidOperationException>(() => huge.Free());
        }
        Assert.Equal(8, huge[7]);
    }

    [Fact]
    public void an_array_of_a_nameless_file_is_zero_and_can_be_used_as_any()
    {
        using var huge = new HugeArray<long>(null, 100_000);
        Assert.Equal(0, huge.VectorSum());
        huge.Fill(2);
        Assert.Equal(200_000, huge.VectorSum());
        huge.Dispose();
        Assert.Throws<ObjectDisposedException>(() => huge[0]);
    }

    [Fact]
    public void an_array_of_a_file_is_there_again_when_the_file_is_mapped_again()
    {
        string path = Path.Combine(Path.GetTempPath(), Path.GetRandomFileName());
        try
        {
            using (var huge = new HugeArray<int>(path, 1000))
            {
                huge[999] = 42;
            }
            Assert.Equal(4000, new FileInfo(path).Length);
            using (var again = new HugeArray<int>(path, 2000))
            {
                Assert.Equal(42, again[999]);
                Assert.Equal(0, again[1999]);
            }
            Assert.Equal(8000, new FileInfo(path).Length);
        }
        finally
        {
            File.Delete(path);
        }
    }

    [Fact]
    public void a_file_that_cannot_be_made_is_told()
    {
        string path = Path.Combine(Path.GetTempPath(), Path.GetRandomFileName(), "none", "file");
        Assert.Contains(path, Assert.Throws<IOException>(() => new HugeArray<int>(path, 10)).Message, StringComparison.Ordinal);
        string missing = Assert.Throws<IOException>(() => new HugeArray<int>(path, 10)).Message;
        string folder = Assert.Throws<IOException>(() => new HugeArray<int>(Path.GetTempPath(), 10)).Message;
        if (!OperatingSystem.IsWindows()) // its words are those of the user's language
        {
            Assert.Contains("No such file or directory", missing, StringComparison.Ordinal);
            Assert.Contains("Is a directory", folder, StringComparison.Ordinal);
        }
        Assert.Throws<ArgumentException>("path", () => new HugeArray<int>("", 10));
        Assert.Throws<ArgumentException>("path", () => new HugeArray<int>(path + "\0", 10));
        Assert.Throws<ArgumentOutOfRangeException>(() => new HugeArray<int>(null, 0));
        Assert.Throws<ArgumentOutOfRangeException>(() => new HugeArray<int>(null, -5));
    }

    [Fact]
    public void an_array_is_made_from_a_collection_and_compared()
    {
        using HugeArray<int> one = [1, 2, 3];
        using var other = new HugeArray<int>(3, 1, 2, 3);
        Assert.True(one.EqualTo(other));
        other[2] = 4;
        Assert.False(one.EqualTo(other));
        Assert.Equal([1, 2, 3], one);
    }

    private static long FreeBytes()
    {
        string? line = File.Exists("/proc/meminfo")
            ? File.ReadLines("/proc/meminfo").FirstOrDefault(each => each.StartsWith("MemAvailable:", StringComparison.Ordinal))
            : null;
        return line is null
            ? GC.GetGCMemoryInfo().TotalAvailableMemoryBytes
            : long.Parse(new string([.. line.Where(char.IsAsciiDigit)]), System.Globalization.CultureInfo.InvariantCulture) << 10;
    }
}
