// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>Holds a buffer for a block of code: the elements are accessed at the speed of a span, and the memory cannot
/// be freed meanwhile.</summary>
/// <remarks>
/// <code>
/// using Lease&lt;double&gt; lease = buffer.Lease();
/// foreach (ref double x in lease.Span) { x *= 2; }
/// </code>
/// <para>Cost: one acquire at the start and one release at the end, about 20 ns together. The memory is checked once. A
/// <c>Free</c> meanwhile, from any copy and any thread, throws <see cref="InvalidOperationException"/>.</para>
/// <para>Threads: a lease stays on the stack of the thread that took it. A copy is the same lease: the lease ends when
/// the first copy is disposed of, and disposing of the others does nothing. Element access through the other copies is
/// not checked, so do not use a copy of a lease that has ended. Pass the lease as <c>in</c> or <c>ref</c>, or pass its
/// span.</para>
/// <para><see cref="Span"/> and references into it do not hold the memory. Only the lease does, until it ends.</para>
/// </remarks>
/// <typeparam name="T">The type of the elements.</typeparam>
[DebuggerDisplay("Lease of {Length}")]
public unsafe ref struct Lease<T>
    where T : unmanaged
{
    private Span<T> _span;
    private readonly ulong* _word;
    private readonly object? _owner;
    private uint _generation;
    private readonly int _place; // index in the thread's list of open leases, and the lease's number there
    private readonly ulong _number;
    private readonly OpenLeases _open;

    /// <summary>Holds the memory of the view, which must be live.</summary>
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

    /// <summary>Gets a span over the elements, valid until the lease is disposed of.</summary>
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

    /// <summary>Gets the number of elements; zero after the lease has ended.</summary>
    public readonly int Length => _span.Length;

    /// <summary>Gets a reference to an element.</summary>
    /// <param name="index">The zero-based index of the element.</param>
    /// <returns>A reference to the element, to read and to write.</returns>
    /// <exception cref="IndexOutOfRangeException">The index is negative or not less than the length, or the lease has
    /// ended.</exception>
    public readonly ref T this[int index]
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => ref _span[index];
    }

    /// <summary>Enumerates the elements as references.</summary>
    /// <returns>The enumerator of a span; an empty one after the lease has ended.</returns>
    public readonly Span<T>.Enumerator GetEnumerator() => _span.GetEnumerator();

    /// <summary>Releases the buffer. A second call does nothing, also on a copy.</summary>
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
