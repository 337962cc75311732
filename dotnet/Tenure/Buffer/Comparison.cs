// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure;

/// <summary>How two elements are compared. Whatever is compared with NaN is not equal, and neither less nor
/// greater.</summary>
public enum Comparison
{
    /// <summary>Equal; -0 is +0.</summary>
    Equal,

    /// <summary>Not equal, as NaN to itself.</summary>
    NotEqual,

    /// <summary>The left side is less.</summary>
    Less,

    /// <summary>The left side is less, or they are equal.</summary>
    LessOrEqual,

    /// <summary>The left side is greater.</summary>
    Greater,

    /// <summary>The left side is greater, or they are equal.</summary>
    GreaterOrEqual,
}
