// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;

namespace Tenure;

/// <summary>Every setting of the native library that can change without a rebuild.</summary>
/// <remarks>A value comes from the built-in default, from the environment (read once, at the first question) or from
/// the program; the program wins. Parts read their options when they are first used and keep what they read, so a
/// program sets them at its start. Threads any.</remarks>
public static unsafe class TenureOptions
{
    /// <summary>All of them, with their values of now.</summary>
    /// <exception cref="TenureLoadException">There is no native library, or another version's.</exception>
    public static IReadOnlyList<TenureOption> All
    {
        get
        {
            NativeLibraryCheck.Ensure();
            var options = new TenureOption[NativeMethods.tn_option_count()];
            for (uint index = 0; index < options.Length; index++)
            {
                var info = new NativeOptionInfo();
                _ = NativeMethods.tn_option_at(index, &info);
                options[index] = new TenureOption
                {
                    Name = info.Name.ToString(),
                    EnvironmentVariable = info.Environment.ToString(),
                    Help = info.Help.ToString(),
                    Value = info.Value,
                    BuiltInValue = info.BuiltIn,
                    Lowest = info.Lowest,
                    Highest = info.Highest,
                    Origin = (OptionOrigin)info.Origin,
                };
            }
            return options;
        }
    }

    /// <summary>An option's value.</summary>
    /// <param name="name">Its name, or its environment variable's.</param>
    /// <returns>The value of now.</returns>
    /// <exception cref="ArgumentException">No option is called so; the message lists those that there are.</exception>
    /// <exception cref="TenureLoadException">There is no native library, or another version's.</exception>
    public static ulong Get(string name)
    {
        ArgumentNullException.ThrowIfNull(name);
        NativeLibraryCheck.Ensure();
        using var text = new Utf8Text(name, stackalloc byte[Utf8Text.StackBytes]);
        ulong value;
        fixed (byte* bytes = text.Bytes)
        {
            Demand(NativeMethods.tn_option_get(bytes, (nuint)text.Bytes.Length, &value), name, "");
        }
        return value;
    }

    /// <summary>Sets an option to a number.</summary>
    /// <param name="name">Its name, or its environment variable's.</param>
    /// <param name="value">In the option's own unit.</param>
    /// <exception cref="ArgumentException">No option is called so, or the value is not valid; the message says what
    /// is.</exception>
    /// <exception cref="TenureLoadException">There is no native library, or another version's.</exception>
    public static void Set(string name, ulong value) => Set(name, value.ToString(CultureInfo.InvariantCulture));

    /// <summary>Sets an option to what the environment would say.</summary>
    /// <param name="name">Its name, or its environment variable's.</param>
    /// <param name="value">"64M", "all", "heap,pool".</param>
    /// <exception cref="ArgumentException">No option is called so, or the value is not valid; the message says what
    /// is.</exception>
    /// <exception cref="TenureLoadException">There is no native library, or another version's.</exception>
    public static void Set(string name, string value)
    {
        ArgumentNullException.ThrowIfNull(name);
        ArgumentNullException.ThrowIfNull(value);
        NativeLibraryCheck.Ensure();
        using var text = new Utf8Text(name, stackalloc byte[Utf8Text.StackBytes]);
        using var valueText = new Utf8Text(value, stackalloc byte[Utf8Text.StackBytes]);
        fixed (byte* bytes = text.Bytes)
        fixed (byte* valueBytes = valueText.Bytes)
        {
            Demand(
                NativeMethods.tn_option_set(
                    bytes, (nuint)text.Bytes.Length, valueBytes, (nuint)valueText.Bytes.Length), name, value);
        }
    }

    private static void Demand(int status, string name, string value)
    {
        switch (status)
        {
            case 0:
                return;
            case NativeMethods.UnknownName:
                string names = string.Join(", ", All.Select(static option => option.Name));
                throw new ArgumentException($"No option is called \"{name}\". There are: {names}.", nameof(name));
            default:
                TenureOption option = All.First(
                    option => option.Name == name || option.EnvironmentVariable == name);
                throw new ArgumentException(
                    $"\"{value}\" is not valid for the option {option.Name}; it stays {option.Value}. Valid is from "
                    + $"{option.Lowest} to {option.Highest}. {option.Help}", nameof(value));
        }
    }
}
