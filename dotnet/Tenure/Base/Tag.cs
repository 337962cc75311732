// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;

namespace Tenure;

/// <summary>A registered owner name: what is allocated inside a <see cref="TagScope"/> belongs to it, in statistics and
/// leak reports. Two tags of one name are equal; the default one is no owner.</summary>
/// <remarks>4094 names of 64 KiB together in a process, C and C++ included; later ones count as "(other)". Tags are
/// shared by all threads and are never given back.</remarks>
public readonly struct Tag : IEquatable<Tag>
{
    internal Tag(uint id)
    {
        Id = id;
    }

    /// <summary>Its number: from 1 on, zero for no owner.</summary>
    public uint Id { get; }

    /// <summary>Every tag that has a name.</summary>
    /// <remarks>Cost O(tags).</remarks>
    public static IReadOnlyList<Tag> All
    {
        get
        {
            NativeLibraryCheck.Ensure();
            var tags = new Tag[NativeMethods.tn_tag_count()];
            for (int index = 0; index < tags.Length; index++)
            {
                tags[index] = new Tag((uint)index + 1);
            }
            return tags;
        }
    }

    /// <summary>Its name; "(no tag)" for no owner.</summary>
    public unsafe string Name
    {
        get
        {
            NativeLibraryCheck.Ensure();
            NativeUtf8 name;
            NativeMethods.tn_tag_name(Id, &name);
            return name.ToString();
        }
    }

    /// <summary>What its blocks amount to.</summary>
    /// <remarks>Cost O(live TempJob blocks), with a lock.</remarks>
    public unsafe TagUsage Usage
    {
        get
        {
            NativeLibraryCheck.Ensure();
            var seen = new NativeTagUsage();
            NativeMethods.tn_tag_get_usage(Id, &seen);
            return new TagUsage
            {
                PersistentCount = seen.PersistentCount,
                PersistentBytes = seen.PersistentBytes,
                TempJobCount = seen.TempJobCount,
                TempJobBytes = seen.TempJobBytes,
                TempBytes = seen.TempBytes,
            };
        }
    }

    /// <summary>Finds or registers a name.</summary>
    /// <remarks>Cost a hash and a compare once the name is known; a lock the first time. Keep the tag where it is asked
    /// for often.</remarks>
    /// <param name="name">The owner: "physics", "level loader". No owner when it is empty.</param>
    /// <returns>The tag.</returns>
    /// <exception cref="TenureLoadException">There is no native library, or another version's.</exception>
    public static unsafe Tag Named(ReadOnlySpan<char> name)
    {
        NativeLibraryCheck.Ensure();
        using var text = new Utf8Text(name, stackalloc byte[Utf8Text.StackBytes]);
        fixed (byte* bytes = text.Bytes)
        {
            return new Tag(NativeMethods.tn_tag_named(bytes, (nuint)text.Bytes.Length));
        }
    }

    /// <inheritdoc/>
    public bool Equals(Tag other) => Id == other.Id;

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is Tag other && Equals(other);

    /// <inheritdoc/>
    public override int GetHashCode() => (int)Id;

    /// <summary>Its name.</summary>
    /// <returns>As <see cref="Name"/>.</returns>
    public override string ToString() => Name;

    /// <summary>Whether both are one tag.</summary>
    /// <param name="left">One.</param>
    /// <param name="right">The other.</param>
    /// <returns>Whether they are.</returns>
    public static bool operator ==(Tag left, Tag right) => left.Equals(right);

    /// <summary>Whether they are two tags.</summary>
    /// <param name="left">One.</param>
    /// <param name="right">The other.</param>
    /// <returns>Whether they are.</returns>
    public static bool operator !=(Tag left, Tag right) => !left.Equals(right);
}
