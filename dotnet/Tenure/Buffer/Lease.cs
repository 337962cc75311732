// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>A buffer that is held: its elements are reached at the speed of a span, and nobody can free it
/// meanwhile.</summary>
/// <remarks>
/// <code>
/// using Lease&lt;double&gt; lease = buffer.Lease();
/// foreach (ref double x in lease.Span) { x *= 2; }
/// </code>
/// <para>Cost: one acquire at the beginning and one release at the end, about 20 ns together; the memory is checked
/// once. A <c>Free</c> meanwhile, from any copy and any thread, throws
/// <see cref="InvalidOperationException"/>.</para>
/// <para>Threads: it stays on the stack of the thread that took it. A copy is the same lease: it ends with the first
/// copy that is disposed of, and disposing of the others does nothing. Their elements are not checked: use no copy of a
/// lease that has ended. Pass it on as <c>in</c> or <c>ref</c>, or pass its span.</para>
/// <para><see cref="Span"/> and references into it do not hold the memory: only the lease does, until its end.</para>
/// </remarks>
/// <typeparam name="T">The element.</typeparam>
[DebuggerDisplay("Lease of {Length}")]
public unsafe ref struct Lease<T>
    where T : unmanaged
{
    private Span<T> _span;
    private readonly ulong* _word;
    private readonly object? _owner;
    private uint _generation;
    private readonly int _place; // among the thread's open leases, with its number there
    private readonly ulong _number;
    private readonly OpenLeases _open;

    /// <summary>Takes what the view shows, which must be live.</summary>
    internal Lease(BufferView<T> view, object? owner)
    {
        HandleWords.Acquire(view.Word, view.Generation);
        _open = OpenLeases.Mine;
        _number = _open.Begin(out _place);
        _span = new Span<T>(view.Pointer, (int)view.Length);
        _word = view.Word;
        _generation = view.Generation;
        _owner = owner;
    }

    /// <summary>The elements, valid until the lease is disposed of.</summary>
    /// <exception cref="ObjectDisposedException">The lease has ended.</exception>
    public readonly Span<T> Span
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            if (_generation == 0)
            {
                BufferErrors.ThrowLeaseEnded();
            }
            return _span;
        }
    }

    /// <summary>How many elements there are; none when the lease has ended.</summary>
    public readonly int Length => _span.Length;

    /// <summary>An element.</summary>
    /// <param name="index">From 0 to the length.</param>
    /// <returns>The element itself, to read and to write.</returns>
    /// <exception cref="IndexOutOfRangeException">There is no such element, or the lease has ended.</exception>
    public readonly ref T this[int index]
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => ref _span[index];
    }

    /// <summary>The elements one after the other, as references.</summary>
    /// <returns>A span's enumerator; of nothing when the lease has ended.</returns>
    public readonly Span<T>.Enumerator GetEnumerator() => _span.GetEnumerator();

    /// <summary>No longer holds the buffer. A second time does nothing, also of a copy.</summary>
    public void Dispose()
    {
        uint generation = _generation;
        _generation = 0;
        _span = default;
        if (generation != 0 && _open.End(_place, _number))
        {
            HandleWords.Release(_word, generation);
            GC.KeepAlive(_owner);
        }
    }
}
