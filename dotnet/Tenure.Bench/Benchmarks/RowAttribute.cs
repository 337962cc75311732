// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure.Bench;

/// <summary>Whose memory a row measures.</summary>
public enum RowKind
{
    /// <summary>The garbage collector's.</summary>
    Managed,

    /// <summary>NativeMemory: the process's malloc.</summary>
    System,

    /// <summary>NativeMemory in a process that has jemalloc preloaded.</summary>
    Jemalloc,

    /// <summary>Ours.</summary>
    Tenure,
}

/// <summary>What a measured method is called in the tables. "{ours}" is the type of ours that the verb is about, "{other}" the
/// alignment that it does not have by itself.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class RowAttribute(RowKind kind, string name) : Attribute
{
    /// <summary>Whose memory.</summary>
    public RowKind Kind { get; } = kind;

    /// <summary>In the tables.</summary>
    public string Name { get; } = name;
}
