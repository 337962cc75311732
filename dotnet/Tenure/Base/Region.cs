// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

/// <summary>A named part of what the calling thread does, for whoever observes the process: <c>tenure watch</c>.</summary>
/// <remarks>
/// <para><b>Use it for</b> a frame's parts, a parallel loop, the level that is loaded. <b>Cost</b> a call at each end,
/// and one more where somebody observes; names as text are turned into UTF-8 on the stack.</para>
/// <para><b>Names</b> are read during the call: an observer copies up to 63 bytes of one that it sees for the first
/// time. Best are literals: <c>"frame"u8</c>.</para>
/// <para><b>Threads</b> a region begins and ends on one thread. Regions nest. A copy is the same region: only one of
/// them may be disposed.</para>
/// <example><code>
/// using var region = Region.Begin("physics"u8);
/// </code></example>
/// </remarks>
public unsafe ref struct Region : IDisposable
{
    private bool _isOpen;

    private Region(bool isOpen) => _isOpen = isOpen;

    /// <summary>Begins a region on the calling thread.</summary>
    /// <param name="name">Its name as UTF-8.</param>
    /// <returns>The region; <c>using</c> ends it.</returns>
    /// <exception cref="TenureLoadException">There is no native library, or another version's.</exception>
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
    /// <param name="name">Its name.</param>
    /// <returns>The region; <c>using</c> ends it.</returns>
    /// <exception cref="TenureLoadException">There is no native library, or another version's.</exception>
    public static Region Begin(scoped ReadOnlySpan<char> name)
    {
        using var text = new Utf8Text(name, stackalloc byte[Utf8Text.StackBytes]);
        return Begin(text.Bytes);
    }

    /// <summary>Marks a moment: "level loaded".</summary>
    /// <param name="name">Its name as UTF-8.</param>
    /// <exception cref="TenureLoadException">There is no native library, or another version's.</exception>
    public static void Mark(scoped ReadOnlySpan<byte> name)
    {
        NativeLibraryCheck.Ensure();
        fixed (byte* bytes = name)
        {
            NativeMethods.tn_mark(bytes, (nuint)name.Length);
        }
    }

    /// <summary>Marks a moment.</summary>
    /// <param name="name">Its name.</param>
    /// <exception cref="TenureLoadException">There is no native library, or another version's.</exception>
    public static void Mark(scoped ReadOnlySpan<char> name)
    {
        using var text = new Utf8Text(name, stackalloc byte[Utf8Text.StackBytes]);
        Mark(text.Bytes);
    }

    /// <summary>Ends it. A second time does nothing.</summary>
    public void Dispose()
    {
        if (_isOpen)
        {
            _isOpen = false;
            NativeMethods.tn_region_end();
        }
    }
}
