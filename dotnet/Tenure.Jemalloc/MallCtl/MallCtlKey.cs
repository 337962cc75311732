// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Globalization;

namespace Tenure;

/// <summary>A <c>mallctl</c> key that is looked up once, for frequent reads and writes.</summary>
/// <typeparam name="T">The type of the value in jemalloc: bool, int, uint, long, ulong, nint or nuint.</typeparam>
/// <remarks>Each index has its own key: see <see cref="WithIndex"/>. Any thread may use a key. The default value is
/// rejected.</remarks>
public readonly unsafe struct MallCtlKey<T> : IEquatable<MallCtlKey<T>>
    where T : unmanaged
{
    private readonly string? _name;
    private readonly MallCtlMib _mib;
    private readonly int _parts;

    /// <summary>Looks up a key.</summary>
    /// <param name="name">The key, such as <c>stats.allocated</c> or <c>arenas.bin.0.size</c>.</param>
    /// <exception cref="MallCtlException">The key does not exist.</exception>
    /// <exception cref="JemallocUnavailableException">The key exists only in jemalloc, and the process does not run on
    /// it.</exception>
    /// <exception cref="NotSupportedException"><typeparamref name="T"/> is not one of these types.</exception>
    public MallCtlKey(string name)
    {
        MallCtlCalls.UnlessNumber<T>();
        _name = name;
        _parts = MallCtlCalls.NameToMib(name, ref _mib);
    }

    private MallCtlKey(string name, MallCtlMib mib, int parts) => (_name, _mib, _parts) = (name, mib, parts);

    /// <summary>Gets the name.</summary>
    public string Name => _name ?? "";

    /// <summary>Gets the numbers of the key, as <c>mallctlbymib</c> takes them.</summary>
    public nuint[] ToMib()
    {
        MallCtlMib mib = _mib;
        return ((ReadOnlySpan<nuint>)mib)[.._parts].ToArray();
    }

    /// <summary>Gets the same key with another index, without a look-up.</summary>
    /// <param name="part">The part of the name, from 0, that is the index: 2 in <c>arenas.bin.0.size</c>.</param>
    /// <param name="index">The index.</param>
    /// <returns>The new key.</returns>
    /// <exception cref="ArgumentOutOfRangeException">That part is not a number, or the index is negative.</exception>
    public MallCtlKey<T> WithIndex(int part, int index)
    {
        string[] parts = Name.Split('.');
        if ((uint)part >= (uint)_parts || !uint.TryParse(parts[part], NumberStyles.None, CultureInfo.InvariantCulture, out _))
        {
            throw new ArgumentOutOfRangeException(nameof(part), part, $"Part {part} of \"{Name}\", counted from 0, is not an index. Pass the position of a number in the name.");
        }
        ArgumentOutOfRangeException.ThrowIfNegative(index);
        parts[part] = index.ToString(CultureInfo.InvariantCulture);
        MallCtlMib mib = _mib;
        mib[part] = (nuint)index;
        return new MallCtlKey<T>(string.Join('.', parts), mib, _parts);
    }

    /// <summary>Reads the value. Statistics are as of the last <see cref="Jem.RefreshStats"/>.</summary>
    /// <returns>The value.</returns>
    /// <exception cref="MallCtlException">The key cannot be read or has another size.</exception>
    public T Get()
    {
        UnlessThere();
        MallCtlMib mib = _mib;
        return MallCtlCalls.GetByMib<T>(Name, ((ReadOnlySpan<nuint>)mib)[.._parts]);
    }

    /// <summary>Sets the value.</summary>
    /// <param name="value">The value.</param>
    /// <exception cref="MallCtlException">The key cannot be set, has another size, or rejects the value.</exception>
    public void Set(T value)
    {
        UnlessThere();
        MallCtlMib mib = _mib;
        MallCtlCalls.SetByMib(Name, ((ReadOnlySpan<nuint>)mib)[.._parts], value);
    }

    /// <inheritdoc/>
    public bool Equals(MallCtlKey<T> other) => Name == other.Name;

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is MallCtlKey<T> other && Equals(other);

    /// <inheritdoc/>
    public override int GetHashCode() => Name.GetHashCode(StringComparison.Ordinal);

    /// <summary>Determines whether two keys are equal.</summary>
    /// <param name="left">The first key.</param>
    /// <param name="right">The second key.</param>
    /// <returns><c>true</c> if they are equal; otherwise <c>false</c>.</returns>
    public static bool operator ==(MallCtlKey<T> left, MallCtlKey<T> right) => left.Equals(right);

    /// <summary>Determines whether two keys differ.</summary>
    /// <param name="left">The first key.</param>
    /// <param name="right">The second key.</param>
    /// <returns><c>true</c> if they differ; otherwise <c>false</c>.</returns>
    public static bool operator !=(MallCtlKey<T> left, MallCtlKey<T> right) => !left.Equals(right);

    /// <inheritdoc/>
    public override string ToString() => Name;

    private void UnlessThere()
    {
        if (_name is null)
        {
            throw new InvalidOperationException("This key is a default value. Create it with the constructor, by name.");
        }
    }
}
