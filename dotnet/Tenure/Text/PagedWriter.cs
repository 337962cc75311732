// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Buffers;
using System.IO;

namespace Tenure;

/// <summary>Runs <paramref name="body"/> once for each page below <paramref name="count"/>, in any order, on any threads,
/// and returns when all calls have returned. A call after that throws <see cref="InvalidOperationException"/>.</summary>
/// <param name="count">The number of pages.</param>
/// <param name="body">Writes the page with the given index.</param>
public delegate void PageExecutor(int count, Action<int> body);

/// <summary>Writes the records of many objects as one UTF-8 text, from many threads at once, without managed allocations
/// and without locks.</summary>
/// <remarks>
/// <para><b>Use it for</b> saving and dumping objects in parallel: each page of objects is written to memory of its own,
/// which does not move. <b>Not for</b> one record: see <see cref="Utf8Builder"/>; records without a bound on their
/// size.</para>
/// <para><b>Memory from</b> a lifetime, in one block, only in <see cref="Reserve"/>: every round reuses the same memory.
/// <b>Cost</b> formatting the records, and some nanoseconds per page. <b>Overhead</b> per object its bound minus its
/// text, most of it never touched; 24 bytes per page.</para>
/// <para><b>Threads</b> the write methods use the threads of their executor; everything else one thread at a time.
/// <b>When full</b> <see cref="Reserve"/> throws <see cref="OutOfMemoryException"/> and changes nothing. A record longer
/// than its bound is named by <see cref="Error"/>; nothing is written past its page.</para>
/// <para><b>Pages that still run</b> when their executor has returned make the write throw
/// <see cref="InvalidOperationException"/>, and so do <see cref="Reserve"/>, <see cref="Trim"/> and the write methods until
/// the last of these pages ends. <see cref="Dispose"/> does not wait: the last page frees the memory.</para>
/// <para>An executor may allocate: <c>Parallel.For</c> does. The writer itself allocates one delegate in its
/// constructor and nothing later.</para>
/// </remarks>
public sealed unsafe partial class PagedWriter : IDisposable
{
    private readonly Action<int> _body;
    private readonly Lifetime _lifetime;
    private byte* _block; // the pages, then their states
    private PageState* _states;
    private nuint _blockBytes;
    private int _pages;
    private int _objectsPerPage;
    private int _bytesPerObject;
    private int _runningPages; // of the round being written
    private long _runningObjects; // negative: the records tell how many
    private int _pageCount; // of the finished text
    private IPageRecords? _records;

    /// <summary>Initializes a writer without memory.</summary>
    /// <param name="lifetime">How long the memory is held: Persistent or TempJob.</param>
    /// <exception cref="ArgumentOutOfRangeException">The lifetime is not valid.</exception>
    /// <exception cref="ArgumentException">The lifetime is Temp, which other threads may not write to.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public PagedWriter(Lifetime lifetime = Lifetime.Persistent)
    {
        CollectionMemory.UnlessHeld(lifetime, "Use TempJob for text of a frame.");
        NativeLibraryCheck.Ensure();
        if (lifetime != Lifetime.Persistent)
        {
            GC.SuppressFinalize(this); // TempJob reports its block
        }
        _lifetime = lifetime;
        _body = WritePage;
    }

    /// <summary>Frees the memory of a persistent writer that was not disposed.</summary>
    ~PagedWriter()
    {
        if (_block != null)
        {
            Reports.TellLeakedOwner(nameof(PagedWriter));
            FreeBlock();
        }
    }

    /// <summary>Gets the number of pages of the text; zero when the last write failed.</summary>
    public int PageCount => _pageCount;

    /// <summary>Gets the length of the text in bytes.</summary>
    public long Length
    {
        get
        {
            long bytes = 0;
            for (int page = 0; page < _pageCount; page++)
            {
                bytes += _states[page].Bytes;
            }
            return bytes;
        }
    }

    /// <summary>Gets the first record that exceeded its bound in the last write; null if there is none.</summary>
    public PageError? Error { get; private set; }

    /// <summary>Gets the number of bytes held.</summary>
    public long ReservedBytes => (long)_blockBytes;

    /// <summary>Reserves the memory of a round, or keeps the current one if it suffices. Discards the text of the last
    /// round.</summary>
    /// <param name="pages">The number of pages.</param>
    /// <param name="objectsPerPage">The largest number of objects of a page.</param>
    /// <param name="bytesPerObject">The size of the longest record in bytes.</param>
    /// <exception cref="ArgumentOutOfRangeException">A number is negative, or a page has more than 2^31 - 1
    /// bytes.</exception>
    /// <exception cref="InvalidOperationException">Pages are still running; nothing has changed.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The writer was disposed of.</exception>
    public void Reserve(int pages, int objectsPerPage, int bytesPerObject)
    {
        ThrowUnlessIdle();
        Throw.IfNegative(pages);
        Throw.IfNegative(objectsPerPage);
        Throw.IfNegative(bytesPerObject);
        if ((long)objectsPerPage * bytesPerObject > int.MaxValue)
        {
            Throw.OutOfRange(nameof(objectsPerPage), objectsPerPage,
                $"A page can have {int.MaxValue} bytes, but would have {(long)objectsPerPage * bytesPerObject}. Reserve more pages of fewer objects.");
        }
        nuint pageBytes = (nuint)objectsPerPage * (nuint)bytesPerObject;
        nuint textBytes = ((nuint)pages * pageBytes + 63) / 64 * 64;
        nuint needed = Math.Max(textBytes + (nuint)pages * (nuint)sizeof(PageState), 1);
        if (needed > _blockBytes)
        {
            void* larger = Native.Allocate(needed, _lifetime);
            FreeBlock();
            _block = (byte*)larger;
            _blockBytes = needed;
        }
        _states = (PageState*)(_block + textBytes);
        _pages = pages;
        _objectsPerPage = objectsPerPage;
        _bytesPerObject = bytesPerObject;
        _pageCount = 0;
        Error = null;
    }

    /// <summary>Writes objects page by page; the last page may have fewer. Discards the text of the last round.</summary>
    /// <param name="objects">The number of objects.</param>
    /// <param name="records">What writes the records. Reuse one object: each round of a structure makes a new
    /// one.</param>
    /// <param name="executor">Runs the pages; null runs them on the calling thread, in order.</param>
    /// <returns>Whether every record kept its bound. If not, <see cref="Error"/> names the first one in page order, and
    /// there is no text.</returns>
    /// <exception cref="ArgumentNullException">The records are null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The number is negative, or greater than reserved.</exception>
    /// <exception cref="InvalidOperationException">The executor left pages out, returned while pages were running, or
    /// called one that does not exist; or pages of an earlier round still run. There is no text.</exception>
    /// <exception cref="ObjectDisposedException">The writer was disposed of.</exception>
    public bool Write(long objects, IPageRecords records, PageExecutor? executor = null)
    {
        Throw.IfNegative(objects);
        if (objects > (long)_pages * _objectsPerPage)
        {
            Throw.OutOfRange(nameof(objects), objects, $"There is room for {(long)_pages * _objectsPerPage} objects. Call Reserve for the largest round.");
        }
        int pages = objects == 0 ? 0 : (int)((objects - 1) / _objectsPerPage) + 1;
        return Run(pages, objects, records, executor);
    }

    /// <summary>Writes pages of different sizes, as <see cref="IPageRecords.CountOf"/> tells. Discards the text of the
    /// last round.</summary>
    /// <param name="pages">The number of pages.</param>
    /// <param name="records">What counts the objects and writes the records. Reuse one object: each round of a structure
    /// makes a new one.</param>
    /// <param name="executor">Runs the pages; null runs them on the calling thread, in order.</param>
    /// <returns>Whether every record kept its bound. If not, <see cref="Error"/> names the first one in page order, and
    /// there is no text.</returns>
    /// <exception cref="ArgumentNullException">The records are null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The number is negative, or greater than reserved.</exception>
    /// <exception cref="InvalidOperationException">As of <see cref="Write"/>, or a page has more objects than
    /// reserved. There is no text.</exception>
    /// <exception cref="NotSupportedException">The records do not implement
    /// <see cref="IPageRecords.CountOf"/>.</exception>
    /// <exception cref="ObjectDisposedException">The writer was disposed of.</exception>
    public bool WritePages(int pages, IPageRecords records, PageExecutor? executor = null)
    {
        Throw.IfNegative(pages);
        if (pages > _pages)
        {
            Throw.OutOfRange(nameof(pages), pages, $"There is room for {_pages} pages. Call Reserve for the largest round.");
        }
        return Run(pages, -1, records, executor);
    }

    /// <summary>Gets the text of a page.</summary>
    /// <param name="page">The index of the page, below <see cref="PageCount"/>.</param>
    /// <returns>The text, valid until the next call that writes, reserves or trims.</returns>
    /// <exception cref="ArgumentOutOfRangeException">There is no such page.</exception>
    public ReadOnlySpan<byte> Page(int page)
    {
        if ((uint)page >= (uint)_pageCount)
        {
            Throw.OutOfRange(nameof(page), page, $"The text has {_pageCount} pages.");
        }
        return new(PageAt(page), _states[page].Bytes);
    }

    /// <summary>Copies the text.</summary>
    /// <param name="destination">Where to; at least <see cref="Length"/> bytes.</param>
    /// <exception cref="ArgumentException">The destination is too short; nothing was copied.</exception>
    public void CopyTo(Span<byte> destination)
    {
        if (destination.Length < Length)
        {
            throw new ArgumentException($"The destination has {destination.Length} bytes, but the text has {Length}.", nameof(destination));
        }
        for (int page = 0; page < _pageCount; page++)
        {
            Page(page).CopyTo(destination);
            destination = destination[_states[page].Bytes..];
        }
    }

    /// <summary>Writes the text to a stream, page by page.</summary>
    /// <param name="stream">The stream.</param>
    /// <exception cref="ArgumentNullException">The stream is null.</exception>
    public void WriteTo(Stream stream)
    {
        ArgumentNullException.ThrowIfNull(stream);
        for (int page = 0; page < _pageCount; page++)
        {
            stream.Write(Page(page));
        }
    }

    /// <summary>Writes the text to a buffer writer, page by page.</summary>
    /// <param name="writer">The buffer writer.</param>
    /// <exception cref="ArgumentNullException">The writer is null.</exception>
    public void WriteTo(IBufferWriter<byte> writer)
    {
        ArgumentNullException.ThrowIfNull(writer);
        for (int page = 0; page < _pageCount; page++)
        {
            writer.Write(Page(page));
        }
    }

    /// <summary>Frees the memory; reserve again before the next round.</summary>
    /// <returns>The number of bytes freed.</returns>
    /// <exception cref="InvalidOperationException">Pages are still running; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The writer was disposed of.</exception>
    public long Trim()
    {
        ThrowUnlessIdle();
        long freed = (long)_blockBytes;
        FreeBlock();
        return freed;
    }

    /// <summary>Frees the memory; while pages run, the last of them frees it when it ends. A second call does
    /// nothing.</summary>
    public void Dispose()
    {
        GC.SuppressFinalize(this);
        CloseForever();
    }

    private byte* PageAt(int page) => _block + (nuint)page * ((nuint)_objectsPerPage * (nuint)_bytesPerObject);

    private bool Run(int pages, long objects, IPageRecords records, PageExecutor? executor)
    {
        ArgumentNullException.ThrowIfNull(records);
        Open();
        try
        {
            _pageCount = 0;
            Error = null;
            new Span<PageState>(_states, pages).Clear();
            _runningPages = pages;
            _runningObjects = objects;
            _records = records;
            if (executor is not null)
            {
                executor(pages, _body);
            }
            else
            {
                for (int page = 0; page < pages; page++)
                {
                    WritePage(page);
                }
            }
            ThrowUnlessAlone();
            return End(pages);
        }
        finally
        {
            Close();
            _records = null;
            Leave();
        }
    }

    /// <summary>Writes a page. Its thread writes to the page's text, and to its state once at the end: in between it
    /// touches no shared cache line.</summary>
    private void WritePage(int page)
    {
        if (!TryEnter())
        {
            throw new InvalidOperationException(
                $"The executor of a PagedWriter called page {page} after its write had ended. It must wait for all calls before it returns.");
        }
        try
        {
            WriteRecords(page);
        }
        finally
        {
            Leave();
        }
    }

    private void WriteRecords(int page)
    {
        IPageRecords? records = _records;
        if (records is null || (uint)page >= (uint)_runningPages)
        {
            throw new InvalidOperationException(
                $"The executor of a PagedWriter called page {page}, but the round has {_runningPages} pages.");
        }
        long before = (long)page * _objectsPerPage;
        int objects = _runningObjects < 0 ? records.CountOf(page) : (int)Math.Min(_runningObjects - before, _objectsPerPage);
        if ((uint)objects > (uint)_objectsPerPage)
        {
            throw new InvalidOperationException(
                $"Page {page} has {objects} objects, but there is room for {_objectsPerPage}. Call Reserve for the largest page.");
        }
        // Read once: other threads write to the cache line of these fields when their pages begin and end.
        byte* begin = PageAt(page);
        byte* at = begin;
        int bound = _bytesPerObject;
        byte* end = at + (nint)objects * bound;
        var state = new PageState { IsWritten = 1 };
        for (int index = 0; index < objects; index++)
        {
            // Its own builder: a record that clears it does not take the records before it back.
            var to = new Utf8Builder(at, (int)(end - at));
            records.Write(ref to, page, index);
            if (!to.IsOver(at))
            {
                throw new InvalidOperationException(
                    $"The record of object {index} of page {page} assigned another builder. A record may only append.");
            }
            // As long as every record keeps its bound, the page has room for all of them.
            if (to.NeededBytes > bound || !to.Fits)
            {
                state.FailedIndex = index;
                state.FailedBytes = to.NeededBytes;
                break;
            }
            at += to.Length;
        }
        state.Bytes = state.FailedBytes == 0 ? (int)(at - begin) : 0;
        _states[page] = state;
    }

    private bool End(int pages)
    {
        for (int page = 0; page < pages; page++)
        {
            if (_states[page].IsWritten == 0)
            {
                throw new InvalidOperationException(
                    $"The executor of a PagedWriter left page {page} out. It must call every page and wait for all calls.");
            }
        }
        for (int page = 0; page < pages; page++)
        {
            if (_states[page].FailedBytes != 0)
            {
                Error = new PageError(page, _states[page].FailedIndex, _states[page].FailedBytes, _bytesPerObject);
                return false;
            }
        }
        _pageCount = pages;
        return true;
    }

    private void FreeBlock()
    {
        CollectionMemory.Free(_block, _blockBytes, _lifetime);
        _block = null;
        _states = null;
        _blockBytes = 0;
        _pages = 0;
        _pageCount = 0;
    }

    /// <summary>The result of a page.</summary>
    private struct PageState
    {
        internal int Bytes; // of the text
        internal int FailedIndex;
        internal long FailedBytes; // that the record needed; zero if all records kept their bound
        internal int IsWritten;
    }
}
