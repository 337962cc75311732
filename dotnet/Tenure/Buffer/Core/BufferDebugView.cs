// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics;
using System.Globalization;

namespace Tenure;

/// <summary>Formats the debugger text of buffers. Reads no element.</summary>
internal static unsafe class BufferText
{
    internal static string Of(string type, long length, ulong* word, uint generation)
    {
        string state = generation == 0 ? "never allocated" : HandleWords.IsLive(word, generation) ? "" : "freed";
        return string.Create(CultureInfo.InvariantCulture, $"{type}[{length}]{(state.Length == 0 ? "" : " ")}{state}");
    }
}

/// <summary>The debugger view: a copy of at most 1000 elements, taken while the memory is held; empty when the memory
/// was freed.</summary>
internal static class BufferDebugView
{
    private const int Most = 1000;

    internal static unsafe T[] Copy<T>(BufferView<T> view)
        where T : unmanaged
    {
        try
        {
            using Hold hold = view.Held();
            return new ReadOnlySpan<T>(view.Pointer, (int)nint.Min(view.Length, Most)).ToArray();
        }
        catch (InvalidOperationException)
        {
            return []; // freed
        }
    }
}

internal sealed class FixedBufferDebugView<T>(FixedBuffer<T> buffer)
    where T : unmanaged
{
    [DebuggerBrowsable(DebuggerBrowsableState.RootHidden)]
    public T[] Items => BufferDebugView.Copy(buffer.View);
}

internal sealed class OwnedBufferDebugView<T>(OwnedBuffer<T> buffer)
    where T : unmanaged
{
    [DebuggerBrowsable(DebuggerBrowsableState.RootHidden)]
    public T[] Items => BufferDebugView.Copy(buffer.View);
}
