// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Globalization;

namespace Tenure;

/// <summary>A live handle in a listing.</summary>
/// <param name="Handle">The handle. Acquire it before reading its memory.</param>
/// <param name="Kind">The kind of memory, such as <c>FixedBuffer&lt;Int64&gt;</c>.</param>
/// <param name="Size">The size in bytes.</param>
/// <param name="Tag">The name of the owner tag that was set on the allocating thread; empty for none.</param>
/// <param name="Age">The time since the memory was allocated.</param>
/// <param name="Holders">The number of holds.</param>
/// <param name="Stack">The call stack of the allocation, innermost call first, one per line; null when it was not
/// recorded. See <see cref="Leaks.CaptureStacks"/> and the option <c>handle_stack_frames</c>.</param>
public sealed record LiveHandle(
    NativeHandle Handle, string Kind, long Size, string Tag, TimeSpan Age, int Holders, string? Stack)
{
    /// <summary>Formats the handle as one line, followed by the stack if there is one. The text is the same under every
    /// culture.</summary>
    /// <returns>The text.</returns>
    public override string ToString()
    {
        string text = string.Create(
            CultureInfo.InvariantCulture,
            $"{Kind} of {Size} bytes at 0x{Handle.Address:x}, live for {Age.TotalSeconds:0.0} s");
        if (Tag.Length != 0)
        {
            text += ", owner " + Tag;
        }
        if (Holders != 0)
        {
            text += string.Create(CultureInfo.InvariantCulture, $", held {Holders} time{(Holders == 1 ? "" : "s")}");
        }
        return Stack is null ? text : text + "\n" + Stack;
    }
}
