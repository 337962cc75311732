// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

/// <summary>A named part of the calling thread's work, for tools that observe the process: <c>tenure
/// watch</c>.</summary>
/// <remarks>
/// <para><b>Use it for</b> the parts of a frame, a parallel loop, loading a level. <b>Cost</b> one native call at each
/// end, and one more while a tool observes the process. UTF-16 names are converted to UTF-8 on the stack.</para>
/// <para><b>Names</b> are read during the call: an observer copies up to 63 bytes of a name when it first sees it.
/// Prefer literals: <c>"frame"u8</c>.</para>
/// <para><b>Threads</b> a region begins and ends on one thread. Regions nest. A copy is the same region: dispose only
/// one of them.</para>
/// <example><code>
/// using var region = Region.Begin("physics"u8);
/// </code></example>
/// </remarks>
public unsafe ref struct Region : IDisposable
{
    private bool _isOpen;

    private Region(bool isOpen) => _isOpen = isOpen;

    /// <summary>Begins a region on the calling thread.</summary>
    /// <param name="name">The name, as UTF-8.</param>
    /// <returns>The region; a <c>using</c> statement ends it.</returns>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public static Region Begin(scoped ReadOnlySpan<byte> name)
    {
        NativeLibraryCheck.Ensure();
        fixed (byte* bytes = name)
        {
            NativeMethods.tn_region_begin(bytes, (nuint)name.Length);
        }
        return new Region(true);
    }

    /// <summary>Begins a region on the calling thread.</summary>
    /// <param name="name">The name.</param>
    /// <returns>The region; a <c>using</c> statement ends it.</returns>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public static Region Begin(scoped ReadOnlySpan<char> name)
    {
        using var text = new Utf8Text(name, stackalloc byte[Utf8Text.StackBytes]);
        return Begin(text.Bytes);
    }

    /// <summary>Marks a moment: "level loaded".</summary>
    /// <param name="name">The name, as UTF-8.</param>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public static void Mark(scoped ReadOnlySpan<byte> name)
    {
        NativeLibraryCheck.Ensure();
        fixed (byte* bytes = name)
        {
            NativeMethods.tn_mark(bytes, (nuint)name.Length);
        }
    }

    /// <summary>Marks a moment.</summary>
    /// <param name="name">The name.</param>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public static void Mark(scoped ReadOnlySpan<char> name)
    {
        using var text = new Utf8Text(name, stackalloc byte[Utf8Text.StackBytes]);
        Mark(text.Bytes);
    }

    /// <summary>Ends the region. A second call does nothing.</summary>
    public void Dispose()
    {
        if (_isOpen)
        {
            _isOpen = false;
            NativeMethods.tn_region_end();
        }
    }
}
