// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

/// <summary>What the calling thread allocates inside the scope belongs to an owner tag.</summary>
/// <remarks>
/// Cost of a scope: two calls, and a name look-up when it is given a name instead of a tag; of an allocation: nothing.
/// Scopes nest and belong to the thread that opened them. A copy is the same scope: only one of them may be disposed.
/// <example><code>
/// using var owner = new TagScope("physics");
/// </code></example>
/// </remarks>
public ref struct TagScope : IDisposable
{
    private readonly uint _before;
    private bool _isOpen;

    /// <summary>Begins a scope for a tag.</summary>
    /// <param name="tag">The owner; the default one for none.</param>
    /// <exception cref="TenureLoadException">There is no native library, or another version's.</exception>
    public TagScope(Tag tag)
    {
        NativeLibraryCheck.Ensure();
        _before = NativeMethods.tn_tag_push(tag.Id);
        _isOpen = true;
    }

    /// <summary>Begins a scope for an owner's name.</summary>
    /// <param name="name">As <see cref="Tag.Named"/>.</param>
    /// <exception cref="TenureLoadException">There is no native library, or another version's.</exception>
    public TagScope(ReadOnlySpan<char> name)
        : this(Tag.Named(name))
    {
    }

    /// <summary>Ends it: the thread's tag is what it was before. A second time does nothing.</summary>
    public void Dispose()
    {
        if (_isOpen)
        {
            _isOpen = false;
            NativeMethods.tn_tag_pop(_before);
        }
    }
}
