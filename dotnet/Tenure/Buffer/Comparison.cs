// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure;

/// <summary>Specifies how two elements are compared. NaN is not equal to, less than or greater than any
/// value.</summary>
public enum Comparison
{
    /// <summary>Equal; -0 equals +0.</summary>
    Equal,

    /// <summary>Not equal; NaN is not equal to itself.</summary>
    NotEqual,

    /// <summary>The left operand is less.</summary>
    Less,

    /// <summary>The left operand is less than or equal to the right one.</summary>
    LessOrEqual,

    /// <summary>The left operand is greater.</summary>
    Greater,

    /// <summary>The left operand is greater than or equal to the right one.</summary>
    GreaterOrEqual,
}
