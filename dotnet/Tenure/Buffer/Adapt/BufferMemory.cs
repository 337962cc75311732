// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Buffers;

namespace Tenure;

/// <summary>Exposes native elements to code that takes <see cref="Memory{T}"/>. Each span is checked when it is taken;
/// a pin holds the memory.</summary>
internal sealed unsafe class BufferMemory<T> : MemoryManager<T>
    where T : unmanaged
{
    private readonly BufferView<T> _view;
    private readonly object? _owner;

    /// <summary>Checks the view. The view must have at most as many elements as a span can have.</summary>
    internal BufferMemory(BufferView<T> view, object? owner)
    {
        view.ThrowIfStale();
        _view = view;
        _owner = owner;
    }

    public override Memory<T> Memory => CreateMemory((int)_view.Length);

    public override Span<T> GetSpan()
    {
        _view.ThrowIfStale();
        Span<T> span = new(_view.Pointer, (int)_view.Length);
        GC.KeepAlive(_owner);
        return span;
    }

    public override MemoryHandle Pin(int elementIndex = 0)
    {
        if ((uint)elementIndex > (uint)_view.Length)
        {
            BufferErrors.ThrowStart(elementIndex, _view.Length, nameof(elementIndex));
        }
        HandleWords.Acquire(_view.Word, _view.Generation);
        return new MemoryHandle(_view.Pointer + elementIndex, default, this);
    }

    public override void Unpin()
    {
        HandleWords.Release(_view.Word, _view.Generation);
        GC.KeepAlive(_owner);
    }

    /// <summary>Does nothing: the buffer owns the memory.</summary>
    protected override void Dispose(bool disposing)
    {
    }
}

/// <summary>One segment of a long buffer in a <see cref="ReadOnlySequence{T}"/>.</summary>
internal sealed unsafe class BufferSegment<T> : ReadOnlySequenceSegment<T>
    where T : unmanaged
{
    private BufferSegment(Memory<T> memory, long start)
    {
        Memory = memory;
        RunningIndex = start;
    }

    internal static ReadOnlySequence<T> Sequence(BufferView<T> view, object owner, int chunk)
    {
        view.ThrowIfStale();
        if (view.Length == 0)
        {
            return ReadOnlySequence<T>.Empty;
        }
        BufferSegment<T>? first = null, last = null;
        for (nint start = 0; start < view.Length; start += nint.Min(chunk, view.Length - start))
        {
            BufferView<T> part = view.Part(start, nint.Min(chunk, view.Length - start));
            var next = new BufferSegment<T>(new BufferMemory<T>(part, owner).Memory, start);
            if (last is null)
            {
                first = next;
            }
            else
            {
                last.Next = next;
            }
            last = next;
        }
        return new ReadOnlySequence<T>(first!, 0, last!, last!.Memory.Length);
    }
}
