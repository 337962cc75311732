// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Runtime.InteropServices;

namespace Tenure;

/// <summary>A handle for native memory. After the memory is freed, every copy on every thread is stale.</summary>
/// <remarks>
/// <para>24 bytes with the same layout in C, C++ and C#, so it can be passed to native code as is. Copy it freely. A
/// default value is stale.</para>
/// <para>Threads: any thread, each with its own copy. When threads share a field or an array element of this type and
/// one of them writes it, a read may be torn: the value is three words, so the address, the size and the generation may
/// not match. Share it under a lock, or share a reference to an object that contains it. Checking that a handle is live
/// and the next operation are two steps, and a free on another thread between them is not detected.
/// <see cref="HandleTable.Acquire"/> does both in one step.</para>
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

    /// <summary>Gets the address of the memory, also after it was freed.</summary>
    public nint Address => _pointer;

    /// <summary>Gets the size of the memory in bytes, also after it was freed.</summary>
    public ulong Bytes => _bytes;

    /// <summary>Gets the index of the entry in the table; zero means none.</summary>
    public uint Entry => _entry;

    /// <summary>Gets the generation, which distinguishes successive handles in one entry. Odd for an allocated handle;
    /// zero for a default value.</summary>
    public uint Generation => _generation;

    /// <summary>Gets a value that indicates whether the memory is still live. One load and one compare.</summary>
    public bool IsLive => HandleWords.IsLive(Word, _generation);

    /// <summary>Gets the address of the handle's word; null for a default value. A default value can be checked before
    /// the library can be loaded, so it must not look up the table, whose address is determined only once.</summary>
    internal ulong* Word => _entry == 0 ? null : HandleWords.Of(_entry);

    /// <summary>Gets a number that is unique among all handles of the process, live or stale.</summary>
    internal ulong Identity => (ulong)_entry << 32 | _generation;

    /// <inheritdoc/>
    public bool Equals(NativeHandle other) =>
        _entry == other._entry && _generation == other._generation && _pointer == other._pointer && _bytes == other._bytes;

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is NativeHandle other && Equals(other);

    /// <inheritdoc/>
    public override int GetHashCode() => HashCode.Combine(_entry, _generation);

    /// <summary>Determines whether two handles refer to the same memory.</summary>
    /// <param name="left">The first operand.</param>
    /// <param name="right">The second operand.</param>
    /// <returns>True if they are equal; otherwise, false.</returns>
    public static bool operator ==(NativeHandle left, NativeHandle right) => left.Equals(right);

    /// <summary>Determines whether two handles refer to different memory.</summary>
    /// <param name="left">The first operand.</param>
    /// <param name="right">The second operand.</param>
    /// <returns>True if they differ; otherwise, false.</returns>
    public static bool operator !=(NativeHandle left, NativeHandle right) => !left.Equals(right);

    /// <inheritdoc/>
    public override string ToString() =>
        string.Create(null, $"{_bytes} bytes at 0x{_pointer:x}, entry {_entry}, generation {_generation}");
}
