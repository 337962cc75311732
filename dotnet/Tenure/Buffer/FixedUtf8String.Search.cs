// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using System.Text;
using System.Text.Unicode;

namespace Tenure;

public readonly partial struct FixedUtf8String
{
    private const int ScratchBytes = 256;

    /// <summary>Where a text first occurs, in bytes.</summary>
    /// <param name="value">What is looked for; the empty text is at 0.</param>
    /// <returns>-1 when it does not occur.</returns>
    /// <exception cref="ObjectDisposedException">One of them was freed.</exception>
    public int IndexOf(FixedUtf8String value) => Bytes.IndexOf(value.Bytes);

    /// <summary>Where some UTF-8 first occurs, in bytes.</summary>
    /// <param name="value">What is looked for; nothing is at 0.</param>
    /// <returns>-1 when it does not occur.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public int IndexOf(ReadOnlySpan<byte> value) => Bytes.IndexOf(value);

    /// <summary>Where a text first occurs, in bytes.</summary>
    /// <param name="value">What is looked for; the empty text is at 0.</param>
    /// <returns>-1 when it does not occur.</returns>
    /// <exception cref="ArgumentNullException">There is no text to look for.</exception>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public int IndexOf(string value)
    {
        using var text = new Encoded(value, stackalloc byte[ScratchBytes]);
        return text.IsWellFormed ? Bytes.IndexOf(text.Bytes) : StringNotFound;
    }

    /// <summary>Where a code point first occurs, in bytes.</summary>
    /// <param name="value">What is looked for.</param>
    /// <returns>-1 when it does not occur.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public int IndexOf(Rune value)
    {
        Span<byte> bytes = stackalloc byte[4];
        return Bytes.IndexOf(bytes[..value.EncodeToUtf8(bytes)]);
    }

    /// <summary>Where a text last occurs, in bytes.</summary>
    /// <param name="value">What is looked for; the empty text is at the end.</param>
    /// <returns>-1 when it does not occur.</returns>
    /// <exception cref="ObjectDisposedException">One of them was freed.</exception>
    public int LastIndexOf(FixedUtf8String value) => Bytes.LastIndexOf(value.Bytes);

    /// <summary>Where some UTF-8 last occurs, in bytes.</summary>
    /// <param name="value">What is looked for; nothing is at the end.</param>
    /// <returns>-1 when it does not occur.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public int LastIndexOf(ReadOnlySpan<byte> value) => Bytes.LastIndexOf(value);

    /// <summary>Where a text last occurs, in bytes.</summary>
    /// <param name="value">What is looked for; the empty text is at the end.</param>
    /// <returns>-1 when it does not occur.</returns>
    /// <exception cref="ArgumentNullException">There is no text to look for.</exception>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public int LastIndexOf(string value)
    {
        using var text = new Encoded(value, stackalloc byte[ScratchBytes]);
        return text.IsWellFormed ? Bytes.LastIndexOf(text.Bytes) : StringNotFound;
    }

    /// <summary>Where a code point last occurs, in bytes.</summary>
    /// <param name="value">What is looked for.</param>
    /// <returns>-1 when it does not occur.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public int LastIndexOf(Rune value)
    {
        Span<byte> bytes = stackalloc byte[4];
        return Bytes.LastIndexOf(bytes[..value.EncodeToUtf8(bytes)]);
    }

    /// <summary>Whether a text occurs.</summary>
    /// <param name="value">What is looked for.</param>
    /// <returns>Whether it does.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public bool Contains(string value) => IndexOf(value) >= 0;

    /// <summary>Whether it begins with a text.</summary>
    /// <param name="value">The text.</param>
    /// <returns>Whether it does.</returns>
    /// <exception cref="ObjectDisposedException">One of them was freed.</exception>
    public bool StartsWith(FixedUtf8String value) => Bytes.StartsWith(value.Bytes);

    /// <summary>Whether it begins with some UTF-8.</summary>
    /// <param name="value">The text.</param>
    /// <returns>Whether it does.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public bool StartsWith(ReadOnlySpan<byte> value) => Bytes.StartsWith(value);

    /// <summary>Whether it begins with a text.</summary>
    /// <param name="value">The text.</param>
    /// <returns>Whether it does.</returns>
    /// <exception cref="ArgumentNullException">There is no text to look for.</exception>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public bool StartsWith(string value)
    {
        using var text = new Encoded(value, stackalloc byte[ScratchBytes]);
        return Bytes.StartsWith(text.Bytes) && text.IsWellFormed;
    }

    /// <summary>Whether it ends with a text.</summary>
    /// <param name="value">The text.</param>
    /// <returns>Whether it does.</returns>
    /// <exception cref="ObjectDisposedException">One of them was freed.</exception>
    public bool EndsWith(FixedUtf8String value) => Bytes.EndsWith(value.Bytes);

    /// <summary>Whether it ends with some UTF-8.</summary>
    /// <param name="value">The text.</param>
    /// <returns>Whether it does.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public bool EndsWith(ReadOnlySpan<byte> value) => Bytes.EndsWith(value);

    /// <summary>Whether it ends with a text.</summary>
    /// <param name="value">The text.</param>
    /// <returns>Whether it does.</returns>
    /// <exception cref="ArgumentNullException">There is no text to look for.</exception>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public bool EndsWith(string value)
    {
        using var text = new Encoded(value, stackalloc byte[ScratchBytes]);
        return Bytes.EndsWith(text.Bytes) && text.IsWellFormed;
    }

    /// <summary>The text from one byte on. Allocates nothing.</summary>
    /// <param name="start">Its first byte, 0 to the length, where a code point begins.</param>
    /// <returns>A view of the same memory.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The start is not inside.</exception>
    /// <exception cref="ArgumentException">It is inside a code point.</exception>
    public FixedUtf8String Substring(int start)
    {
        if ((uint)start > (uint)Length)
        {
            ThrowIfInvalid();
            BufferErrors.ThrowStart(start, Length);
        }
        return Substring(start, Length - start);
    }

    /// <summary>A part of the text. Allocates nothing.</summary>
    /// <param name="start">Its first byte, 0 to the length, where a code point begins.</param>
    /// <param name="length">Its bytes, so that it ends where a code point ends.</param>
    /// <returns>A view of the same memory.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The part is not inside.</exception>
    /// <exception cref="ArgumentException">It begins or ends inside a code point.</exception>
    public FixedUtf8String Substring(int start, int length)
    {
        ReadOnlySpan<byte> bytes = Bytes;
        if ((uint)start > (uint)bytes.Length)
        {
            BufferErrors.ThrowStart(start, bytes.Length);
        }
        if ((uint)length > (uint)(bytes.Length - start))
        {
            BufferErrors.ThrowCount(length, bytes.Length - start);
        }
        if (IsInside(bytes, start))
        {
            throw new ArgumentException($"At byte {start} a code point is in its middle.", nameof(start));
        }
        if (IsInside(bytes, start + length))
        {
            throw new ArgumentException($"At byte {start + length} a code point is in its middle.", nameof(length));
        }
        return length == 0 ? Empty : new FixedUtf8String(_buffer, _start + start, length);
    }

    /// <summary>The text from where another one first occurs. Allocates nothing.</summary>
    /// <param name="value">What is looked for.</param>
    /// <param name="text">A view that begins with it; empty when it does not occur.</param>
    /// <returns>Whether it occurs.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public bool TrySubstringFrom(string value, out FixedUtf8String text)
    {
        int at = IndexOf(value);
        text = at < 0 ? Empty : Substring(at);
        return at >= 0;
    }

    /// <summary>The text up to where another one first occurs. Allocates nothing.</summary>
    /// <param name="value">What is looked for.</param>
    /// <param name="text">A view that ends before it; empty when it does not occur.</param>
    /// <returns>Whether it occurs.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public bool TrySubstringTo(string value, out FixedUtf8String text)
    {
        int at = IndexOf(value);
        text = at < 0 ? Empty : Substring(0, at);
        return at >= 0;
    }

    /// <summary>Whether both have the same code points.</summary>
    /// <param name="other">The other one.</param>
    /// <returns>Whether they have.</returns>
    /// <exception cref="ObjectDisposedException">One of them was freed.</exception>
    public bool Equals(FixedUtf8String other) => Bytes.SequenceEqual(other.Bytes);

    /// <summary>Whether it is this UTF-8.</summary>
    /// <param name="other">The other text.</param>
    /// <returns>Whether it is.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public bool Equals(ReadOnlySpan<byte> other) => Bytes.SequenceEqual(other);

    /// <summary>Whether it is this text.</summary>
    /// <param name="other">The other text; null is none.</param>
    /// <returns>Whether it is.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public bool Equals([NotNullWhen(true)] string? other)
    {
        ReadOnlySpan<byte> bytes = Bytes;
        if (other is null || other.Length > bytes.Length)
        {
            return false;
        }
        using var text = new Encoded(other, stackalloc byte[ScratchBytes]);
        return bytes.SequenceEqual(text.Bytes) && text.IsWellFormed;
    }

    /// <inheritdoc/>
    public override bool Equals(object? obj) =>
        obj is FixedUtf8String text ? Equals(text) : obj is string managed && Equals(managed);

    /// <summary>Of the bytes: the same for equal texts within a process, and not elsewhere.</summary>
    /// <returns>The number.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public override int GetHashCode()
    {
        var hash = new HashCode();
        hash.AddBytes(Bytes);
        return hash.ToHashCode();
    }

    /// <summary>The order by code points.</summary>
    /// <param name="other">The other one.</param>
    /// <returns>Negative when this one comes first, zero when they are equal.</returns>
    /// <exception cref="ObjectDisposedException">One of them was freed.</exception>
    public int CompareTo(FixedUtf8String other) => Bytes.SequenceCompareTo(other.Bytes);

    /// <summary>The order by code points. A surrogate that stands alone counts as U+FFFD.</summary>
    /// <param name="other">The other text; null comes before all.</param>
    /// <returns>Negative when this one comes first, zero when they are equal.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public int CompareTo(string? other)
    {
        if (other is null)
        {
            return 1;
        }
        using var text = new Encoded(other, stackalloc byte[ScratchBytes]);
        int order = Bytes.SequenceCompareTo(text.Bytes);
        return order == 0 && !text.IsWellFormed ? 1 : order;
    }

    /// <summary>Whether both have the same code points.</summary>
    /// <param name="left">One.</param>
    /// <param name="right">The other.</param>
    /// <returns>Whether they are equal.</returns>
    /// <exception cref="ObjectDisposedException">One of them was freed.</exception>
    public static bool operator ==(FixedUtf8String left, FixedUtf8String right) => left.Equals(right);

    /// <summary>Whether they differ.</summary>
    /// <param name="left">One.</param>
    /// <param name="right">The other.</param>
    /// <returns>Whether they differ.</returns>
    /// <exception cref="ObjectDisposedException">One of them was freed.</exception>
    public static bool operator !=(FixedUtf8String left, FixedUtf8String right) => !left.Equals(right);

    /// <summary>Whether both have the same code points.</summary>
    /// <param name="left">One.</param>
    /// <param name="right">The other.</param>
    /// <returns>Whether they are equal.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public static bool operator ==(FixedUtf8String left, string? right) => left.Equals(right);

    /// <summary>Whether they differ.</summary>
    /// <param name="left">One.</param>
    /// <param name="right">The other.</param>
    /// <returns>Whether they differ.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public static bool operator !=(FixedUtf8String left, string? right) => !left.Equals(right);

    /// <summary>Whether the left one comes first, by code points.</summary>
    /// <param name="left">One.</param>
    /// <param name="right">The other.</param>
    /// <returns>Whether it does.</returns>
    /// <exception cref="ObjectDisposedException">One of them was freed.</exception>
    public static bool operator <(FixedUtf8String left, FixedUtf8String right) => left.CompareTo(right) < 0;

    /// <summary>Whether the right one comes first, by code points.</summary>
    /// <param name="left">One.</param>
    /// <param name="right">The other.</param>
    /// <returns>Whether it does.</returns>
    /// <exception cref="ObjectDisposedException">One of them was freed.</exception>
    public static bool operator >(FixedUtf8String left, FixedUtf8String right) => left.CompareTo(right) > 0;

    /// <summary>Whether the right one does not come first, by code points.</summary>
    /// <param name="left">One.</param>
    /// <param name="right">The other.</param>
    /// <returns>Whether it does not.</returns>
    /// <exception cref="ObjectDisposedException">One of them was freed.</exception>
    public static bool operator <=(FixedUtf8String left, FixedUtf8String right) => left.CompareTo(right) <= 0;

    /// <summary>Whether the left one does not come first, by code points.</summary>
    /// <param name="left">One.</param>
    /// <param name="right">The other.</param>
    /// <returns>Whether it does not.</returns>
    /// <exception cref="ObjectDisposedException">One of them was freed.</exception>
    public static bool operator >=(FixedUtf8String left, FixedUtf8String right) => left.CompareTo(right) >= 0;

    /// <summary>Whether a position is inside a code point: at a byte that continues one.</summary>
    private static bool IsInside(ReadOnlySpan<byte> bytes, int at) => at < bytes.Length && (bytes[at] & 0xC0) == 0x80;

    /// <summary>UTF-16 as UTF-8, on the caller's stack when it is short.</summary>
    private ref struct Encoded
    {
        private byte[]? _rented;

        internal Encoded(string text, Span<byte> scratch)
        {
            ArgumentNullException.ThrowIfNull(text);
            int most = Encoding.UTF8.GetMaxByteCount(text.Length);
            if (most > scratch.Length)
            {
                _rented = ArrayPool<byte>.Shared.Rent(most);
                scratch = _rented;
            }
            OperationStatus status = Utf8.FromUtf16(text, scratch, out _, out int written, replaceInvalidSequences: false);
            IsWellFormed = status == OperationStatus.Done;
            Bytes = scratch[..(IsWellFormed ? written : Encoding.UTF8.GetBytes(text, scratch))];
        }

        internal ReadOnlySpan<byte> Bytes { get; }

        /// <summary>False when a surrogate stands alone: nothing that is well-formed is equal to it.</summary>
        internal bool IsWellFormed { get; }

        public void Dispose()
        {
            if (_rented is not null)
            {
                ArrayPool<byte>.Shared.Return(_rented);
                _rented = null;
            }
        }
    }
}
