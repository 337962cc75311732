// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.IO;
using System.Threading;
using System.Threading.Tasks;

namespace Tenure;

/// <summary>A fixed-length stream over the bytes of a buffer. All operations are in memory, so none of them
/// waits.</summary>
/// <remarks>Each call holds the memory while it copies. Threads: one at a time, as with any stream.</remarks>
internal sealed unsafe class BufferStream(BufferView<byte> view, object? owner) : Stream
{
    private long _position;
    private bool _closed;

    public override bool CanRead => !_closed;

    public override bool CanSeek => !_closed;

    public override bool CanWrite => !_closed;

    public override long Length
    {
        get
        {
            ObjectDisposedException.ThrowIf(_closed, this);
            return view.Length;
        }
    }

    public override long Position
    {
        get
        {
            ObjectDisposedException.ThrowIf(_closed, this);
            return _position;
        }
        set
        {
            ObjectDisposedException.ThrowIf(_closed, this);
            ArgumentOutOfRangeException.ThrowIfNegative(value);
            _position = value;
        }
    }

    public override int Read(Span<byte> buffer)
    {
        ObjectDisposedException.ThrowIf(_closed, this);
        using Hold hold = view.Held();
        int count = (int)long.Clamp(view.Length - _position, 0, buffer.Length);
        new ReadOnlySpan<byte>(view.Pointer + _position, count).CopyTo(buffer);
        _position += count;
        GC.KeepAlive(owner);
        return count;
    }

    public override void Write(ReadOnlySpan<byte> buffer)
    {
        ObjectDisposedException.ThrowIf(_closed, this);
        using Hold hold = view.Held();
        if (buffer.Length > view.Length - _position)
        {
            throw new IOException($"Cannot write {buffer.Length} bytes at position {_position}: the stream has {view.Length} bytes, and a stream over a buffer cannot grow.");
        }
        buffer.CopyTo(new Span<byte>(view.Pointer + _position, buffer.Length));
        _position += buffer.Length;
        GC.KeepAlive(owner);
    }

    public override int Read(byte[] buffer, int offset, int count)
    {
        ValidateBufferArguments(buffer, offset, count);
        return Read(buffer.AsSpan(offset, count));
    }

    public override void Write(byte[] buffer, int offset, int count)
    {
        ValidateBufferArguments(buffer, offset, count);
        Write(buffer.AsSpan(offset, count));
    }

    public override int ReadByte()
    {
        byte value = 0;
        return Read(new Span<byte>(ref value)) == 0 ? -1 : value;
    }

    public override void WriteByte(byte value) => Write(new ReadOnlySpan<byte>(in value));

    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
        cancellationToken.IsCancellationRequested
            ? ValueTask.FromCanceled<int>(cancellationToken)
            : ValueTask.FromResult(Read(buffer.Span));

    public override Task WriteAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        WriteAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
    {
        if (cancellationToken.IsCancellationRequested)
        {
            return ValueTask.FromCanceled(cancellationToken);
        }
        Write(buffer.Span);
        return ValueTask.CompletedTask;
    }

    public override long Seek(long offset, SeekOrigin origin)
    {
        ObjectDisposedException.ThrowIf(_closed, this);
        long from = origin switch
        {
            SeekOrigin.Begin => 0,
            SeekOrigin.Current => _position,
            SeekOrigin.End => view.Length,
            _ => throw new ArgumentException("The origin must be Begin, Current or End.", nameof(origin)),
        };
        long to = unchecked(from + offset);
        if (to < 0)
        {
            throw new IOException($"Cannot seek to {to}: the position must not be before the start of the stream.");
        }
        return _position = to;
    }

    public override void SetLength(long value) => throw new NotSupportedException("Cannot set the length: a stream over a buffer has a fixed length.");

    public override void Flush() => ObjectDisposedException.ThrowIf(_closed, this);

    protected override void Dispose(bool disposing)
    {
        _closed = true;
        base.Dispose(disposing);
    }
}
