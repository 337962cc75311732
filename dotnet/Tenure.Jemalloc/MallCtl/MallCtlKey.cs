// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Globalization;

namespace Tenure;

/// <summary>A key of <c>mallctl</c>, looked up once: for what is read or set often.</summary>
/// <typeparam name="T">What jemalloc has there: bool, int, uint, long, ulong, nint or nuint.</typeparam>
/// <remarks>A value of its own for each index: <see cref="WithIndex"/>. Any thread. A default one is refused.</remarks>
public readonly unsafe struct MallCtlKey<T> : IEquatable<MallCtlKey<T>>
    where T : unmanaged
{
    private readonly string? _name;
    private readonly MallCtlMib _mib;
    private readonly int _parts;

    /// <summary>Looks a key up.</summary>
    /// <param name="name">Such as <c>stats.allocated</c> or <c>arenas.bin.0.size</c>.</param>
    /// <exception cref="MallCtlException">There is no such key.</exception>
    /// <exception cref="JemallocUnavailableException">Only jemalloc has it, and the process does not run on it.</exception>
    /// <exception cref="NotSupportedException"><typeparamref name="T"/> is none of the above.</exception>
    public MallCtlKey(string name)
    {
        MallCtlCalls.UnlessNumber<T>();
        _name = name;
        _parts = MallCtlCalls.NameToMib(name, ref _mib);
    }

    private MallCtlKey(string name, MallCtlMib mib, int parts) => (_name, _mib, _parts) = (name, mib, parts);

    /// <summary>Its name.</summary>
    public string Name => _name ?? "";

    /// <summary>Its numbers, as <c>mallctlbymib</c> takes them.</summary>
    public nuint[] ToMib()
    {
        MallCtlMib mib = _mib;
        return ((ReadOnlySpan<nuint>)mib)[.._parts].ToArray();
    }

    /// <summary>The same key with another number in it, without a look-up.</summary>
    /// <param name="part">Which part of the name, from 0; it is a number there: 2 in <c>arenas.bin.0.size</c>.</param>
    /// <param name="index">The number.</param>
    /// <returns>The other key.</returns>
    /// <exception cref="ArgumentOutOfRangeException">There is no number at that part, or it is negative.</exception>
    public MallCtlKey<T> WithIndex(int part, int index)
    {
        string[] parts = Name.Split('.');
        if ((uint)part >= (uint)_parts || !uint.TryParse(parts[part], NumberStyles.None, CultureInfo.InvariantCulture, out _))
        {
            throw new ArgumentOutOfRangeException(nameof(part), part, $"The part of \"{Name}\" with this number, from 0, is no index.");
        }
        ArgumentOutOfRangeException.ThrowIfNegative(index);
        parts[part] = index.ToString(CultureInfo.InvariantCulture);
        MallCtlMib mib = _mib;
        mib[part] = (nuint)index;
        return new MallCtlKey<T>(string.Join('.', parts), mib, _parts);
    }

    /// <summary>Reads it. Figures are as of the last <see cref="Jem.RefreshStats"/>.</summary>
    /// <returns>The value.</returns>
    /// <exception cref="MallCtlException">It cannot be read, or is of another size.</exception>
    public T Get()
    {
        UnlessThere();
        MallCtlMib mib = _mib;
        return MallCtlCalls.GetByMib<T>(Name, ((ReadOnlySpan<nuint>)mib)[.._parts]);
    }

    /// <summary>Sets it.</summary>
    /// <param name="value">The value.</param>
    /// <exception cref="MallCtlException">It cannot be set, is of another size, or refuses the value.</exception>
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

    /// <summary>Whether both are the same key.</summary>
    /// <param name="left">One.</param>
    /// <param name="right">The other.</param>
    /// <returns>Whether they are equal.</returns>
    public static bool operator ==(MallCtlKey<T> left, MallCtlKey<T> right) => left.Equals(right);

    /// <summary>Whether they are different keys.</summary>
    /// <param name="left">One.</param>
    /// <param name="right">The other.</param>
    /// <returns>Whether they differ.</returns>
    public static bool operator !=(MallCtlKey<T> left, MallCtlKey<T> right) => !left.Equals(right);

    /// <inheritdoc/>
    public override string ToString() => Name;

    private void UnlessThere()
    {
        if (_name is null)
        {
            throw new InvalidOperationException("This key is default: make it with its name.");
        }
    }
}
