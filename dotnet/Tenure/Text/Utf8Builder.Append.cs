// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>The calls that append.</summary>
public unsafe ref partial struct Utf8Builder
{
    /// <summary>Appends a character as UTF-8. A surrogate alone becomes U+FFFD.</summary>
    /// <param name="letter">The character.</param>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The builder was disposed of.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Append(char letter) => Sink.Append(letter);

    /// <summary>Appends an ASCII character several times.</summary>
    /// <param name="letter">The character, below U+0080.</param>
    /// <param name="count">The number of times.</param>
    /// <exception cref="ArgumentOutOfRangeException">The character is not ASCII, or the number is
    /// negative.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The builder was disposed of.</exception>
    public void Append(char letter, int count)
    {
        Throw.IfNegative(count);
        if (letter >= 0x80)
        {
            Throw.OutOfRange(nameof(letter), letter, "The character must be ASCII. Use Append(string) for others.");
        }
        Sink.AppendRepeated((byte)letter, count);
    }

    /// <summary>Appends UTF-8 text, such as a "literal"u8, byte for byte.</summary>
    /// <param name="utf8">The text; it may be part of this one.</param>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The builder was disposed of.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Append(scoped ReadOnlySpan<byte> utf8) => Sink.Append(utf8);

    /// <summary>Appends text as UTF-8. A surrogate without its pair becomes U+FFFD.</summary>
    /// <param name="text">The text.</param>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The builder was disposed of.</exception>
    public void Append(scoped ReadOnlySpan<char> text) => Sink.Append(text);

    /// <summary>Appends text as UTF-8. A surrogate without its pair becomes U+FFFD.</summary>
    /// <param name="text">The text; null appends nothing.</param>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The builder was disposed of.</exception>
    public void Append(string? text) => Sink.Append(text.AsSpan());

    /// <summary>Appends a value as its type formats it, in the invariant culture.</summary>
    /// <typeparam name="T">The type of the value.</typeparam>
    /// <param name="value">The value; null appends nothing.</param>
    /// <exception cref="FormatException">The value could not be formatted.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The builder was disposed of.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Append<T>(T value) => Sink.AppendValue(value, default, CultureInfo.InvariantCulture);

    /// <summary>Appends a value as its type formats it.</summary>
    /// <typeparam name="T">The type of the value.</typeparam>
    /// <param name="value">The value; null appends nothing.</param>
    /// <param name="format">The format, as of <c>ToString</c>.</param>
    /// <param name="provider">The culture; null means the invariant one.</param>
    /// <exception cref="FormatException">The format does not fit the value.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The builder was disposed of.</exception>
    public void Append<T>(T value, scoped ReadOnlySpan<char> format, IFormatProvider? provider = null) =>
        Sink.AppendValue(value, format, provider ?? CultureInfo.InvariantCulture);

    /// <summary>Appends an interpolated string, in the invariant culture.</summary>
    /// <param name="text">The interpolated string. Over a span, it is written as a whole or not at all.</param>
    /// <exception cref="OutOfMemoryException">There is not enough memory.</exception>
    /// <exception cref="ObjectDisposedException">The builder was disposed of.</exception>
    [SuppressMessage("Performance", "CA1822:Mark members as static", Justification = "The handler writes to this builder.")]
    public void Append([InterpolatedStringHandlerArgument("")] scoped AppendHandler text) => text.End();

    /// <summary>Appends an interpolated string.</summary>
    /// <param name="provider">The culture; null means the invariant one.</param>
    /// <param name="text">The interpolated string. Over a span, it is written as a whole or not at all.</param>
    /// <exception cref="OutOfMemoryException">There is not enough memory.</exception>
    /// <exception cref="ObjectDisposedException">The builder was disposed of.</exception>
    [SuppressMessage("Performance", "CA1822:Mark members as static", Justification = "The handler writes to this builder.")]
    public void Append(IFormatProvider? provider, [InterpolatedStringHandlerArgument("", nameof(provider))] scoped AppendHandler text) =>
        text.End();

    /// <summary>Appends a line feed.</summary>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The builder was disposed of.</exception>
    public void AppendLine() => Sink.Append((byte)'\n');

    /// <summary>Appends a number with a fixed number of decimals, as printf's "%.*f" and the C++ <c>append_fixed</c>
    /// do: rounded from the exact value, ties to the even digit. Faster than the formats "F2" and the like.</summary>
    /// <remarks>Infinities are "inf" and "-inf". What is not a number is "nan", or "-nan" if its sign bit is set, as it is
    /// in <see cref="double.NaN"/>. <see cref="Append{T}(T)"/> writes "Infinity", "-Infinity" and "NaN".</remarks>
    /// <param name="value">The number. A float is exact as a double.</param>
    /// <param name="digits">The number of decimals, 0 to <see cref="MaxFixedDigits"/>.</param>
    /// <exception cref="ArgumentOutOfRangeException">The number of decimals is out of range.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The builder was disposed of.</exception>
    public void AppendFixed(double value, int digits) => Sink.AppendFixed(value, digits);

    /// <summary>Appends the name of an enumeration's value, or its number if it has no name.</summary>
    /// <typeparam name="TEnum">The enumeration.</typeparam>
    /// <param name="value">The value.</param>
    /// <param name="format">The format: G, D, X or F.</param>
    /// <exception cref="FormatException">The format is another one.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The builder was disposed of.</exception>
    public void AppendEnum<TEnum>(TEnum value, [StringSyntax(StringSyntaxAttribute.EnumFormat)] scoped ReadOnlySpan<char> format = default)
        where TEnum : struct, Enum
    {
        Span<char> name = stackalloc char[256];
        if (Enum.TryFormat(value, name, out int written, format))
        {
            Sink.Append(name[..written]);
            return;
        }
        Sink.Append(value.ToString(format.ToString()).AsSpan());
    }

    /// <summary>Receives an interpolated string; the compiler calls it.</summary>
    [InterpolatedStringHandler]
    public readonly ref struct AppendHandler
    {
        private readonly Utf8Sink _sink;
        private readonly IFormatProvider _provider;
        private readonly long _missed; // before
        private readonly int _begin;

        /// <summary>Begins an interpolated string in the invariant culture.</summary>
        /// <param name="literalLength">The number of characters outside of the holes.</param>
        /// <param name="formattedCount">The number of holes.</param>
        /// <param name="builder">The builder that the text is appended to.</param>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public AppendHandler(int literalLength, int formattedCount, in Utf8Builder builder)
            : this(literalLength, formattedCount, in builder, null)
        {
        }

        /// <summary>Begins an interpolated string.</summary>
        /// <param name="literalLength">The number of characters outside of the holes.</param>
        /// <param name="formattedCount">The number of holes.</param>
        /// <param name="builder">The builder that the text is appended to.</param>
        /// <param name="provider">The culture; null means the invariant one.</param>
        [SuppressMessage("Style", "IDE0060:Remove unused parameter", Justification = "The compiler passes them.")]
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public AppendHandler(int literalLength, int formattedCount, in Utf8Builder builder, IFormatProvider? provider)
        {
            // The compiler passes a structure as receiver by its address, but does not allow a "ref" here.
            _sink = new(ref Unsafe.AsRef(in builder._state), builder._caller);
            _provider = provider ?? CultureInfo.InvariantCulture;
            _missed = _sink.MissedBytes;
            _begin = _sink.Length;
        }

        /// <summary>Appends the text between two holes.</summary>
        /// <param name="value">The text.</param>
        public void AppendLiteral(string value) => _sink.Append(value.AsSpan());

        /// <summary>Appends a value.</summary>
        /// <typeparam name="T">The type of the value.</typeparam>
        /// <param name="value">The value.</param>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void AppendFormatted<T>(T value) => _sink.AppendValue(value, default, _provider);

        /// <summary>Appends a value.</summary>
        /// <typeparam name="T">The type of the value.</typeparam>
        /// <param name="value">The value.</param>
        /// <param name="format">The format behind the colon.</param>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void AppendFormatted<T>(T value, string? format) => _sink.AppendValue(value, format.AsSpan(), _provider);

        /// <summary>Appends a value in a field.</summary>
        /// <typeparam name="T">The type of the value.</typeparam>
        /// <param name="value">The value.</param>
        /// <param name="alignment">The least number of characters; negative aligns to the left.</param>
        public void AppendFormatted<T>(T value, int alignment) => _sink.AppendValue(value, alignment, default, _provider);

        /// <summary>Appends a value in a field.</summary>
        /// <typeparam name="T">The type of the value.</typeparam>
        /// <param name="value">The value.</param>
        /// <param name="alignment">The least number of characters; negative aligns to the left.</param>
        /// <param name="format">The format behind the colon.</param>
        public void AppendFormatted<T>(T value, int alignment, string? format) =>
            _sink.AppendValue(value, alignment, format.AsSpan(), _provider);

        /// <summary>Appends text.</summary>
        /// <param name="value">The text.</param>
        public void AppendFormatted(string? value) => _sink.Append(value.AsSpan());

        /// <summary>Appends text in a field.</summary>
        /// <param name="value">The text.</param>
        /// <param name="alignment">The least number of characters; negative aligns to the left.</param>
        /// <param name="format">Text has no formats: not used.</param>
        public void AppendFormatted(string? value, int alignment = 0, string? format = null) => _sink.Append(value.AsSpan(), alignment);

        /// <summary>Appends text in a field.</summary>
        /// <param name="value">The text.</param>
        /// <param name="alignment">The least number of characters; negative aligns to the left.</param>
        /// <param name="format">Text has no formats: not used.</param>
        public void AppendFormatted(scoped ReadOnlySpan<char> value, int alignment = 0, string? format = null) => _sink.Append(value, alignment);

        /// <summary>Appends UTF-8 text, byte for byte.</summary>
        /// <param name="value">The text.</param>
        public void AppendFormatted(scoped ReadOnlySpan<byte> value) => _sink.Append(value);

        /// <summary>Ends the text: takes it back if it did not fit as a whole.</summary>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        internal void End()
        {
            if (_sink.MissedBytes != _missed)
            {
                _sink.TakeBack(_begin);
            }
        }
    }
}
