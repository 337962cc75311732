// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;
using System.Text.Unicode;

namespace Tenure;

/// <summary>Appends to the memory of a <see cref="Utf8Builder"/>: the operations that the builder and its interpolated
/// strings share.</summary>
internal readonly unsafe ref struct Utf8Sink
{
    private const int StackChars = 256;
    private readonly ref Utf8State _state;
    private readonly Span<byte> _caller; // the caller's memory, if the state has no block

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal Utf8Sink(ref Utf8State state, Span<byte> caller)
    {
        _state = ref state;
        _caller = caller;
    }

    internal int Length
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => _state.Length;
    }

    /// <summary>The free memory behind the text; empty once something did not fit.</summary>
    internal Span<byte> Room
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            ThrowIfReplaced();
            return MemoryMarshal.CreateSpan(ref At(_state.Length), _state.Limit - _state.Length);
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void Append(byte letter)
    {
        int length = _state.Length;
        if (length < _state.Limit || MakeRoom(1))
        {
            ThrowIfReplaced();
            At(length) = letter;
            _state.Length = length + 1;
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void Append(char letter)
    {
        if (letter < 0x80)
        {
            Append((byte)letter);
            return;
        }
        Append([letter]);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void Append(ReadOnlySpan<byte> text)
    {
        if (text.TryCopyTo(Room))
        {
            _state.Length += text.Length;
            return;
        }
        AppendGrowing(text);
    }

    /// <summary>Appends UTF-16 text as UTF-8. A surrogate without its pair becomes U+FFFD.</summary>
    internal void Append(ReadOnlySpan<char> text)
    {
        Span<byte> room = Room;
        if (text.Length <= room.Length && AsciiText.TryNarrow(text, room))
        {
            _state.Length += text.Length;
            return;
        }
        AppendAny(text);
    }

    /// <summary>Appends a value as its type formats it.</summary>
    /// <remarks>Optimized from its first call on, as the methods below that have the attribute: only optimized code
    /// calls the interface of a value type without making an object of it.</remarks>
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    internal void AppendValue<T>(T value, ReadOnlySpan<char> format, IFormatProvider? provider)
    {
        if (typeof(T) == typeof(char))
        {
            Append(Unsafe.As<T, char>(ref value)); // its TryFormat throws for a surrogate
            return;
        }
        if (value is IUtf8SpanFormattable)
        {
            Span<byte> room = Room;
            if (((IUtf8SpanFormattable)value!).TryFormat(room, out int written, format, provider) && (uint)written <= (uint)room.Length)
            {
                _state.Length += written;
                return;
            }
            AppendUtf8Growing(value, format, provider);
            return;
        }
        if (typeof(T) == typeof(bool))
        {
            Append(Unsafe.As<T, bool>(ref value) ? "True"u8 : "False"u8);
            return;
        }
        if (value is ISpanFormattable)
        {
            AppendChars(value, format, provider);
            return;
        }
        AppendString(value, format, provider);
    }

    /// <summary>Appends as printf's "%.*f" does.</summary>
    internal void AppendFixed(double value, int digits)
    {
        int written = FixedDecimals.TryWrite(Room, value, digits);
        if (written >= 0)
        {
            _state.Length += written;
            return;
        }
        AppendFixedByCall(value, digits);
    }

    /// <summary>Appends UTF-16 text in a field of at least as many characters as the alignment tells: to the right, or
    /// to the left if it is negative.</summary>
    internal void Append(ReadOnlySpan<char> text, int alignment)
    {
        int padding = PaddingOf(text.Length, alignment);
        if (alignment > 0)
        {
            AppendSpaces(padding);
        }
        Append(text);
        if (alignment < 0)
        {
            AppendSpaces(padding);
        }
    }

    /// <summary>Appends a value in such a field.</summary>
    internal void AppendValue<T>(T value, int alignment, ReadOnlySpan<char> format, IFormatProvider? provider)
    {
        int begin = _state.Length;
        long missed = _state.MissedBytes;
        AppendValue(value, format, provider);
        if (_state.MissedBytes != missed)
        {
            // Counted as if each byte that did not fit were a character.
            _state.MissedBytes += PaddingOf((int)Math.Min(_state.MissedBytes - missed, int.MaxValue), alignment);
            return;
        }
        int bytes = _state.Length - begin;
        int padding = PaddingOf(Encoding.UTF8.GetCharCount(MemoryMarshal.CreateReadOnlySpan(ref At(begin), bytes)), alignment);
        if (Room.Length < padding && !MakeRoom(padding))
        {
            TakeBack(begin);
            return;
        }
        Span<byte> field = MemoryMarshal.CreateSpan(ref At(begin), bytes + padding);
        if (alignment > 0)
        {
            field[..bytes].CopyTo(field[padding..]);
            field[..padding].Fill((byte)' ');
        }
        else
        {
            field[bytes..].Fill((byte)' ');
        }
        _state.Length += padding;
    }

    private static int PaddingOf(int chars, int alignment) => (int)Math.Clamp(Math.Abs((long)alignment) - chars, 0, int.MaxValue);

    internal void AppendSpaces(int count) => AppendRepeated((byte)' ', count);

    internal void AppendRepeated(byte letter, int count)
    {
        if (Room.Length >= count || MakeRoom(count))
        {
            Room[..count].Fill(letter);
            _state.Length += count;
        }
    }

    internal long MissedBytes => _state.MissedBytes;

    /// <summary>Gets room for at least a number of bytes.</summary>
    /// <returns>False if there is none: the bytes are then counted as missed.</returns>
    [MethodImpl(MethodImplOptions.NoInlining)]
    internal bool MakeRoom(int bytes)
    {
        ThrowIfReplaced();
        if (_state.Growth == Utf8Growth.Doubles)
        {
            Grow((long)_state.Length + bytes);
            return true;
        }
        if (_state.Growth == Utf8Growth.Disposed)
        {
            Throw.Disposed(nameof(Utf8Builder));
        }
        _state.MissedBytes += bytes;
        _state.Limit = _state.Length;
        return false;
    }

    /// <summary>Takes back what was written since, when the whole did not fit.</summary>
    internal void TakeBack(int begin)
    {
        if (begin > _state.Length)
        {
            ThrowReplaced();
        }
        _state.MissedBytes += _state.Length - begin;
        _state.Length = begin;
        _state.Limit = begin;
    }

    internal void Advance(int bytes) => _state.Length += bytes;

    /// <summary>Throws if a hole of an interpolated string assigned another builder: the state is then that builder's,
    /// and the span still the first one's.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void ThrowIfReplaced()
    {
        if (_state.Block == null && _state.Capacity != _caller.Length)
        {
            ThrowReplaced();
        }
    }

    [DoesNotReturn]
    private static void ThrowReplaced() => throw new InvalidOperationException(
        "A value of the interpolated string assigned another builder to the one that the string is appended to. Assign it before or after the call.");

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private ref byte At(int index)
    {
        byte* block = _state.Block;
        return ref Unsafe.Add(ref block != null ? ref *block : ref MemoryMarshal.GetReference(_caller), index);
    }

    private void Grow(long needed)
    {
        if (needed > int.MaxValue)
        {
            ThrowTooLong(needed);
        }
        if (_state.Lifetime == Lifetime.Temp)
        {
            TempScope.ThrowUnlessInnermost(_state.ScopeDepth);
        }
        int capacity = (int)Math.Max(needed, Math.Min(Math.Max(2L * _state.Capacity, Utf8Builder.DefaultCapacity), int.MaxValue));
        _state.Block = (byte*)CollectionMemory.Resize(
            _state.Block, (nuint)_state.Capacity, (nuint)capacity, (nuint)_state.Length, Native.DefaultAlignment, _state.Lifetime);
        _state.Capacity = capacity;
        _state.Limit = capacity;
    }

    /// <summary>Returns to an earlier capacity, when the value that needed more could not be formatted.</summary>
    private void ShrinkTo(int capacity)
    {
        if (capacity == _state.Capacity)
        {
            return;
        }
        if (capacity == 0)
        {
            CollectionMemory.Free(_state.Block, (nuint)_state.Capacity, _state.Lifetime);
            _state.Block = null;
        }
        else
        {
            _state.Block = (byte*)CollectionMemory.Resize(
                _state.Block, (nuint)_state.Capacity, (nuint)capacity, (nuint)_state.Length, Native.DefaultAlignment, _state.Lifetime);
        }
        _state.Capacity = capacity;
        _state.Limit = capacity;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void AppendAny(ReadOnlySpan<char> text)
    {
        Span<byte> room = Room;
        if (Utf8.FromUtf16(text, room, out _, out int written) == OperationStatus.Done)
        {
            _state.Length += written;
            return;
        }
        int needed = Encoding.UTF8.GetByteCount(text);
        if (room.Length >= needed || MakeRoom(needed))
        {
            Utf8.FromUtf16(text, Room, out _, out written);
            _state.Length += written;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void AppendGrowing(ReadOnlySpan<byte> text)
    {
        nint offset = Unsafe.ByteOffset(ref At(0), ref MemoryMarshal.GetReference(text));
        bool isOwn = (nuint)offset < (nuint)_state.Capacity; // then it moves with the block
        if (MakeRoom(text.Length))
        {
            (isOwn ? MemoryMarshal.CreateReadOnlySpan(ref At((int)offset), text.Length) : text).CopyTo(Room);
            _state.Length += text.Length;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    private void AppendUtf8Growing<T>(T value, ReadOnlySpan<char> format, IFormatProvider? provider)
    {
        int written;
        if (_state.Growth == Utf8Growth.Doubles)
        {
            int before = _state.Capacity;
            try
            {
                do
                {
                    // Up to the largest capacity first; the next step throws.
                    long larger = Math.Max(2L * _state.Capacity, Utf8Builder.DefaultCapacity);
                    Grow(_state.Capacity < int.MaxValue ? Math.Min(larger, int.MaxValue) : larger);
                }
                while (!((IUtf8SpanFormattable)value!).TryFormat(Room, out written, format, provider));
            }
            catch
            {
                ShrinkTo(before);
                throw;
            }
            _state.Length += Checked(written, Room.Length);
            return;
        }
        // Most often only its length is wanted. Not Temp: a scope here would be the innermost one while the value is formatted.
        for (nuint bytes = 4096; ; bytes *= 2)
        {
            void* scratch = Native.Allocate(bytes, Lifetime.Persistent);
            try
            {
                var room = new Span<byte>(scratch, (int)Math.Min(bytes, int.MaxValue));
                if (((IUtf8SpanFormattable)value!).TryFormat(room, out written, format, provider))
                {
                    Append(room[..Checked(written, room.Length)]); // it may fit after all: its type asked for more room
                    return;
                }
            }
            finally
            {
                Native.Deallocate(scratch, bytes, Lifetime.Persistent);
            }
            if (bytes > int.MaxValue)
            {
                ThrowTooLong((long)bytes);
            }
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    private void AppendChars<T>(T value, ReadOnlySpan<char> format, IFormatProvider? provider)
    {
        Span<char> few = stackalloc char[StackChars];
        if (((ISpanFormattable)value!).TryFormat(few, out int written, format, provider))
        {
            Append(few[..Checked(written, few.Length)]);
            return;
        }
        for (nuint count = 4 * StackChars; ; count *= 4)
        {
            void* scratch = Native.Allocate(count * sizeof(char), Lifetime.Persistent);
            try
            {
                var many = new Span<char>(scratch, (int)Math.Min(count, int.MaxValue));
                if (((ISpanFormattable)value).TryFormat(many, out written, format, provider))
                {
                    Append(many[..Checked(written, many.Length)]);
                    return;
                }
            }
            finally
            {
                Native.Deallocate(scratch, count * sizeof(char), Lifetime.Persistent);
            }
            if (count > int.MaxValue)
            {
                ThrowTooLong((long)count);
            }
        }
    }

    /// <summary>Appends an array of text, or a value that formats itself only as a managed string.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void AppendString<T>(T value, ReadOnlySpan<char> format, IFormatProvider? provider)
    {
        switch (value)
        {
            case byte[] utf8:
                Append(utf8);
                break;
            case char[] text:
                Append(text.AsSpan());
                break;
            case IFormattable formattable:
                Append(formattable.ToString(format.IsEmpty ? null : format.ToString(), provider).AsSpan());
                break;
            default:
                Append((value?.ToString()).AsSpan());
                break;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void AppendFixedByCall(double value, int digits)
    {
        if ((uint)digits > Utf8Builder.MaxFixedDigits)
        {
            Throw.OutOfRange(nameof(digits), digits, $"The number of digits must be from 0 to {Utf8Builder.MaxFixedDigits}.");
        }
        NativeLibraryCheck.Ensure();
        while (true)
        {
            fixed (byte* first = Room)
            {
                var writer = new NativeTextWriter { First = first, Cursor = first, End = first + Room.Length };
                NativeMethods.tn_text_writer_append_fixed(&writer, value, (uint)digits);
                if (writer.MissedBytes == 0)
                {
                    _state.Length += (int)(writer.Cursor - writer.First);
                    return;
                }
                if (!MakeRoom((int)writer.MissedBytes))
                {
                    return;
                }
            }
        }
    }

    private static int Checked(int written, int room)
    {
        if ((uint)written > (uint)room)
        {
            throw new FormatException($"TryFormat returned {written} bytes or characters, but its destination has room for {room}.");
        }
        return written;
    }

    [DoesNotReturn]
    private static void ThrowTooLong(long bytes) =>
        throw new OutOfMemoryException(
            $"The text cannot have {bytes} bytes: at most {int.MaxValue} fit into a span. Nothing has changed. Write it in pieces.");
}
