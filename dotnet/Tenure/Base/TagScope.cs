// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

/// <summary>Assigns the calling thread's allocations inside the scope to an owner tag.</summary>
/// <remarks>
/// Cost: two native calls per scope, plus a name look-up when the scope is opened with a name instead of a tag; none
/// per allocation. Scopes nest and belong to the thread that opened them. A copy is the same scope: dispose only one of
/// them. The native library built with checks reports a scope that ends before one inside it, or twice.
/// <example><code>
/// using var owner = new TagScope("physics");
/// </code></example>
/// </remarks>
public ref struct TagScope : IDisposable
{
    private readonly uint _before;
    private bool _isOpen;

    /// <summary>Begins a scope for a tag.</summary>
    /// <param name="tag">The owner's tag; the default value for no owner.</param>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public TagScope(Tag tag)
    {
        NativeLibraryCheck.Ensure();
        _before = NativeMethods.tn_tag_begin(tag.Id);
        _isOpen = true;
    }

    /// <summary>Begins a scope for an owner's name.</summary>
    /// <param name="name">The owner's name; see <see cref="Tag.Named"/>.</param>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public TagScope(ReadOnlySpan<char> name)
        : this(Tag.Named(name))
    {
    }

    /// <summary>Ends the scope and restores the thread's previous tag. A second call does nothing.</summary>
    public void Dispose()
    {
        if (_isOpen)
        {
            _isOpen = false;
            NativeMethods.tn_tag_end(_before);
        }
    }
}
