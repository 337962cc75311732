// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure.Bench;

/// <summary>The allocator that a row measures.</summary>
public enum RowKind
{
    /// <summary>The garbage collector.</summary>
    Managed,

    /// <summary>NativeMemory: the process's malloc.</summary>
    System,

    /// <summary>NativeMemory in a process with jemalloc preloaded.</summary>
    Jemalloc,

    /// <summary>Tenure.</summary>
    Tenure,
}

/// <summary>The row name of a measured method. "{ours}" stands for our type that the verb measures, "{other}" for its
/// non-default alignment.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class RowAttribute(RowKind kind, string name) : Attribute
{
    /// <summary>The allocator.</summary>
    public RowKind Kind { get; } = kind;

    /// <summary>The name in the tables.</summary>
    public string Name { get; } = name;
}
