// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Tenure;

/// <summary>Keys on Tenure's heap: the jemalloc keys that have an equivalent, and the options under their own
/// names.</summary>
internal static unsafe class TenureCtl
{
    internal const string Prefix = "tenure.";

    /// <summary>All of jemalloc's arenas: MALLCTL_ARENAS_ALL.</summary>
    private const string Purge = "arena.4096.purge";

    /// <summary>The keys before the options, which the library numbers.</summary>
    private static readonly string[] s_keys = [.. TenureFigures.Names, "epoch", "version", "arenas.page", "arenas.quantum", Purge];

    private static ulong s_epoch = 1;

    internal static T Get<T>(string name)
        where T : unmanaged
    {
        if (Option(name) is ulong option)
        {
            return Narrowed<T>(name, option);
        }
        return name switch
        {
            "epoch" => Exact<T, ulong>(name, Interlocked.Read(ref s_epoch)),
            "arenas.page" or "arenas.quantum" => Exact<T, ulong>(
                name, name == "arenas.page" ? (ulong)Environment.SystemPageSize : Native.DefaultAlignment),
            "version" or Purge => throw new MallCtlException(name, MallCtlCalls.Invalid, $"\"{name}\" is not a number."),
            _ when Array.IndexOf(TenureFigures.Names, name) >= 0 => Exact<T, ulong>(name, TenureFigures.Of(name, TenureFigures.Now())),
            _ => throw Unknown(name),
        };
    }

    internal static void Set<T>(string name, T value)
        where T : unmanaged
    {
        if (Option(name) is not null)
        {
            SetText(name, value is bool truth ? (truth ? "1" : "0") : string.Create(CultureInfo.InvariantCulture, $"{value}"));
        }
        else if (name == "epoch")
        {
            // Statistics are always current.
            Interlocked.Increment(ref s_epoch);
        }
        else
        {
            throw IsKnown(name) ? new MallCtlException(name, MallCtlCalls.NotPermitted, $"\"{name}\" can only be read.") : Unknown(name);
        }
    }

    internal static string GetText(string name) => Option(name) is ulong option
        ? option.ToString(CultureInfo.InvariantCulture)
        : name == "version" ? Version()
        : IsKnown(name) ? throw new MallCtlException(name, MallCtlCalls.Invalid, $"\"{name}\" is not text. Read it as a number.")
        : throw Unknown(name);

    internal static void SetText(string name, string value)
    {
        if (Option(name) is null)
        {
            throw IsKnown(name) ? new MallCtlException(name, MallCtlCalls.NotPermitted, $"\"{name}\" can only be read.") : Unknown(name);
        }
        int status;
        byte[] option = MallCtlCalls.Utf8(name[Prefix.Length..]), text = MallCtlCalls.Utf8(value);
        fixed (byte* key = option, given = text)
        {
            status = NativeMethods.tn_option_set(key, (nuint)option.Length - 1, given, (nuint)text.Length - 1);
        }
        if (status != NativeMethods.Ok)
        {
            throw new MallCtlException(name, MallCtlCalls.Invalid, $"\"{name}\" does not accept \"{value}\". {Help(name)}");
        }
    }

    internal static void Do(string name)
    {
        if (name != Purge)
        {
            throw IsKnown(name) ? new MallCtlException(name, MallCtlCalls.Invalid, $"\"{name}\" has a value and cannot be called. Read or set it.") : Unknown(name);
        }
        NativeLibraryCheck.Ensure();
        NativeMethods.tn_trim();
    }

    internal static nuint NumberOf(string name)
    {
        int number = Array.IndexOf(s_keys, name);
        if (number >= 0)
        {
            return (nuint)number;
        }
        _ = Option(name) ?? throw Unknown(name);
        for (uint index = 0; ; index++)
        {
            if (OptionName(index) == name[Prefix.Length..])
            {
                return (nuint)s_keys.Length + index;
            }
        }
    }

    internal static string NameOf(ReadOnlySpan<nuint> mib)
    {
        NativeLibraryCheck.Ensure();
        nuint number = mib.Length == 1 ? mib[0] : nuint.MaxValue, keys = (nuint)s_keys.Length;
        return number < keys ? s_keys[number]
            : number - keys < NativeMethods.tn_option_count() && number >= keys ? Prefix + OptionName((uint)(number - keys))
            : throw new MallCtlException("", MallCtlCalls.NoEntry, "These numbers are not a key on Tenure's heap. Pass the numbers that MallCtlNameToMib returned.");
    }

    internal static bool IsKnown(string name) => Array.IndexOf(s_keys, name) >= 0 || Option(name) is not null;

    /// <summary>Gets the value of an option; null if the name is not an option.</summary>
    internal static ulong? Option(string name)
    {
        if (!name.StartsWith(Prefix, StringComparison.Ordinal))
        {
            return null;
        }
        NativeLibraryCheck.Ensure();
        ulong value;
        byte[] option = MallCtlCalls.Utf8(name[Prefix.Length..]);
        fixed (byte* key = option)
        {
            return NativeMethods.tn_option_get(key, (nuint)option.Length - 1, &value) == NativeMethods.Ok ? value : null;
        }
    }

    private static Exception Unknown(string name)
    {
        if (name.StartsWith(Prefix, StringComparison.Ordinal))
        {
            return new MallCtlException(name, MallCtlCalls.NoEntry, $"\"{name}\" is not a Tenure option. `tenure options` prints all options.");
        }
        return JemallocKeys.LooksLikeOne(name)
            ? new JemallocUnavailableException($"\"{name}\" is a jemalloc key.{JemallocKeys.Instead(name)}")
            : new MallCtlException(name, MallCtlCalls.NoEntry, $"\"{name}\" is neither a jemalloc key nor a Tenure option (tenure.NAME).");
    }

    private static string Version()
    {
        NativeLibraryCheck.Ensure();
        NativeUtf8 version = default;
        NativeMethods.tn_version(&version);
        return "Tenure " + version;
    }

    private static string OptionName(uint index)
    {
        var info = new NativeOptionInfo();
        return NativeMethods.tn_option_at(index, &info) == NativeMethods.Ok ? info.Name.ToString() : "";
    }

    private static string Help(string name)
    {
        var info = new NativeOptionInfo();
        for (uint index = 0; NativeMethods.tn_option_at(index, &info) == NativeMethods.Ok; index++)
        {
            if (info.Name.ToString() == name[Prefix.Length..])
            {
                return string.Create(CultureInfo.InvariantCulture, $"From {info.Lowest} to {info.Highest}: {info.Help}");
            }
        }
        return "";
    }

    /// <summary>As strict as jemalloc: a value has exactly one size.</summary>
    private static T Exact<T, TValue>(string name, TValue value)
        where T : unmanaged
        where TValue : unmanaged => sizeof(T) == sizeof(TValue)
            ? Unsafe.BitCast<TValue, T>(value)
            : throw new MallCtlException(
                name, MallCtlCalls.Invalid, $"\"{name}\" has a value of {sizeof(TValue)} bytes, not of {sizeof(T)}; use Int64, UInt64 or nuint.");

    /// <summary>Options have no fixed size: any type that can hold the value is accepted.</summary>
    private static T Narrowed<T>(string name, ulong value)
        where T : unmanaged
    {
        bool fits = typeof(T) == typeof(bool) ? value <= 1
            : typeof(T) == typeof(int) ? value <= int.MaxValue
            : typeof(T) == typeof(uint) ? value <= uint.MaxValue
            : typeof(T) == typeof(ulong) || typeof(T) == typeof(nuint) || value <= long.MaxValue;
        if (!fits)
        {
            ThrowTooLarge(name, value);
        }
        T narrowed = default;
        Buffer.MemoryCopy(&value, &narrowed, sizeof(T), sizeof(T));
        return narrowed;
    }

    [DoesNotReturn]
    private static void ThrowTooLarge(string name, ulong value) =>
        throw new MallCtlException(name, MallCtlCalls.Invalid, $"\"{name}\" is {value}, which does not fit into this type. Read it as ulong.");
}
