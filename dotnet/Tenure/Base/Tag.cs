// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;

namespace Tenure;

/// <summary>A registered owner name. Allocations inside a <see cref="TagScope"/> are assigned to it in statistics and
/// leak reports. Tags with the same name are equal; the default value means no owner.</summary>
/// <remarks>A process can register 4094 names with a total of 64 KiB, including those from C and C++. Later names are
/// counted as "(other)". All threads share the tags, which are never removed.</remarks>
public readonly struct Tag : IEquatable<Tag>
{
    internal Tag(uint id)
    {
        Id = id;
    }

    /// <summary>Gets the tag's number: 1 or more, or zero for no owner.</summary>
    public uint Id { get; }

    /// <summary>Gets all tags that have a name.</summary>
    /// <remarks>Cost: O(tags).</remarks>
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

    /// <summary>Gets the tag's name, or "(no tag)" for no owner.</summary>
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

    /// <summary>Gets the memory usage of the tag.</summary>
    /// <remarks>Cost: O(live TempJob blocks), with a lock.</remarks>
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

    /// <summary>Finds or registers a tag by name.</summary>
    /// <remarks>Cost: a hash and a compare if the name is registered; a lock the first time. Keep the tag where it is
    /// needed often.</remarks>
    /// <param name="name">The owner's name: "physics", "level loader". An empty name means no owner.</param>
    /// <returns>The tag.</returns>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public static unsafe Tag Named(ReadOnlySpan<char> name)
    {
        NativeLibraryCheck.Ensure();
        using var text = new Utf8Text(name, stackalloc byte[Utf8Text.StackBytes]);
        fixed (byte* bytes = text.Bytes)
        {
            return new Tag(NativeMethods.tn_tag_named(bytes, (nuint)text.Bytes.Length));
        }
    }

    /// <summary>Limits what the tag may have in use in the process heap, and asks to be told at a threshold. Requests that
    /// would exceed the limit fail with <see cref="OutOfMemoryException"/>.</summary>
    /// <remarks>
    /// Counted are live blocks of <see cref="Lifetime.Persistent"/> and of native code under the tag, as in
    /// <see cref="Usage"/>, not Temp and TempJob. The count is exact to what a thread's cache of the tag holds. Cost: O(threads)
    /// when such a cache is empty or a block is larger than 32 KiB; otherwise nothing. Any thread may set it; the last
    /// setting counts.
    /// </remarks>
    /// <param name="limitBytes">The most bytes; the maximum of the type is no limit.</param>
    /// <param name="thresholdBytes">The handler is told when the use exceeds it.</param>
    /// <param name="handler">Told at the threshold and at refusals; null for none.</param>
    /// <exception cref="InvalidOperationException">This is the default tag, which has no budget.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public void SetBudget(ulong limitBytes, ulong thresholdBytes = ulong.MaxValue, BudgetHandler? handler = null) =>
        TagBudgets.Set(this, limitBytes, thresholdBytes, handler);

    /// <summary>Removes the tag's budget.</summary>
    /// <exception cref="InvalidOperationException">This is the default tag, which has no budget.</exception>
    public void RemoveBudget() => TagBudgets.Set(this, ulong.MaxValue, ulong.MaxValue, null);

    /// <inheritdoc/>
    public bool Equals(Tag other) => Id == other.Id;

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is Tag other && Equals(other);

    /// <inheritdoc/>
    public override int GetHashCode() => (int)Id;

    /// <summary>Returns the tag's name.</summary>
    /// <returns>The value of <see cref="Name"/>.</returns>
    public override string ToString() => Name;

    /// <summary>Determines whether two tags are equal.</summary>
    /// <param name="left">The first tag.</param>
    /// <param name="right">The second tag.</param>
    /// <returns><c>true</c> if they are equal; otherwise <c>false</c>.</returns>
    public static bool operator ==(Tag left, Tag right) => left.Equals(right);

    /// <summary>Determines whether two tags differ.</summary>
    /// <param name="left">The first tag.</param>
    /// <param name="right">The second tag.</param>
    /// <returns><c>true</c> if they differ; otherwise <c>false</c>.</returns>
    public static bool operator !=(Tag left, Tag right) => !left.Equals(right);
}
