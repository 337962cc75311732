// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure;

/// <summary>Where an option's value came from.</summary>
public enum OptionOrigin
{
    /// <summary>The library's default.</summary>
    BuiltIn = 0,

    /// <summary>The environment, read once.</summary>
    Environment = 1,

    /// <summary>The program set it.</summary>
    Program = 2,
}

/// <summary>A setting of the native library, as of the moment when it was asked for.</summary>
public sealed record TenureOption
{
    /// <summary>What <see cref="TenureOptions"/> calls it: "temp_budget_bytes".</summary>
    public required string Name { get; init; }

    /// <summary>The environment variable that sets it: "TENURE_TEMP_BUDGET".</summary>
    public required string EnvironmentVariable { get; init; }

    /// <summary>One sentence about it.</summary>
    public required string Help { get; init; }

    /// <summary>Its value.</summary>
    public ulong Value { get; init; }

    /// <summary>The library's default.</summary>
    public ulong BuiltInValue { get; init; }

    /// <summary>The lowest value that is valid.</summary>
    public ulong Lowest { get; init; }

    /// <summary>The highest value that is valid.</summary>
    public ulong Highest { get; init; }

    /// <summary>Where the value came from.</summary>
    public OptionOrigin Origin { get; init; }
}
