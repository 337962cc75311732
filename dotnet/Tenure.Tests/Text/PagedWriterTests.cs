// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Buffers;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using Xunit;

namespace Tenure.Tests;

public sealed class PagedWriterTests
{
    private const int Pages = 37;
    private const int Each = 50;
    private const int Bound = 30;

    /// <summary>The document's records: a flag and a number with two decimals, and their place.</summary>
    private sealed class Records : IPageRecords
    {
        internal int LongPage { get; set; } = -1; // its record 7 is longer than its bound

        internal int ThrowingPage { get; set; } = -1;

        internal long Allocated; // by the threads that wrote

        public void Write(ref Utf8Builder text, int page, int index)
        {
            long before = GC.GetAllocatedBytesForCurrentThread();
            text.Append(index % 2 == 0 ? "y"u8 : "n"u8);
            text.AppendFixed(page + index / 8f, 2);
            text.Append($" {page}/{index}\n");
            Interlocked.Add(ref Allocated, GC.GetAllocatedBytesForCurrentThread() - before);
            if (page == LongPage && index >= 7)
            {
                text.Append('x', 10 * index);
            }
            if (page == ThrowingPage)
            {
                throw new TimeoutException();
            }
        }

        public int CountOf(int page) => page % Each;

        internal static string Text(int pages, Func<int, int> countOf) => string.Concat(
            Enumerable.Range(0, pages).SelectMany(page => Enumerable.Range(0, countOf(page)).Select(index =>
                string.Create(CultureInfo.InvariantCulture, $"{(index % 2 == 0 ? "y" : "n")}{Rounded(page + index / 8.0)} {page}/{index}\n"))));

        private static string Rounded(double value) =>
            Math.Round((decimal)value, 2, MidpointRounding.ToEven).ToString("F2", CultureInfo.InvariantCulture);
    }

    private static PagedWriter Reserved(Lifetime lifetime = Lifetime.Persistent)
    {
        var writer = new PagedWriter(lifetime);
        writer.Reserve(Pages, Each, Bound);
        return writer;
    }

    private static string TextOf(PagedWriter writer)
    {
        var text = new MemoryStream();
        writer.WriteTo(text);
        Assert.Equal(text.Length, writer.Length);
        byte[] copy = new byte[writer.Length];
        writer.CopyTo(copy);
        Assert.Equal(text.ToArray(), copy);
        var buffer = new ArrayBufferWriter<byte>();
        writer.WriteTo(buffer);
        Assert.Equal(copy, buffer.WrittenSpan.ToArray());
        return Encoding.UTF8.GetString(copy);
    }

    private static void Backwards(int count, Action<int> body)
    {
        for (int page = count - 1; page >= 0; page--)
        {
            body(page);
        }
    }

    private static void OnThreads(int count, Action<int> body) => Parallel.For(0, count, body);

    [Theory]
    [InlineData(Lifetime.Persistent)]
    [InlineData(Lifetime.TempJob)]
    public void the_text_does_not_depend_on_the_executor(Lifetime lifetime)
    {
        var records = new Records();
        using PagedWriter writer = Reserved(lifetime);
        string wanted = Records.Text(Pages, _ => Each);
        foreach (PageExecutor? executor in new PageExecutor?[] { null, Backwards, OnThreads, OnThreads })
        {
            Assert.True(writer.Write(Pages * Each, records, executor));
            Assert.Equal((wanted, Pages), (TextOf(writer), writer.PageCount));
            Assert.Null(writer.Error);
        }
        Assert.True(writer.Write(Each + 3, records, OnThreads));
        Assert.Equal((Records.Text(2, page => page == 0 ? Each : 3), 2), (TextOf(writer), writer.PageCount));
        Assert.True(writer.Write(0, records));
        Assert.Equal(("", 0), (TextOf(writer), writer.PageCount));
        Assert.True(writer.WritePages(Pages, records, OnThreads));
        Assert.Equal(Records.Text(Pages, page => page % Each), TextOf(writer));
    }

    [Fact]
    public void rounds_allocate_nothing_from_the_collector()
    {
        var records = new Records();
        using PagedWriter writer = Reserved();
        PageExecutor backwards = Backwards;
        for (int round = 0; round < 3; round++)
        {
            Assert.True(writer.Write(Pages * Each, records, backwards));
            writer.WriteTo(Stream.Null);
        }
        writer.Write(Pages * Each, records, OnThreads);
        records.Allocated = 0;
        long before = GC.GetAllocatedBytesForCurrentThread();
        for (int round = 0; round < 10; round++)
        {
            writer.Write(Pages * Each, records, backwards);
            writer.WriteTo(Stream.Null);
        }
        Assert.Equal(0, GC.GetAllocatedBytesForCurrentThread() - before);
        writer.Write(Pages * Each, records, OnThreads);
        Assert.Equal(0, records.Allocated);
    }

    [Fact]
    public void rounds_reuse_the_memory_and_pages_do_not_move()
    {
        var records = new Records();
        using PagedWriter writer = Reserved();
        long held = writer.ReservedBytes;
        Assert.True(held >= Pages * Each * Bound);
        writer.Write(Pages * Each, records, OnThreads);
        nint first = Address(writer, 3);
        writer.Write(Pages * Each, records, Backwards);
        Assert.Equal((first, held), (Address(writer, 3), writer.ReservedBytes));
        writer.Reserve(Pages - 1, Each, Bound);
        Assert.Equal((held, 0), (writer.ReservedBytes, writer.PageCount));
        Assert.Equal(held, writer.Trim());
        Assert.Equal(0, writer.ReservedBytes);
        Assert.Throws<ArgumentOutOfRangeException>(() => writer.Write(1, records));

        static unsafe nint Address(PagedWriter writer, int page)
        {
            fixed (byte* at = writer.Page(page))
            {
                return (nint)at;
            }
        }
    }

    [Fact]
    public void the_first_record_that_exceeds_its_bound_is_named()
    {
        var records = new Records { LongPage = 20 };
        using PagedWriter writer = Reserved();
        foreach (PageExecutor? executor in new PageExecutor?[] { null, Backwards, OnThreads })
        {
            Assert.False(writer.Write(Pages * Each, records, executor));
            Assert.Equal((20, 7, Bound), (writer.Error!.Value.Page, writer.Error.Value.Index, writer.Error.Value.BoundBytes));
            Assert.Equal(70 + "n20.88 20/7\n".Length, writer.Error.Value.NeededBytes);
            Assert.Equal(("", 0), (TextOf(writer), writer.PageCount));
        }
        Assert.Equal("Object 7 of page 20 needs 82 bytes, more than the bound of 30 bytes. Reserve more bytes per object.",
            writer.Error.ToString());
        records.LongPage = Pages - 1;
        Assert.False(writer.WritePages(Pages, records));
        Assert.Equal(Pages - 1, writer.Error!.Value.Page);
        records.LongPage = -1;
        Assert.True(writer.Write(Pages * Each, records));
        Assert.Null(writer.Error);
    }

    [Fact]
    public void nothing_is_written_past_a_page()
    {
        using var writer = new PagedWriter();
        writer.Reserve(3, 4, 10);
        writer.WritePages(3, new Filler(0));
        string third = Encoding.UTF8.GetString(writer.Page(2));
        Assert.False(writer.WritePages(2, new Filler(9000))); // pages 0 and 1 only
        Assert.True(writer.WritePages(0, new Filler(0)));
        writer.WritePages(3, new Filler(0), (count, body) =>
        {
            body(2);
            body(0);
            body(1);
        });
        Assert.Equal(third, Encoding.UTF8.GetString(writer.Page(2)));
        Assert.Equal(40, writer.Page(1).Length);
    }

    private sealed class Filler(int more) : IPageRecords
    {
        public int CountOf(int page) => 4;

        public void Write(ref Utf8Builder text, int page, int index) => text.Append((char)('a' + page), 10 + more);
    }

    [Fact]
    public void executors_and_records_that_break_their_promise_are_named()
    {
        var records = new Records();
        using PagedWriter writer = Reserved();
        Assert.Contains("left page 36 out", Assert.Throws<InvalidOperationException>(
            () => writer.Write(Pages * Each, records, (count, body) => Backwards(count - 1, body))).Message, StringComparison.Ordinal);
        Assert.Contains("called page 37", Assert.Throws<InvalidOperationException>(
            () => writer.Write(Pages * Each, records, (count, body) => body(count))).Message, StringComparison.Ordinal);
        Assert.Throws<ArgumentOutOfRangeException>(() => writer.Write(Pages * Each + 1, records));
        Assert.Throws<ArgumentOutOfRangeException>(() => writer.WritePages(Pages + 1, records));
        Assert.Throws<ArgumentNullException>(() => writer.Write(1, null!));
        Assert.Throws<InvalidOperationException>(() => writer.WritePages(1, new Crowd()));
        Assert.True(writer.Write(Each, new Cheat(clears: true)));
        Assert.Equal(Each - 1, writer.Length); // a record takes back only its own text
        Assert.Throws<InvalidOperationException>(() => writer.Write(Each, new Cheat(clears: false)));
        records.ThrowingPage = 5;
        Assert.Throws<TimeoutException>(() => writer.Write(Pages * Each, records));
        Assert.Equal(0, writer.PageCount);
        Assert.Throws<ArgumentOutOfRangeException>(() => writer.Page(0).Length);
        records.ThrowingPage = -1;
        Assert.True(writer.Write(Pages * Each, records));
        Assert.Throws<ArgumentException>(() => writer.CopyTo(new byte[10]));
        writer.Dispose();
        writer.Dispose();
        Assert.Throws<ObjectDisposedException>(() => writer.Reserve(1, 1, 1));
        Assert.Throws<ArgumentException>(() => new PagedWriter(Lifetime.Temp));
        using var large = new PagedWriter();
        Assert.Throws<ArgumentOutOfRangeException>(() => large.Reserve(1, 1 << 20, 1 << 20));
    }

    [Fact]
    public void a_page_that_outlives_its_write_keeps_the_memory()
    {
        var records = new Waiting();
        var writer = new PagedWriter();
        writer.Reserve(1, 100, 100);
        Action<int>? late = null;
        Thread? thread = null;
        void Deserter(int count, Action<int> body)
        {
            late = body;
            thread = new Thread(() => body(0));
            thread.Start();
            records.Begun.Wait();
        }
        try
        {
            Assert.Contains("still running", Assert.Throws<InvalidOperationException>(
                () => writer.Write(100, records, Deserter)).Message, StringComparison.Ordinal);
            Assert.Contains("still running", Assert.Throws<InvalidOperationException>(() => writer.Trim()).Message, StringComparison.Ordinal);
            Assert.Throws<InvalidOperationException>(() => writer.Reserve(100, 100, 100));
            Assert.Throws<InvalidOperationException>(() => writer.Write(100, records));
            Assert.Contains("after", Assert.Throws<InvalidOperationException>(() => late!(0)).Message, StringComparison.Ordinal);
            writer.Dispose();
            writer.Dispose();
            Assert.Throws<InvalidOperationException>(() => late!(0));
            Assert.NotEqual(0, writer.ReservedBytes);
        }
        finally
        {
            records.MayEnd.Set();
            thread?.Join();
        }
        Assert.Equal(0, writer.ReservedBytes);
        Assert.Throws<ObjectDisposedException>(() => writer.Trim());
        Assert.Throws<InvalidOperationException>(() => late!(0));
    }

    [Fact]
    public void a_writer_that_is_disposed_in_its_own_write_frees_the_memory_at_the_end()
    {
        foreach (PageExecutor? executor in new PageExecutor?[] { null, Backwards, OnThreads })
        {
            var writer = new PagedWriter();
            writer.Reserve(1, 100, 100);
            var records = new Disposing(writer);
            Assert.Throws<ObjectDisposedException>(() => writer.Write(100, records, executor));
            Assert.Equal((10_000, 0), (records.LeastReserved, writer.ReservedBytes));
        }
        using var other = new PagedWriter();
        other.Reserve(1, 100, 100);
        Assert.Throws<InvalidOperationException>(() => other.Write(100, new Filler(0), (count, body) => other.Trim()));
        Assert.Throws<InvalidOperationException>(() => other.Write(100, new Filler(0), (count, body) => other.Write(1, new Filler(0))));
        Assert.True(other.Write(100, new Filler(0)));
    }

    /// <summary>Waits in its first record.</summary>
    private sealed class Waiting : IPageRecords
    {
        internal ManualResetEventSlim Begun { get; } = new();

        internal ManualResetEventSlim MayEnd { get; } = new();

        public void Write(ref Utf8Builder text, int page, int index)
        {
            Begun.Set();
            MayEnd.Wait();
            text.Append("appended late");
        }
    }

    /// <summary>Disposes of the writer that it writes for.</summary>
    private sealed class Disposing(PagedWriter writer) : IPageRecords
    {
        internal long LeastReserved { get; private set; } = long.MaxValue;

        public void Write(ref Utf8Builder text, int page, int index)
        {
            writer.Dispose();
            LeastReserved = Math.Min(LeastReserved, writer.ReservedBytes / 10_000 * 10_000);
            text.Append("text of a disposed writer");
        }
    }

    [Fact]
    public void pages_of_records_without_a_count_are_refused()
    {
        using PagedWriter writer = Reserved();
        Assert.Contains(nameof(IPageRecords.CountOf), Assert.Throws<NotSupportedException>(
            () => writer.WritePages(Pages, new Cheat(clears: true))).Message, StringComparison.Ordinal);
        Assert.Equal(0, writer.PageCount);
    }

    [Fact]
    public void no_record_is_lost_when_write_returns_true()
    {
        using var writer = new PagedWriter();
        writer.Reserve(1, 3, 8);
        Assert.True(writer.Write(2, new Odd(clears: false)));
        Assert.Equal("abcdabcd", Encoding.UTF8.GetString(writer.Page(0)));
        Assert.True(writer.Write(3, new Odd(clears: true)));
        Assert.Equal("record0record1record2", Encoding.UTF8.GetString(writer.Page(0)));
    }

    /// <summary>Clears the text before a record, or writes values that want more room than they need.</summary>
    private sealed class Odd(bool clears) : IPageRecords
    {
        public void Write(ref Utf8Builder text, int page, int index)
        {
            if (!clears)
            {
                text.Append(new Wide());
                return;
            }
            if (index == 1)
            {
                text.Clear();
            }
            text.Append("record" + index.ToString(System.Globalization.CultureInfo.InvariantCulture));
        }
    }

    private readonly struct Wide : IUtf8SpanFormattable
    {
        public bool TryFormat(Span<byte> utf8Destination, out int bytesWritten, ReadOnlySpan<char> format, IFormatProvider? provider)
        {
            bytesWritten = 0;
            if (utf8Destination.Length < 16)
            {
                return false;
            }
            "abcd"u8.CopyTo(utf8Destination);
            bytesWritten = 4;
            return true;
        }
    }

    private sealed class Crowd : IPageRecords
    {
        public int CountOf(int page) => Each + 1;

        public void Write(ref Utf8Builder text, int page, int index) => text.Append('x');
    }

    private sealed class Cheat(bool clears) : IPageRecords
    {
        public void Write(ref Utf8Builder text, int page, int index)
        {
            if (clears && index == 3)
            {
                text.Clear();
            }
            else if (index == 3)
            {
                text = new Utf8Builder(new byte[1000]);
                text.Append('x', 900);
            }
            else
            {
                text.Append('x');
            }
        }
    }
}
