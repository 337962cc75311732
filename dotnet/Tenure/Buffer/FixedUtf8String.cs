// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Buffers;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Text;
using System.Text.Unicode;

namespace Tenure;

/// <summary>Text in native memory as UTF-8, as a value: immutable, 32 bytes, for fields of structures that lie in
/// native memory themselves.</summary>
/// <remarks>
/// <para>Always well-formed UTF-8. Positions and lengths are in bytes; a substring begins and ends between code points.
/// Comparison, order, search and hash go by bytes, which is the order of code points: no culture has a part in
/// them.</para>
/// <para>All copies are checked against the same handle, as with <see cref="FixedBuffer{T}"/>. A substring is a view:
/// it allocates nothing, cannot be freed, and goes stale with the text that it was taken from. The empty text is a
/// default value: it owns nothing and is always valid.</para>
/// <para>Threads: any, each with a copy of its own. A field or an array element that several threads share, one of them
/// writing, may be read torn: it is four words, and then pointer and length do not belong together. Share it under a
/// lock, or share a reference to an object that has it. The check and the access are two steps, and a free on another
/// thread between them is not seen: hold it (<see cref="Acquire"/>) where another thread may free it.
/// <see cref="Bytes"/>, <c>fixed</c> and references do not hold the memory.</para>
/// <para>Nobody frees it but the program; <see cref="Leaks"/> lists what is left.</para>
/// </remarks>
[DebuggerDisplay("{DebuggerText,nq}")]
public readonly partial struct FixedUtf8String
    : IEquatable<FixedUtf8String>, IComparable<FixedUtf8String>, IRetainable, IDisposable, ISpanFormattable, IUtf8SpanFormattable
{
    private const int StringNotFound = -1;

    private static readonly unsafe byte* s_kind = HandleMemory.Kind(nameof(FixedUtf8String));

    // The whole text, and which part of it this is.
    private readonly FixedBuffer<byte> _buffer;
    private readonly int _start;
    private readonly int _length;

    /// <summary>A copy of a text.</summary>
    /// <param name="text">UTF-16.</param>
    /// <exception cref="ArgumentNullException">There is no text.</exception>
    /// <exception cref="ArgumentException">A surrogate stands alone.</exception>
    /// <exception cref="OutOfMemoryException">The memory was refused.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, or is another version's.</exception>
    public FixedUtf8String(string text)
        : this((text ?? throw new ArgumentNullException(nameof(text))).AsSpan())
    {
    }

    /// <summary>A copy of a text.</summary>
    /// <param name="text">UTF-16.</param>
    /// <exception cref="ArgumentException">A surrogate stands alone.</exception>
    /// <exception cref="OutOfMemoryException">The memory was refused.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, or is another version's.</exception>
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
            throw new ArgumentException("A surrogate stands alone in the text.", nameof(text));
        }
        _buffer = buffer;
        _length = buffer.Length;
    }

    /// <summary>A copy of a text.</summary>
    /// <param name="text">UTF-8, such as <c>"text"u8</c>.</param>
    /// <exception cref="ArgumentException">It is not well-formed.</exception>
    /// <exception cref="OutOfMemoryException">The memory was refused.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, or is another version's.</exception>
    public FixedUtf8String(ReadOnlySpan<byte> text)
    {
        if (text.IsEmpty)
        {
            return;
        }
        if (!Utf8.IsValid(text))
        {
            throw new ArgumentException("The text is not well-formed UTF-8.", nameof(text));
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

    /// <summary>The text without a character.</summary>
    public static FixedUtf8String Empty => default;

    /// <summary>Whether it has no character. Not checked: it costs nothing.</summary>
    public bool IsEmpty => _length == 0;

    /// <summary>How many bytes it has, also after it was freed. Not checked: it costs nothing.</summary>
    public int Length => _length;

    /// <summary>Whether the memory is there; true for the empty text.</summary>
    public bool IsValid => IsEmpty || _buffer.IsValid;

    /// <summary>Whether the memory was freed.</summary>
    public bool IsInvalid => !IsValid;

    /// <summary>Whether it shows a part of another text, which owns the memory.</summary>
    public bool IsView => _length != _buffer.Length;

    /// <summary>How often it is held, 0 to 2^31 - 1; 0 for the empty text.</summary>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public int RefCount => IsEmpty ? 0 : _buffer.RefCount;

    /// <summary>Whether somebody holds it, so that it cannot be freed.</summary>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public bool IsRetained => RefCount != 0;

    /// <summary>What it is checked against: for native code, and for listings. A default one for the empty
    /// text.</summary>
    public NativeHandle Handle => _buffer.Handle;

    /// <summary>Its UTF-8. The memory is checked once, now.</summary>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public ReadOnlySpan<byte> Bytes
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => IsEmpty ? default : _buffer.Span.Slice(_start, _length);
    }

    /// <summary>One byte of its UTF-8.</summary>
    /// <param name="index">From 0 to the length.</param>
    /// <returns>The byte itself, to read.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="IndexOutOfRangeException">There is no such byte.</exception>
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
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public void ThrowIfInvalid() => _ = Bytes;

    /// <summary>Holds it: until the <see cref="Release"/> it cannot be freed. The empty text needs no
    /// holding.</summary>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public void Acquire()
    {
        if (!IsEmpty)
        {
            _buffer.Acquire();
        }
    }

    /// <summary>The same as <see cref="Acquire"/>.</summary>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public void Retain() => Acquire();

    /// <summary>No longer holds it.</summary>
    /// <returns>True.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    /// <exception cref="InvalidOperationException">It was released as often as it was acquired.</exception>
    public bool Release() => IsEmpty || _buffer.Release();

    /// <summary>Gives the memory back. All copies and all substrings are invalid from now on: a second time throws.
    /// The empty text stays.</summary>
    /// <returns>True.</returns>
    /// <exception cref="ObjectDisposedException">It was freed before, from this copy or another.</exception>
    /// <exception cref="InvalidOperationException">Somebody holds it, and how often; or it is a substring. Nothing has
    /// changed.</exception>
    public bool Free()
    {
        if (IsView)
        {
            ThrowIfInvalid();
            throw new InvalidOperationException("A substring owns no memory: free the text that it was taken from.");
        }
        return IsEmpty || _buffer.Free();
    }

    /// <summary>Gives the memory back when it is there; a substring's and freed memory are left alone. Throws when it
    /// is held, at the end of a <c>using</c> as well.</summary>
    /// <exception cref="InvalidOperationException">Somebody holds it, and how often; nothing has changed.</exception>
    public void Dispose()
    {
        if (!IsView)
        {
            _buffer.Dispose();
        }
    }

    /// <summary>For <c>fixed</c>, and for native functions. There is no zero after the last byte.</summary>
    /// <returns>A null reference for the empty text.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public ref readonly byte GetPinnableReference() =>
        ref IsEmpty ? ref Unsafe.NullRef<byte>() : ref _buffer[_start];

    /// <summary>The code points one after the other.</summary>
    /// <returns>What <c>foreach</c> uses: it allocates nothing.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public Utf8RuneEnumerator GetEnumerator() => new(Bytes);

    /// <summary>The text as a managed string.</summary>
    /// <returns>A new string.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public override string ToString() => Encoding.UTF8.GetString(Bytes);

    /// <summary>The text as a managed string; the format and the culture are not looked at.</summary>
    /// <param name="format">Not looked at.</param>
    /// <param name="formatProvider">Not looked at.</param>
    /// <returns>A new string.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public string ToString(string? format, IFormatProvider? formatProvider) => ToString();

    /// <summary>Writes the text as UTF-16.</summary>
    /// <param name="destination">Where to.</param>
    /// <param name="charsWritten">How many characters; 0 when it does not fit.</param>
    /// <param name="format">Not looked at.</param>
    /// <param name="provider">Not looked at.</param>
    /// <returns>False when it does not fit.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
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
    /// <param name="utf8Destination">Where to.</param>
    /// <param name="bytesWritten">How many bytes; 0 when it does not fit.</param>
    /// <param name="format">Not looked at.</param>
    /// <param name="provider">Not looked at.</param>
    /// <returns>False when it does not fit.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public bool TryFormat(
        Span<byte> utf8Destination, out int bytesWritten, ReadOnlySpan<char> format = default, IFormatProvider? provider = null)
    {
        ReadOnlySpan<byte> bytes = Bytes;
        bytesWritten = bytes.TryCopyTo(utf8Destination) ? bytes.Length : 0;
        return bytesWritten == bytes.Length;
    }

    /// <summary>Its UTF-8. The memory is checked once, now.</summary>
    /// <param name="text">The text.</param>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public static implicit operator ReadOnlySpan<byte>(FixedUtf8String text) => text.Bytes;

    /// <summary>The text as a managed string.</summary>
    /// <param name="text">The text.</param>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public static explicit operator string(FixedUtf8String text) => text.ToString();

    /// <summary>A copy in native memory, which somebody must free.</summary>
    /// <param name="text">The text.</param>
    /// <exception cref="ArgumentNullException">There is no text.</exception>
    /// <exception cref="ArgumentException">A surrogate stands alone.</exception>
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

/// <summary>Goes from code point to code point of well-formed UTF-8.</summary>
public ref struct Utf8RuneEnumerator
{
    private ReadOnlySpan<byte> _rest;

    internal Utf8RuneEnumerator(ReadOnlySpan<byte> text)
    {
        _rest = text;
        Current = default;
    }

    /// <summary>The code point.</summary>
    public Rune Current { get; private set; }

    /// <summary>This, so that it can be used with <c>foreach</c>.</summary>
    /// <returns>A copy, where this one is.</returns>
    public readonly Utf8RuneEnumerator GetEnumerator() => this;

    /// <summary>Goes to the next one.</summary>
    /// <returns>False when there is none.</returns>
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
