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

    /// <summary>Finds the first occurrence of a text.</summary>
    /// <param name="value">The text to find. An empty text is found at 0.</param>
    /// <returns>The position in bytes; -1 when it does not occur.</returns>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    public int IndexOf(FixedUtf8String value) => Bytes.IndexOf(value.Bytes);

    /// <summary>Finds the first occurrence of UTF-8 bytes.</summary>
    /// <param name="value">The bytes to find. An empty span is found at 0.</param>
    /// <returns>The position in bytes; -1 when it does not occur.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public int IndexOf(ReadOnlySpan<byte> value) => Bytes.IndexOf(value);

    /// <summary>Finds the first occurrence of a text.</summary>
    /// <param name="value">The text to find. An empty text is found at 0.</param>
    /// <returns>The position in bytes; -1 when it does not occur.</returns>
    /// <exception cref="ArgumentNullException">The text to find is null.</exception>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public int IndexOf(string value)
    {
        using var text = new Encoded(value, stackalloc byte[ScratchBytes]);
        return text.IsWellFormed ? Bytes.IndexOf(text.Bytes) : StringNotFound;
    }

    /// <summary>Finds the first occurrence of a code point.</summary>
    /// <param name="value">The code point to find.</param>
    /// <returns>The position in bytes; -1 when it does not occur.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public int IndexOf(Rune value)
    {
        Span<byte> bytes = stackalloc byte[4];
        return Bytes.IndexOf(bytes[..value.EncodeToUtf8(bytes)]);
    }

    /// <summary>Finds the last occurrence of a text.</summary>
    /// <param name="value">The text to find. An empty text is found at the end.</param>
    /// <returns>The position in bytes; -1 when it does not occur.</returns>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    public int LastIndexOf(FixedUtf8String value) => Bytes.LastIndexOf(value.Bytes);

    /// <summary>Finds the last occurrence of UTF-8 bytes.</summary>
    /// <param name="value">The bytes to find. An empty span is found at the end.</param>
    /// <returns>The position in bytes; -1 when it does not occur.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public int LastIndexOf(ReadOnlySpan<byte> value) => Bytes.LastIndexOf(value);

    /// <summary>Finds the last occurrence of a text.</summary>
    /// <param name="value">The text to find. An empty text is found at the end.</param>
    /// <returns>The position in bytes; -1 when it does not occur.</returns>
    /// <exception cref="ArgumentNullException">The text to find is null.</exception>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public int LastIndexOf(string value)
    {
        using var text = new Encoded(value, stackalloc byte[ScratchBytes]);
        return text.IsWellFormed ? Bytes.LastIndexOf(text.Bytes) : StringNotFound;
    }

    /// <summary>Finds the last occurrence of a code point.</summary>
    /// <param name="value">The code point to find.</param>
    /// <returns>The position in bytes; -1 when it does not occur.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public int LastIndexOf(Rune value)
    {
        Span<byte> bytes = stackalloc byte[4];
        return Bytes.LastIndexOf(bytes[..value.EncodeToUtf8(bytes)]);
    }

    /// <summary>Determines whether a text occurs in this one.</summary>
    /// <param name="value">The code point to find.</param>
    /// <returns>True if it does; otherwise, false.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public bool Contains(string value) => IndexOf(value) >= 0;

    /// <summary>Determines whether the text starts with another one.</summary>
    /// <param name="value">The text to compare with.</param>
    /// <returns>True if it does; otherwise, false.</returns>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    public bool StartsWith(FixedUtf8String value) => Bytes.StartsWith(value.Bytes);

    /// <summary>Determines whether the text starts with UTF-8 bytes.</summary>
    /// <param name="value">The text to compare with.</param>
    /// <returns>True if it does; otherwise, false.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public bool StartsWith(ReadOnlySpan<byte> value) => Bytes.StartsWith(value);

    /// <summary>Determines whether the text starts with another one.</summary>
    /// <param name="value">The text to compare with.</param>
    /// <returns>True if it does; otherwise, false.</returns>
    /// <exception cref="ArgumentNullException">The text to find is null.</exception>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public bool StartsWith(string value)
    {
        using var text = new Encoded(value, stackalloc byte[ScratchBytes]);
        return Bytes.StartsWith(text.Bytes) && text.IsWellFormed;
    }

    /// <summary>Determines whether the text ends with another one.</summary>
    /// <param name="value">The text to compare with.</param>
    /// <returns>True if it does; otherwise, false.</returns>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    public bool EndsWith(FixedUtf8String value) => Bytes.EndsWith(value.Bytes);

    /// <summary>Determines whether the text ends with UTF-8 bytes.</summary>
    /// <param name="value">The text to compare with.</param>
    /// <returns>True if it does; otherwise, false.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public bool EndsWith(ReadOnlySpan<byte> value) => Bytes.EndsWith(value);

    /// <summary>Determines whether the text ends with another one.</summary>
    /// <param name="value">The text to compare with.</param>
    /// <returns>True if it does; otherwise, false.</returns>
    /// <exception cref="ArgumentNullException">The text to find is null.</exception>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public bool EndsWith(string value)
    {
        using var text = new Encoded(value, stackalloc byte[ScratchBytes]);
        return Bytes.EndsWith(text.Bytes) && text.IsWellFormed;
    }

    /// <summary>Returns the text from a byte position to the end. Allocates nothing.</summary>
    /// <param name="start">The position of the first byte, 0 to the length. It must be at the start of a code
    /// point.</param>
    /// <returns>A view of the same memory.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The start is out of range.</exception>
    /// <exception cref="ArgumentException">The position is inside a code point.</exception>
    public FixedUtf8String Substring(int start)
    {
        if ((uint)start > (uint)Length)
        {
            ThrowIfInvalid();
            BufferErrors.ThrowStart(start, Length);
        }
        return Substring(start, Length - start);
    }

    /// <summary>Returns a part of the text. Allocates nothing.</summary>
    /// <param name="start">The position of the first byte, 0 to the length. It must be at the start of a code
    /// point.</param>
    /// <param name="length">The number of bytes. The part must end at the end of a code point.</param>
    /// <returns>A view of the same memory.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The part is out of range.</exception>
    /// <exception cref="ArgumentException">The part starts or ends inside a code point.</exception>
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
            throw new ArgumentException($"Byte {start} is inside a code point: use the position where one starts.", nameof(start));
        }
        if (IsInside(bytes, start + length))
        {
            throw new ArgumentException($"Byte {start + length} is inside a code point: use the position where one ends.", nameof(length));
        }
        return length == 0 ? Empty : new FixedUtf8String(_buffer, _start + start, length);
    }

    /// <summary>Gets the part of the text that starts at the first occurrence of another one. Allocates
    /// nothing.</summary>
    /// <param name="value">The code point to find.</param>
    /// <param name="text">A view that starts with <paramref name="value"/>; empty when it does not occur.</param>
    /// <returns>True if it occurs; otherwise, false.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public bool TrySubstringFrom(string value, out FixedUtf8String text)
    {
        int at = IndexOf(value);
        text = at < 0 ? Empty : Substring(at);
        return at >= 0;
    }

    /// <summary>Gets the part of the text before the first occurrence of another one. Allocates nothing.</summary>
    /// <param name="value">The code point to find.</param>
    /// <param name="text">A view that ends before <paramref name="value"/>; empty when it does not occur.</param>
    /// <returns>True if it occurs; otherwise, false.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public bool TrySubstringTo(string value, out FixedUtf8String text)
    {
        int at = IndexOf(value);
        text = at < 0 ? Empty : Substring(0, at);
        return at >= 0;
    }

    /// <summary>Determines whether two texts have the same code points.</summary>
    /// <param name="other">The buffer to compare with.</param>
    /// <returns>True if they are equal; otherwise, false.</returns>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    public bool Equals(FixedUtf8String other) => Bytes.SequenceEqual(other.Bytes);

    /// <summary>Determines whether the text equals the given UTF-8 bytes.</summary>
    /// <param name="other">The text to compare with.</param>
    /// <returns>True if it does; otherwise, false.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public bool Equals(ReadOnlySpan<byte> other) => Bytes.SequenceEqual(other);

    /// <summary>Determines whether the text equals a string.</summary>
    /// <param name="other">The text to compare with. Null equals no text.</param>
    /// <returns>True if it does; otherwise, false.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
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

    /// <summary>Computes a hash of the bytes. Equal texts have equal hashes within a process, but not across
    /// processes.</summary>
    /// <returns>The hash code.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public override int GetHashCode()
    {
        var hash = new HashCode();
        hash.AddBytes(Bytes);
        return hash.ToHashCode();
    }

    /// <summary>Compares two texts by code points.</summary>
    /// <param name="other">The buffer to compare with.</param>
    /// <returns>Negative when this text comes first, zero when they are equal, positive otherwise.</returns>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    public int CompareTo(FixedUtf8String other) => Bytes.SequenceCompareTo(other.Bytes);

    /// <summary>Compares the text with a string by code points. A lone surrogate counts as U+FFFD.</summary>
    /// <param name="other">The text to compare with. Null comes before all texts.</param>
    /// <returns>Negative when this text comes first, zero when they are equal, positive otherwise.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
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

    /// <summary>Determines whether two texts have the same code points.</summary>
    /// <param name="left">The first operand.</param>
    /// <param name="right">The second operand.</param>
    /// <returns>True if they are equal; otherwise, false.</returns>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    public static bool operator ==(FixedUtf8String left, FixedUtf8String right) => left.Equals(right);

    /// <summary>Determines whether two texts differ.</summary>
    /// <param name="left">The first operand.</param>
    /// <param name="right">The second operand.</param>
    /// <returns>True if they differ; otherwise, false.</returns>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    public static bool operator !=(FixedUtf8String left, FixedUtf8String right) => !left.Equals(right);

    /// <summary>Determines whether two texts have the same code points.</summary>
    /// <param name="left">The first operand.</param>
    /// <param name="right">The second operand.</param>
    /// <returns>True if they are equal; otherwise, false.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public static bool operator ==(FixedUtf8String left, string? right) => left.Equals(right);

    /// <summary>Determines whether two texts differ.</summary>
    /// <param name="left">The first operand.</param>
    /// <param name="right">The second operand.</param>
    /// <returns>True if they differ; otherwise, false.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public static bool operator !=(FixedUtf8String left, string? right) => !left.Equals(right);

    /// <summary>Determines whether the left text comes before the right one, by code points.</summary>
    /// <param name="left">The first operand.</param>
    /// <param name="right">The second operand.</param>
    /// <returns>True if it does; otherwise, false.</returns>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    public static bool operator <(FixedUtf8String left, FixedUtf8String right) => left.CompareTo(right) < 0;

    /// <summary>Determines whether the left text comes after the right one, by code points.</summary>
    /// <param name="left">The first operand.</param>
    /// <param name="right">The second operand.</param>
    /// <returns>True if it does; otherwise, false.</returns>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    public static bool operator >(FixedUtf8String left, FixedUtf8String right) => left.CompareTo(right) > 0;

    /// <summary>Determines whether the left text comes before the right one or equals it, by code points.</summary>
    /// <param name="left">The first operand.</param>
    /// <param name="right">The second operand.</param>
    /// <returns>True if it does; otherwise, false.</returns>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    public static bool operator <=(FixedUtf8String left, FixedUtf8String right) => left.CompareTo(right) <= 0;

    /// <summary>Determines whether the left text comes after the right one or equals it, by code points.</summary>
    /// <param name="left">The first operand.</param>
    /// <param name="right">The second operand.</param>
    /// <returns>True if it does; otherwise, false.</returns>
    /// <exception cref="ObjectDisposedException">The memory of one of the buffers was freed.</exception>
    public static bool operator >=(FixedUtf8String left, FixedUtf8String right) => left.CompareTo(right) >= 0;

    /// <summary>Determines whether a position is inside a code point, that is, at a continuation byte.</summary>
    private static bool IsInside(ReadOnlySpan<byte> bytes, int at) => at < bytes.Length && (bytes[at] & 0xC0) == 0x80;

    /// <summary>UTF-16 converted to UTF-8, on the caller's stack when it is short.</summary>
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

        /// <summary>Gets a value that indicates whether the text is well-formed. A text with a lone surrogate is not,
        /// and equals no well-formed text.</summary>
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
