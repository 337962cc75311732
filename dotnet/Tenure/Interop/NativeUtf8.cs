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

    /// <summary>A copy; the empty text for none.</summary>
    public override readonly string ToString() =>
        Length == 0 ? "" : Encoding.UTF8.GetString(Data, checked((int)Length));
}

/// <summary>Text as UTF-8, on the stack when it is short; disposed, a longer one's array goes back to its
/// pool.</summary>
internal ref struct Utf8Text : IDisposable
{
    /// <summary>Bytes that a caller takes on its stack.</summary>
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

    /// <summary>Once.</summary>
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
