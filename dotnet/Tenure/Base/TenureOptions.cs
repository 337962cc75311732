// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;

namespace Tenure;

/// <summary>The settings of the native library that can change without a rebuild.</summary>
/// <remarks>A value comes from the program, else from the environment (read once, when an option is first read), else
/// from the built-in default. A part of the library reads its options when it is first used and keeps them, so set
/// options when the program starts. Any thread may call these members.</remarks>
public static unsafe class TenureOptions
{
    /// <summary>Gets all options with their current values.</summary>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
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

    /// <summary>Gets the value of an option.</summary>
    /// <param name="name">The option's name or its environment variable.</param>
    /// <returns>The current value.</returns>
    /// <exception cref="ArgumentException">There is no option with this name; the message lists the
    /// options.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
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
    /// <param name="name">The option's name or its environment variable.</param>
    /// <param name="value">The value, in the option's unit.</param>
    /// <exception cref="ArgumentException">There is no option with this name, or the value is not valid; the message
    /// says what is valid.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
    public static void Set(string name, ulong value) => Set(name, value.ToString(CultureInfo.InvariantCulture));

    /// <summary>Sets an option to a text value, as in the environment variable.</summary>
    /// <param name="name">The option's name or its environment variable.</param>
    /// <param name="value">The value: "64M", "all", "heap,pool".</param>
    /// <exception cref="ArgumentException">There is no option with this name, or the value is not valid; the message
    /// says what is valid.</exception>
    /// <exception cref="TenureLoadException">The native library is missing, cannot be loaded, or has another ABI
    /// version.</exception>
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
                throw new ArgumentException($"There is no option \"{name}\". The options are: {names}.", nameof(name));
            default:
                TenureOption option = All.First(
                    option => option.Name == name || option.EnvironmentVariable == name);
                throw new ArgumentException(
                    $"\"{value}\" is not valid for the option {option.Name}, which stays {option.Value}. Valid values are "
                    + $"{option.Lowest} to {option.Highest}. {option.Help}", nameof(value));
        }
    }
}
