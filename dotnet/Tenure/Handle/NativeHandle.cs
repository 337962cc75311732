// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.InteropServices;

namespace Tenure;

/// <summary>What stands for a piece of native memory, and goes stale with it in every copy and on every
/// thread.</summary>
/// <remarks>
/// <para>24 bytes, the same in C, C++ and C#: it may be handed to native code as it is. Copied freely. A default one is
/// stale.</para>
/// <para>Threads: any, each with a copy of its own. A field or an array element that several threads share, one of them
/// writing, may be read torn: it is three words, and then address, size and generation do not belong together. Share it
/// under a lock, or share a reference to an object that has it. Whether it is live and what is done next are two steps,
/// and a free on another thread between them is not seen: <see cref="HandleTable.Acquire"/> is one step.</para>
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

    /// <summary>Null for a default one: it may be asked before the library can be loaded, and then the table is not
    /// looked for, whose place is found once and for good.</summary>
    internal ulong* Word => _entry == 0 ? null : HandleWords.Of(_entry);

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
