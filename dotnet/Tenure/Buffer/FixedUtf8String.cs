// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Buffers;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Text;
using System.Text.Unicode;

namespace Tenure;

/// <summary>Immutable UTF-8 text in native memory, as a value of 32 bytes. It can be kept in fields of structures that
/// are in native memory themselves.</summary>
/// <remarks>
/// <para>Always well-formed UTF-8. Positions and lengths are in bytes. A substring starts and ends between code points.
/// Comparison, order, search and hash use the bytes, which gives the order of code points; cultures have no
/// effect.</para>
/// <para>All copies are checked against the same handle, as with <see cref="FixedBuffer{T}"/>. A substring is a view:
/// it allocates nothing, cannot be freed, and becomes stale with the text that it was taken from. The empty text is a
/// default value: it owns nothing and is always valid.</para>
/// <para>Threads: any thread, each with its own copy. When threads share a field or an array element of this type and
/// one of them writes it, a read may be torn: the value is four words, so the pointer and the length may not match.
/// Share it under a lock, or share a reference to an object that contains it. The check and the access are two steps,
/// and a free on another thread between them is not detected: hold the text (<see cref="Acquire"/>) where another
/// thread may free it. <see cref="Bytes"/>, <c>fixed</c> and references do not hold the memory.</para>
/// <para>The program must free the memory; <see cref="Leaks"/> lists memory that was not freed.</para>
/// </remarks>
[DebuggerDisplay("{DebuggerText,nq}")]
public readonly partial struct FixedUtf8String
    : IEquatable<FixedUtf8String>, IComparable<FixedUtf8String>, IRetainable, IDisposable, ISpanFormattable, IUtf8SpanFormattable
{
    private const int StringNotFound = -1;

    private static readonly unsafe byte* s_kind = HandleMemory.Kind(nameof(FixedUtf8String));

    // The whole text, and the part of it that this value shows.
    private readonly FixedBuffer<byte> _buffer;
    private readonly int _start;
    private readonly int _length;

    /// <summary>Initializes a new instance with a copy of a text.</summary>
    /// <param name="text">The UTF-16 text.</param>
    /// <exception cref="ArgumentNullException">The text is null.</exception>
    /// <exception cref="ArgumentException">The text contains a lone surrogate.</exception>
    /// <exception cref="OutOfMemoryException">Out of memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing or has a different version.</exception>
    public FixedUtf8String(string text)
        : this((text ?? throw new ArgumentNullException(nameof(text))).AsSpan())
    {
    }

    /// <summary>Initializes a new instance with a copy of a text.</summary>
    /// <param name="text">The UTF-16 text.</param>
    /// <exception cref="ArgumentException">The text contains a lone surrogate.</exception>
    /// <exception cref="OutOfMemoryException">Out of memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing or has a different version.</exception>
    public FixedUtf8String(ReadOnlySpan<char> text)
    {
        if (text.IsEmpty)
        {
            return;
        }
        FixedBuffer<byte> buffer = Allocate(Encoding.UTF8.GetByteCount(text));
        if (Utf8.FromUtf16(text, buffer.Span, out _, out _, replaceInvalidSequences: false) != OperationStatus.Done)
        {
            buffer.Free();
            throw new ArgumentException("The text contains a lone surrogate. Replace it, for example by U+FFFD.", nameof(text));
        }
        _buffer = buffer;
        _length = buffer.Length;
    }

    /// <summary>Initializes a new instance with a copy of a text.</summary>
    /// <param name="text">The UTF-8 text, such as <c>"text"u8</c>.</param>
    /// <exception cref="ArgumentException">The text is not well-formed.</exception>
    /// <exception cref="OutOfMemoryException">Out of memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing or has a different version.</exception>
    public FixedUtf8String(ReadOnlySpan<byte> text)
    {
        if (text.IsEmpty)
        {
            return;
        }
        if (!Utf8.IsValid(text))
        {
            throw new ArgumentException("The text is not well-formed UTF-8. Correct or convert the bytes first.", nameof(text));
        }
        _buffer = Allocate(text.Length);
        text.CopyTo(_buffer.Span);
        _length = text.Length;
    }

    private FixedUtf8String(FixedBuffer<byte> buffer, int start, int length)
    {
        _buffer = buffer;
        _start = start;
        _length = length;
    }

    /// <summary>Gets the empty text.</summary>
    public static FixedUtf8String Empty => default;

    /// <summary>Gets a value that indicates whether the text is empty. Not checked: it costs nothing.</summary>
    public bool IsEmpty => _length == 0;

    /// <summary>Gets the length in bytes. Not checked, so it costs nothing and also works after the memory was
    /// freed.</summary>
    public int Length => _length;

    /// <summary>Gets a value that indicates whether the memory is live; true for the empty text.</summary>
    public bool IsValid => IsEmpty || _buffer.IsValid;

    /// <summary>Gets a value that indicates whether the memory was freed.</summary>
    public bool IsInvalid => !IsValid;

    /// <summary>Gets a value that indicates whether this is a part of another text, which owns the memory.</summary>
    public bool IsView => _length != _buffer.Length;

    /// <summary>Gets the number of holds, 0 to 2^31 - 1; 0 for the empty text.</summary>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public int RefCount => IsEmpty ? 0 : _buffer.RefCount;

    /// <summary>Gets a value that indicates whether the memory is held and therefore cannot be freed.</summary>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public bool IsRetained => RefCount != 0;

    /// <summary>Gets the handle that accesses are checked against, for native code and for listings. A default value
    /// for the empty text.</summary>
    public NativeHandle Handle => _buffer.Handle;

    /// <summary>Gets the UTF-8 bytes. The memory is checked once, when this is called.</summary>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public ReadOnlySpan<byte> Bytes
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => IsEmpty ? default : _buffer.Span.Slice(_start, _length);
    }

    /// <summary>Gets a read-only reference to a byte.</summary>
    /// <param name="index">The zero-based index of the element.</param>
    /// <returns>A reference to the byte, to read.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="IndexOutOfRangeException">The index is negative or not less than the length.</exception>
    public ref readonly byte this[int index]
    {
        get
        {
            if ((uint)index >= (uint)_length)
            {
                ThrowIfInvalid();
                BufferErrors.ThrowIndex(index, _length);
            }
            return ref _buffer[_start + index];
        }
    }

    /// <summary>Throws when the memory was freed.</summary>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public void ThrowIfInvalid() => _ = Bytes;

    /// <summary>Holds the memory: it cannot be freed until <see cref="Release"/> is called. Does nothing for the empty
    /// text.</summary>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public void Acquire()
    {
        if (!IsEmpty)
        {
            _buffer.Acquire();
        }
    }

    /// <summary>Holds the memory. Same as <see cref="Acquire"/>.</summary>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public void Retain() => Acquire();

    /// <summary>Releases one hold.</summary>
    /// <returns>Always true.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    /// <exception cref="InvalidOperationException">All holds were already released.</exception>
    public bool Release() => IsEmpty || _buffer.Release();

    /// <summary>Frees the memory. All copies and all substrings become invalid. A second call throws. The empty text
    /// stays valid.</summary>
    /// <returns>Always true.</returns>
    /// <exception cref="ObjectDisposedException">The memory was already freed, from this copy or another
    /// one.</exception>
    /// <exception cref="InvalidOperationException">The memory is held, and the message gives the number of holds; or
    /// this is a substring. Nothing has changed.</exception>
    public bool Free()
    {
        if (IsView)
        {
            ThrowIfInvalid();
            throw new InvalidOperationException("A substring owns no memory. Free the text that it was taken from.");
        }
        return IsEmpty || _buffer.Free();
    }

    /// <summary>Frees the memory if it is live; does nothing for a substring or freed memory. Throws when the memory is
    /// held, also at the end of a <c>using</c>.</summary>
    /// <exception cref="InvalidOperationException">The memory is held; the message gives the number of holds. Nothing
    /// has changed.</exception>
    public void Dispose()
    {
        if (!IsView)
        {
            _buffer.Dispose();
        }
    }

    /// <summary>Returns a reference to the first byte, for <c>fixed</c> and for native functions. The text is not
    /// zero-terminated.</summary>
    /// <returns>The reference; a null reference for the empty text.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public ref readonly byte GetPinnableReference() =>
        ref IsEmpty ? ref Unsafe.NullRef<byte>() : ref _buffer[_start];

    /// <summary>Enumerates the code points.</summary>
    /// <returns>The enumerator for <c>foreach</c>. It allocates nothing.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public Utf8RuneEnumerator GetEnumerator() => new(Bytes);

    /// <summary>Converts the text to a managed string.</summary>
    /// <returns>A new string.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public override string ToString() => Encoding.UTF8.GetString(Bytes);

    /// <summary>Converts the text to a managed string. The format and the culture are ignored.</summary>
    /// <param name="format">Ignored.</param>
    /// <param name="formatProvider">Ignored.</param>
    /// <returns>A new string.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public string ToString(string? format, IFormatProvider? formatProvider) => ToString();

    /// <summary>Writes the text as UTF-16.</summary>
    /// <param name="destination">The destination.</param>
    /// <param name="charsWritten">The number of characters written; 0 when the destination is too short.</param>
    /// <param name="format">Ignored.</param>
    /// <param name="provider">Ignored.</param>
    /// <returns>False when the destination is too short.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public bool TryFormat(
        Span<char> destination, out int charsWritten, ReadOnlySpan<char> format = default, IFormatProvider? provider = null)
    {
        if (Utf8.ToUtf16(Bytes, destination, out _, out charsWritten, replaceInvalidSequences: false) == OperationStatus.Done)
        {
            return true;
        }
        charsWritten = 0;
        return false;
    }

    /// <summary>Writes the text as UTF-8.</summary>
    /// <param name="utf8Destination">The destination.</param>
    /// <param name="bytesWritten">The number of bytes written; 0 when the destination is too short.</param>
    /// <param name="format">Ignored.</param>
    /// <param name="provider">Ignored.</param>
    /// <returns>False when the destination is too short.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public bool TryFormat(
        Span<byte> utf8Destination, out int bytesWritten, ReadOnlySpan<char> format = default, IFormatProvider? provider = null)
    {
        ReadOnlySpan<byte> bytes = Bytes;
        bytesWritten = bytes.TryCopyTo(utf8Destination) ? bytes.Length : 0;
        return bytesWritten == bytes.Length;
    }

    /// <summary>Gets the UTF-8 bytes. The memory is checked once, when this is called.</summary>
    /// <param name="text">The text.</param>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public static implicit operator ReadOnlySpan<byte>(FixedUtf8String text) => text.Bytes;

    /// <summary>Converts the text to a managed string.</summary>
    /// <param name="text">The text.</param>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public static explicit operator string(FixedUtf8String text) => text.ToString();

    /// <summary>Copies a string to native memory, which the caller must free.</summary>
    /// <param name="text">The text.</param>
    /// <exception cref="ArgumentNullException">The text is null.</exception>
    /// <exception cref="ArgumentException">The text contains a lone surrogate.</exception>
    public static explicit operator FixedUtf8String(string text) => new(text);

    [DebuggerBrowsable(DebuggerBrowsableState.Never)]
    private string DebuggerText
    {
        get
        {
            if (IsInvalid)
            {
                return $"freed text of {Length} bytes";
            }
            try
            {
                Acquire();
            }
            catch (ObjectDisposedException)
            {
                return $"freed text of {Length} bytes";
            }
            string text = '"' + ToString() + '"';
            Release();
            return text;
        }
    }

    private static unsafe FixedBuffer<byte> Allocate(int bytes) =>
        new(BufferView<byte>.Allocate(
            bytes, new BufferOptions { Alignment = 16, Fill = AllocationFill.Unwritten }, s_kind));
}

/// <summary>Enumerates the code points of well-formed UTF-8.</summary>
public ref struct Utf8RuneEnumerator
{
    private ReadOnlySpan<byte> _rest;

    internal Utf8RuneEnumerator(ReadOnlySpan<byte> text)
    {
        _rest = text;
        Current = default;
    }

    /// <summary>Gets the current code point.</summary>
    public Rune Current { get; private set; }

    /// <summary>Returns this enumerator, for use with <c>foreach</c>.</summary>
    /// <returns>A copy at the current position.</returns>
    public readonly Utf8RuneEnumerator GetEnumerator() => this;

    /// <summary>Advances to the next code point.</summary>
    /// <returns>False when there are no more.</returns>
    public bool MoveNext()
    {
        if (_rest.IsEmpty)
        {
            return false;
        }
        Rune.DecodeFromUtf8(_rest, out Rune current, out int taken);
        Current = current;
        _rest = _rest[taken..];
        return true;
    }
}
