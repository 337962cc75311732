// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.CompilerServices;

namespace Tenure;

/// <summary>Enumerates the elements of a buffer as references and holds the buffer meanwhile. Allocates
/// nothing.</summary>
/// <remarks>For <c>foreach</c>: acquires at the start and releases at the end; each step costs the same as in a span. A
/// <c>Free</c> inside the loop throws <see cref="InvalidOperationException"/>. Do not copy the enumerator: disposing of
/// a copy as well releases another holder's hold or throws.</remarks>
/// <typeparam name="T">The type of the elements.</typeparam>
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

    /// <summary>Gets a reference to the current element, to read and to write. Requires that the last
    /// <see cref="MoveNext"/> returned true.</summary>
    public readonly ref T Current
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => ref _first[_index];
    }

    /// <summary>Advances to the next element.</summary>
    /// <returns>False when there are no more.</returns>
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

    /// <summary>Releases the buffer. A second call does nothing.</summary>
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
