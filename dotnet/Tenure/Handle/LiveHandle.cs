// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Globalization;

namespace Tenure;

/// <summary>A live handle as a listing tells it.</summary>
/// <param name="Handle">The handle itself: acquire it before its memory is read.</param>
/// <param name="Kind">What it is, such as <c>FixedBuffer&lt;Int64&gt;</c>.</param>
/// <param name="Size">Its bytes.</param>
/// <param name="Tag">The name of the owner tag that its thread had; empty for none.</param>
/// <param name="Age">Since when it is there.</param>
/// <param name="Holders">How often it is held.</param>
/// <param name="Stack">Where it was made, innermost call first, a line each; null when that was not recorded: see
/// <see cref="Leaks.CaptureStacks"/> and the option <c>handle_stack_frames</c>.</param>
public sealed record LiveHandle(
    NativeHandle Handle, string Kind, long Size, string Tag, TimeSpan Age, int Holders, string? Stack)
{
    /// <summary>One line, and below it the stack when there is one. The same under every culture.</summary>
    /// <returns>The text.</returns>
    public override string ToString()
    {
        string text = string.Create(
            CultureInfo.InvariantCulture,
            $"{Kind} of {Size} bytes at 0x{Handle.Address:x}, live since {Age.TotalSeconds:0.0} s");
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
