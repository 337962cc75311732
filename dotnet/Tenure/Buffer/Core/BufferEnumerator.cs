// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>The elements of a buffer one after the other, as references; the buffer is held meanwhile. Allocates
/// nothing.</summary>
/// <remarks>
/// What <c>foreach</c> uses: it acquires at the beginning and releases at the end, and each step costs what it costs in
/// a span. A <c>Free</c> inside the loop throws <see cref="InvalidOperationException"/>. It is not copied: a copy that
/// is disposed of as well releases what somebody else holds, or throws.
/// </remarks>
/// <typeparam name="T">The element.</typeparam>
public unsafe ref struct BufferEnumerator<T>
    where T : unmanaged
{
    private T* _first;
    private nint _index;
    private nint _length;
    private readonly ulong* _word;
    private uint _generation;
    private readonly object? _owner;

    internal BufferEnumerator(BufferView<T> view, object? owner)
    {
        HandleWords.Acquire(view.Word, view.Generation);
        _first = view.Pointer;
        _index = -1;
        _length = view.Length;
        _word = view.Word;
        _generation = view.Generation;
        _owner = owner;
    }

    /// <summary>The element: to read, and to write. Requires a <see cref="MoveNext"/> that was true.</summary>
    public readonly ref T Current
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => ref _first[_index];
    }

    /// <summary>Goes to the next element.</summary>
    /// <returns>False when there is none.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool MoveNext()
    {
        nint next = _index + 1;
        if (next >= _length)
        {
            return false;
        }
        _index = next;
        return true;
    }

    /// <summary>No longer holds the buffer. A second time does nothing.</summary>
    public void Dispose()
    {
        uint generation = _generation;
        _generation = 0;
        _first = null;
        _length = 0;
        if (generation != 0)
        {
            HandleWords.Release(_word, generation);
            GC.KeepAlive(_owner);
        }
    }
}
