// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure;

/// <summary>What a file that <see cref="HeapProfile.Save"/> writes contains.</summary>
public enum ProfileContents
{
    /// <summary>Who holds memory and has allocated it.</summary>
    Stacks,

    /// <summary>Also what each page of the heap is used for, for <c>tenure pins</c>. Takes about 0.1 s for a GiB of
    /// memory, and at most 24 bytes of the file for every 4 KiB. After <see cref="HeapProfile.Stop"/> as
    /// <see cref="Stacks"/>.</summary>
    StacksAndPages,
}
