// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

namespace Tenure;

/// <summary>The origin of an option's value.</summary>
public enum OptionOrigin
{
    /// <summary>The library's default.</summary>
    BuiltIn = 0,

    /// <summary>An environment variable, read once.</summary>
    Environment = 1,

    /// <summary>Set by the program.</summary>
    Program = 2,
}

/// <summary>A setting of the native library, as it was when it was read.</summary>
public sealed record TenureOption
{
    /// <summary>Gets the option's name in <see cref="TenureOptions"/>: "temp_budget_bytes".</summary>
    public required string Name { get; init; }

    /// <summary>Gets the environment variable that sets the option: "TENURE_TEMP_BUDGET".</summary>
    public required string EnvironmentVariable { get; init; }

    /// <summary>Gets a one-sentence description.</summary>
    public required string Help { get; init; }

    /// <summary>Gets the value.</summary>
    public ulong Value { get; init; }

    /// <summary>The library's default.</summary>
    public ulong BuiltInValue { get; init; }

    /// <summary>Gets the lowest valid value.</summary>
    public ulong Lowest { get; init; }

    /// <summary>Gets the highest valid value.</summary>
    public ulong Highest { get; init; }

    /// <summary>Gets the origin of the value.</summary>
    public OptionOrigin Origin { get; init; }
}
