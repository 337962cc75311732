// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.IO;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;

namespace Tenure;

/// <summary>Builds UTF-8 text in native memory or in a span of yours, without managed allocations.</summary>
/// <remarks>
/// <para><b>Use it for</b> records, messages and files of numbers and words. <b>Not for</b> text that becomes a managed
/// string: use a <see cref="StringBuilder"/>; records by many threads: see <see cref="PagedWriter"/>, built on
/// this.</para>
/// <para><b>Memory from</b> a <see cref="TempScope"/> (<see cref="TempScope.CreateUtf8Builder"/>), a lifetime, or a span
/// of the caller. <b>Cost</b> the formatting by the value's own <see cref="IUtf8SpanFormattable"/>; a full block
/// doubles. <b>Overhead</b> the unused capacity; no terminating zero.</para>
/// <para><b>Threads</b> one: a ref struct cannot leave its stack. <b>When full</b> the block grows, and throws
/// <see cref="OutOfMemoryException"/> if the system is out of memory. Over a span, nothing more is written, not even
/// part of a call, and <see cref="NeededBytes"/> keeps counting.</para>
/// <para>Values are formatted with the invariant culture, unless you pass a provider. Numbers, dates, Guid and all types
/// with <see cref="IUtf8SpanFormattable"/> or <see cref="ISpanFormattable"/> make no managed object. Types with only a
/// ToString do, and so do an enumeration, for which there is <see cref="AppendEnum"/>, and a nullable.</para>
/// <para>Pass the builder by reference. A copy is a second builder over the same memory: after one of the two has grown
/// or was disposed of, the other one writes to freed memory, which is not detected. C# passes no variable of a
/// <c>using</c> statement by reference (CS1657): dispose of such a builder in a <c>finally</c> block. Spans of the text
/// are valid until the next call that appends.</para>
/// <example><code>
/// using var scope = TempScope.Begin();
/// Utf8Builder line = scope.CreateUtf8Builder();
/// line.Append($"lap {12}: {93.0625:F3} s");
/// line.WriteTo(stream);
/// </code></example>
/// </remarks>
public unsafe ref partial struct Utf8Builder : IDisposable
{
    /// <summary>The number of bytes that fit before a builder first grows, unless you choose another one.</summary>
    public const int DefaultCapacity = 256;

    /// <summary>The largest number of decimals of <see cref="AppendFixed"/>.</summary>
    public const int MaxFixedDigits = 64;

    private readonly Span<byte> _caller;
    private Utf8State _state;

    /// <summary>Initializes a builder over memory of the caller, which does not grow.</summary>
    /// <param name="memory">The memory. All of it may be written to, including bytes behind the text.</param>
    public Utf8Builder(Span<byte> memory)
    {
        _caller = memory;
        _state.Capacity = memory.Length;
        _state.Limit = memory.Length;
    }

    /// <summary>Initializes a builder that grows. Dispose it.</summary>
    /// <param name="lifetime">How long the text is held: Persistent or TempJob.</param>
    /// <param name="capacity">The number of bytes that fit without growing. Zero acquires no memory.</param>
    /// <exception cref="ArgumentOutOfRangeException">The capacity is negative, or the lifetime is not
    /// valid.</exception>
    /// <exception cref="ArgumentException">The lifetime is Temp; use
    /// <see cref="TempScope.CreateUtf8Builder"/>.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public Utf8Builder(Lifetime lifetime, int capacity = DefaultCapacity)
    {
        CollectionMemory.UnlessHeld(lifetime, "Create the builder with TempScope.CreateUtf8Builder.");
        Start(lifetime, capacity);
    }

    internal Utf8Builder(TempScope scope, int capacity)
    {
        scope.ThrowUnlessInnermost();
        _state.ScopeDepth = scope.Depth;
        Start(Lifetime.Temp, capacity);
    }

    /// <summary>A builder over a page of a <see cref="PagedWriter"/>.</summary>
    internal Utf8Builder(byte* page, int bytes)
    {
        _state.Block = page;
        _state.Capacity = bytes;
        _state.Limit = bytes;
    }

    /// <summary>Tells whether the text is in a page of a <see cref="PagedWriter"/>.</summary>
    internal readonly bool IsOver(byte* page) => _state.Block == page;

    /// <summary>Gets the length of the text in bytes; zero after <see cref="Dispose"/>.</summary>
    public readonly int Length => _state.Length;

    /// <summary>Gets the number of bytes that fit without growing, or at all over a span.</summary>
    public readonly int Capacity => _state.Capacity;

    /// <summary>Gets a value indicating whether everything was written. Always true for a builder that grows.</summary>
    public readonly bool Fits => _state.MissedBytes == 0;

    /// <summary>Gets the number of bytes that all text so far needs, written or not.</summary>
    public readonly long NeededBytes => _state.Length + _state.MissedBytes;

    /// <summary>Gets the text: everything, or the part before the first call that did not fit.</summary>
    /// <exception cref="ObjectDisposedException">The builder was disposed of.</exception>
    public readonly ReadOnlySpan<byte> WrittenSpan
    {
        get
        {
            ThrowIfDisposed();
            byte* block = _state.Block;
            return block != null ? new(block, _state.Length) : _caller[.._state.Length];
        }
    }

    private Utf8Sink Sink
    {
        [UnscopedRef]
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => new(ref _state, _caller);
    }

    /// <summary>Gets memory behind the text, for code that writes it directly.</summary>
    /// <param name="sizeHint">The number of bytes wanted; 0 means at least one, if the builder grows.</param>
    /// <returns>All memory behind the text. Over a span it may be smaller than wanted. Bytes written there count after
    /// <see cref="Advance"/>.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The number is negative.</exception>
    /// <exception cref="OutOfMemoryException">There is not enough memory; nothing has changed.</exception>
    /// <exception cref="ObjectDisposedException">The builder was disposed of.</exception>
    [UnscopedRef]
    public Span<byte> GetSpan(int sizeHint = 0)
    {
        Throw.IfNegative(sizeHint);
        Utf8Sink sink = Sink;
        if (_state.Growth != Utf8Growth.None && sink.Room.Length < Math.Max(sizeHint, 1))
        {
            sink.MakeRoom(Math.Max(sizeHint, 1));
        }
        return sink.Room;
    }

    /// <summary>Appends bytes that were written to <see cref="GetSpan"/>.</summary>
    /// <param name="bytes">The number of bytes, at most the length of the span.</param>
    /// <exception cref="ArgumentOutOfRangeException">The number is negative or greater than the free
    /// memory.</exception>
    /// <exception cref="ObjectDisposedException">The builder was disposed of.</exception>
    public void Advance(int bytes)
    {
        ThrowIfDisposed();
        if ((uint)bytes > (uint)(_state.Limit - _state.Length))
        {
            Throw.OutOfRange(nameof(bytes), bytes, $"The number must be from 0 to {_state.Limit - _state.Length}, the free memory.");
        }
        _state.Length += bytes;
    }

    /// <summary>Discards the text and keeps the memory.</summary>
    /// <exception cref="ObjectDisposedException">The builder was disposed of.</exception>
    public void Clear()
    {
        ThrowIfDisposed();
        _state.Length = 0;
        _state.MissedBytes = 0;
        _state.Limit = _state.Capacity;
    }

    /// <summary>Writes the text to a stream.</summary>
    /// <param name="stream">The stream.</param>
    /// <exception cref="ArgumentNullException">The stream is null.</exception>
    /// <exception cref="ObjectDisposedException">The builder was disposed of.</exception>
    public readonly void WriteTo(Stream stream)
    {
        ArgumentNullException.ThrowIfNull(stream);
        stream.Write(WrittenSpan);
    }

    /// <summary>Converts the text to a managed string, which is a managed allocation.</summary>
    /// <returns>The text.</returns>
    /// <exception cref="ObjectDisposedException">The builder was disposed of.</exception>
    public override readonly string ToString() => Encoding.UTF8.GetString(WrittenSpan);

    /// <summary>Frees the memory of a builder with a lifetime. A second call does nothing. Over Temp or a span, it does
    /// nothing.</summary>
    public void Dispose()
    {
        if (_state.Growth == Utf8Growth.Doubles && _state.Lifetime != Lifetime.Temp)
        {
            CollectionMemory.Free(_state.Block, (nuint)_state.Capacity, _state.Lifetime);
            _state = new Utf8State { Growth = Utf8Growth.Disposed };
        }
    }

    private readonly void ThrowIfDisposed()
    {
        if (_state.Growth == Utf8Growth.Disposed)
        {
            Throw.Disposed(nameof(Utf8Builder));
        }
    }

    private void Start(Lifetime lifetime, int capacity)
    {
        Throw.IfNegative(capacity);
        NativeLibraryCheck.Ensure();
        _state.Growth = Utf8Growth.Doubles;
        _state.Lifetime = lifetime;
        if (capacity != 0)
        {
            _state.Block = (byte*)Native.Allocate((nuint)capacity, lifetime);
            _state.Capacity = capacity;
            _state.Limit = capacity;
        }
    }
}
