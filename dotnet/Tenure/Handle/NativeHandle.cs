// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.InteropServices;

namespace Tenure;

/// <summary>What stands for a piece of native memory, and goes stale with it in every copy and on every
/// thread.</summary>
/// <remarks>
/// 24 bytes, the same in C, C++ and C#: it may be handed to native code as it is. Copied freely. A default one is
/// stale.
/// </remarks>
[StructLayout(LayoutKind.Sequential)]
public readonly unsafe struct NativeHandle : IEquatable<NativeHandle>
{
    private readonly nint _pointer;
    private readonly ulong _bytes;
    private readonly uint _entry;
    private readonly uint _generation;

    internal NativeHandle(nint pointer, ulong bytes, uint entry, uint generation)
    {
        _pointer = pointer;
        _bytes = bytes;
        _entry = entry;
        _generation = generation;
    }

    /// <summary>Where the memory is, or was.</summary>
    public nint Address => _pointer;

    /// <summary>How many bytes it has, or had.</summary>
    public ulong Bytes => _bytes;

    /// <summary>Its place in the table; zero stands for none.</summary>
    public uint Entry => _entry;

    /// <summary>Which of all that had the place; odd while it is live.</summary>
    public uint Generation => _generation;

    /// <summary>Whether the memory is there still. One load and one compare.</summary>
    public bool IsLive => HandleWords.IsLive(Word, _generation);

    internal ulong* Word => HandleWords.Of(_entry);

    /// <summary>A number that no other handle of the process has, live or stale.</summary>
    internal ulong Identity => (ulong)_entry << 32 | _generation;

    /// <inheritdoc/>
    public bool Equals(NativeHandle other) =>
        _entry == other._entry && _generation == other._generation && _pointer == other._pointer && _bytes == other._bytes;

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is NativeHandle other && Equals(other);

    /// <inheritdoc/>
    public override int GetHashCode() => HashCode.Combine(_entry, _generation);

    /// <summary>Whether both stand for the same memory.</summary>
    /// <param name="left">One.</param>
    /// <param name="right">The other.</param>
    /// <returns>Whether they are equal.</returns>
    public static bool operator ==(NativeHandle left, NativeHandle right) => left.Equals(right);

    /// <summary>Whether they stand for different memory.</summary>
    /// <param name="left">One.</param>
    /// <param name="right">The other.</param>
    /// <returns>Whether they differ.</returns>
    public static bool operator !=(NativeHandle left, NativeHandle right) => !left.Equals(right);

    /// <inheritdoc/>
    public override string ToString() =>
        string.Create(null, $"{_bytes} bytes at 0x{_pointer:x}, entry {_entry}, generation {_generation}");
}
