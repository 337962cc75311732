// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Globalization;
using System.Runtime.InteropServices;
using System.Text;
using System.Text.Unicode;
using System.Threading;

namespace Tenure.Bench;

/// <summary>Text part: pages of records, a flag and a number with two decimals each, are written as UTF-8 to memory
/// taken beforehand, by one thread and by two.</summary>
/// <remarks>
/// Every row writes the same bytes, which are compared. Rows that make managed strings convert them to UTF-8 within the
/// time. A builder of strings is reused.
/// </remarks>
internal static unsafe class ShortText
{
    private const int EachPage = 1024;
    private const int Bound = 16; // of a record
    private const int Passes = 5;
    private const int FewPages = 2;

    [ThreadStatic]
    private static StringBuilder? s_builder;

    internal static void Measure(string row, int objects, ShortResult found)
    {
        int pages = Math.Max(objects / EachPage, 1);
        using (Pages few = Pages.Of(row, FewPages))
        {
            HotCode.Settle(few.Write);
        }
        Pages all = Pages.Of(row, pages);
        using var crew = new Crew();
        double count = (double)pages * EachPage;
        found.Add("record", "bool, float, one thread", "ns/object", PassTime.Median(Passes, all.Write) / count);
        all.Check();
        found.Add("record", "bool, float, two threads", "ns/object", PassTime.Median(Passes, () => all.WriteBy(crew.Run)) / count);
        all.Check();
        long before = GC.GetAllocatedBytesForCurrentThread();
        all.Write();
        found.Add("managed memory", "bool, float", "B/object", (GC.GetAllocatedBytesForCurrentThread() - before) / count);
        all.Check();
        ShortPart.AddPeak(ShortPart.Text, found);
        ShortPart.Prove(row, found.Proof, () => all.Show(found.Proof));
        all.Dispose();
    }

    private static bool IsAlive(int page, int index) => ((page ^ index) & 3) != 0;

    /// <summary>A number near a multiple of 1/100, so that every way to round gives the same decimals.</summary>
    private static float HealthOf(int page, int index) => (page * 31 + index * 7) % 100_000 / 100f;

    /// <summary>The records, and where their text goes.</summary>
    private abstract class Pages(int count) : IDisposable
    {
        protected int Count => count;

        internal static Pages Of(string row, int count) => row switch
        {
            "managed" => new Arrays(count, static (page, to) => WithBuilder(page, to)),
            "interpolated-string" => new Arrays(count, static (page, to) => WithStrings(page, to)),
            "utf8-try-write" => new Arrays(count, static (page, to) => WithTryWrite(page, to)),
            "utf8-builder" => new Blocks(count),
            "paged-writer" => new Writer(count),
            _ => throw new InvalidOperationException($"{row} does not take part in {ShortPart.Text}"),
        };

        internal abstract void WriteBy(PageExecutor executor);

        internal abstract void Write();

        internal abstract ReadOnlySpan<byte> TextOf(int page);

        internal abstract void Show(BlockProof proof);

        public void Dispose() => Free();

        protected virtual void Free()
        {
        }

        /// <summary>Compares every page with text that was made in the plainest way.</summary>
        internal void Check()
        {
            for (int page = 0; page < Count; page++)
            {
                var wanted = new StringBuilder();
                for (int index = 0; index < EachPage; index++)
                {
                    wanted.Append(IsAlive(page, index) ? 'y' : 'n').Append(HealthOf(page, index).ToString("F2", CultureInfo.InvariantCulture));
                }
                if (Encoding.UTF8.GetString(TextOf(page)) != wanted.ToString())
                {
                    throw new InvalidOperationException($"The text of page {page} is not that of its records.");
                }
            }
        }
    }

    private delegate int WritePage(int page, Span<byte> to);

    /// <summary>Pages in managed arrays.</summary>
    private sealed class Arrays : Pages
    {
        private readonly byte[][] _pages;
        private readonly int[] _lengths;
        private readonly Action<int> _body;

        internal Arrays(int count, WritePage write)
            : base(count)
        {
            _pages = new byte[count][];
            _lengths = new int[count];
            for (int page = 0; page < count; page++)
            {
                _pages[page] = new byte[EachPage * Bound];
            }
            _body = page => _lengths[page] = write(page, _pages[page]);
        }

        internal override void WriteBy(PageExecutor executor) => executor(Count, _body);

        internal override void Write()
        {
            for (int page = 0; page < Count; page++)
            {
                _body(page);
            }
        }

        internal override ReadOnlySpan<byte> TextOf(int page) => _pages[page].AsSpan(0, _lengths[page]);

        internal override void Show(BlockProof proof) => proof.Show<byte>([new byte[EachPage * Bound], new byte[EachPage * Bound]]);
    }

    /// <summary>Pages in one block of Tenure, each with a Utf8Builder.</summary>
    private sealed class Blocks : Pages
    {
        private readonly byte* _block;
        private readonly int[] _lengths;
        private readonly Action<int> _body;

        internal Blocks(int count)
            : base(count)
        {
            _block = (byte*)Native.Allocate((nuint)count * EachPage * Bound, Lifetime.Persistent);
            _lengths = new int[count];
            _body = page =>
            {
                var text = new Utf8Builder(new Span<byte>(PageAt(page), EachPage * Bound));
                for (int index = 0; index < EachPage; index++)
                {
                    text.Append($"{(IsAlive(page, index) ? 'y' : 'n')}{HealthOf(page, index):F2}");
                }
                _lengths[page] = text.Length;
            };
        }

        internal override void WriteBy(PageExecutor executor) => executor(Count, _body);

        internal override void Write()
        {
            for (int page = 0; page < Count; page++)
            {
                _body(page);
            }
        }

        internal override ReadOnlySpan<byte> TextOf(int page) => new(PageAt(page), _lengths[page]);

        internal override void Show(BlockProof proof) => proof.Show([(nint)_block], (nuint)Count * EachPage * Bound);

        protected override void Free() => Native.Deallocate(_block, Lifetime.Persistent);

        private byte* PageAt(int page) => _block + (nuint)page * (EachPage * Bound);
    }

    private sealed class Writer : Pages, IPageRecords
    {
        private readonly PagedWriter _writer = new();

        internal Writer(int count)
            : base(count)
        {
            _writer.Reserve(count, EachPage, Bound);
        }

        void IPageRecords.Write(ref Utf8Builder text, int page, int index)
        {
            text.Append(IsAlive(page, index) ? 'y' : 'n');
            text.AppendFixed(HealthOf(page, index), 2);
        }

        internal override void WriteBy(PageExecutor executor) => Require(_writer.Write((long)Count * EachPage, this, executor));

        internal override void Write() => Require(_writer.Write((long)Count * EachPage, this));

        internal override ReadOnlySpan<byte> TextOf(int page) => _writer.Page(page);

        internal override void Show(BlockProof proof)
        {
            fixed (byte* first = _writer.Page(0))
            {
                proof.Show([(nint)first], (nuint)_writer.ReservedBytes);
            }
        }

        protected override void Free() => _writer.Dispose();

        private void Require(bool isWritten)
        {
            if (!isWritten)
            {
                throw new InvalidOperationException(_writer.Error.ToString());
            }
        }
    }

    private static int WithBuilder(int page, Span<byte> to)
    {
        StringBuilder text = s_builder ??= new StringBuilder();
        text.Clear();
        for (int index = 0; index < EachPage; index++)
        {
            text.Append(CultureInfo.InvariantCulture, $"{(IsAlive(page, index) ? 'y' : 'n')}{HealthOf(page, index):F2}");
        }
        int written = 0;
        foreach (ReadOnlyMemory<char> chunk in text.GetChunks())
        {
            written += Encoding.UTF8.GetBytes(chunk.Span, to[written..]);
        }
        return written;
    }

    private static int WithStrings(int page, Span<byte> to)
    {
        int written = 0;
        for (int index = 0; index < EachPage; index++)
        {
            string record = string.Create(CultureInfo.InvariantCulture, $"{(IsAlive(page, index) ? 'y' : 'n')}{HealthOf(page, index):F2}");
            written += Encoding.UTF8.GetBytes(record, to[written..]);
        }
        return written;
    }

    private static int WithTryWrite(int page, Span<byte> to)
    {
        int written = 0;
        for (int index = 0; index < EachPage; index++)
        {
            if (!Utf8.TryWrite(
                to[written..], CultureInfo.InvariantCulture, $"{(IsAlive(page, index) ? 'y' : 'n')}{HealthOf(page, index):F2}", out int bytes))
            {
                throw new InvalidOperationException("A record exceeds its bound.");
            }
            written += bytes;
        }
        return written;
    }

    /// <summary>Two threads, this one and another, that take pages until there are none.</summary>
    private sealed class Crew : IDisposable
    {
        private readonly SemaphoreSlim _begin = new(0);
        private readonly SemaphoreSlim _end = new(0);
        private readonly Thread _other;
        private Action<int>? _body;
        private int _count;
        private int _taken;

        internal Crew()
        {
            _other = new Thread(() =>
            {
                for (_begin.Wait(); _body is not null; _begin.Wait())
                {
                    Work();
                    _end.Release();
                }
            });
            _other.Start();
        }

        internal void Run(int count, Action<int> body)
        {
            _body = body;
            _count = count;
            _taken = 0;
            _begin.Release();
            Work();
            _end.Wait();
        }

        public void Dispose()
        {
            _body = null;
            _begin.Release();
            _other.Join();
            _begin.Dispose();
            _end.Dispose();
        }

        private void Work()
        {
            for (int page = Interlocked.Increment(ref _taken) - 1; page < _count; page = Interlocked.Increment(ref _taken) - 1)
            {
                _body!(page);
            }
        }
    }
}
