// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Buffers;
using System.Runtime.InteropServices;
using System.Text;

namespace Tenure;

/// <summary><c>tn_text</c>: UTF-8 with a length, not terminated.</summary>
[StructLayout(LayoutKind.Sequential)]
internal unsafe struct NativeUtf8
{
    public byte* Data;
    public ulong Length;

    /// <summary>Returns a copy of the text; the empty string if there is none.</summary>
    public override readonly string ToString() =>
        Length == 0 ? "" : Encoding.UTF8.GetString(Data, checked((int)Length));
}

/// <summary>Converts text to UTF-8, on the stack if it is short. A longer text uses a pooled array, which Dispose
/// returns.</summary>
internal ref struct Utf8Text : IDisposable
{
    /// <summary>The number of bytes that a caller provides on its stack.</summary>
    internal const int StackBytes = 128;

    private readonly Span<byte> _bytes;
    private byte[]? _rented;

    internal Utf8Text(ReadOnlySpan<char> text, Span<byte> scratch)
    {
        int most = Encoding.UTF8.GetMaxByteCount(text.Length);
        if (most > scratch.Length)
        {
            _rented = ArrayPool<byte>.Shared.Rent(most);
            scratch = _rented;
        }
        _bytes = scratch[..Encoding.UTF8.GetBytes(text, scratch)];
    }

    internal readonly ReadOnlySpan<byte> Bytes => _bytes;

    /// <summary>Returns the pooled array, once.</summary>
    public void Dispose()
    {
        byte[]? rented = _rented;
        _rented = null;
        if (rented is not null)
        {
            ArrayPool<byte>.Shared.Return(rented);
        }
    }
}
