// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Runtime.InteropServices;
using System.Text;

namespace Tenure;

/// <summary>Reads and sets keys of both allocators, by name and by number, and words the errors.</summary>
internal static unsafe class MallCtlCalls
{
    internal const int NotPermitted = 1, NoEntry = 2, TryAgain = 11, Fault = 14, Invalid = 22;

    /// <summary>Larger than any number, so that jemalloc answers with the actual size of the value.</summary>
    private const int ProbedBytes = 64;

    internal static T Get<T>(string name)
        where T : unmanaged
    {
        UnlessNumber<T>();
        if (!IsJemallocs(name))
        {
            return TenureCtl.Get<T>(name);
        }
        T value = default;
        nuint size = (nuint)sizeof(T);
        fixed (byte* key = Utf8(name))
        {
            Check(name, JemallocMethods.MallCtl(key, &value, &size, null, 0), sizeof(T), writes: false);
        }
        return value;
    }

    internal static void Set<T>(string name, T value)
        where T : unmanaged
    {
        UnlessNumber<T>();
        if (!IsJemallocs(name))
        {
            TenureCtl.Set(name, value);
            return;
        }
        fixed (byte* key = Utf8(name))
        {
            Check(name, JemallocMethods.MallCtl(key, null, null, &value, (nuint)sizeof(T)), sizeof(T), writes: true);
        }
    }

    internal static string GetText(string name)
    {
        if (!IsJemallocs(name))
        {
            return TenureCtl.GetText(name);
        }
        UnlessText(name);
        byte* value = null;
        nuint size = (nuint)sizeof(byte*);
        fixed (byte* key = Utf8(name))
        {
            Check(name, JemallocMethods.MallCtl(key, &value, &size, null, 0), sizeof(byte*), writes: false);
        }
        return Marshal.PtrToStringUTF8((nint)value) ?? "";
    }

    internal static void SetText(string name, string value)
    {
        ArgumentNullException.ThrowIfNull(value);
        if (!IsJemallocs(name))
        {
            TenureCtl.SetText(name, value);
            return;
        }
        UnlessText(name);
        fixed (byte* key = Utf8(name), text = Utf8(value))
        {
            // jemalloc copies the text or has finished with it when the call returns.
            byte* pointer = text;
            Check(name, JemallocMethods.MallCtl(key, null, null, &pointer, (nuint)sizeof(byte*)), sizeof(byte*), writes: true);
        }
    }

    /// <summary>Performs the action of a key without a value.</summary>
    internal static void Do(string name)
    {
        if (!IsJemallocs(name))
        {
            TenureCtl.Do(name);
            return;
        }
        fixed (byte* key = Utf8(name))
        {
            Check(name, JemallocMethods.MallCtl(key, null, null, null, 0), 0, writes: true);
        }
    }

    /// <summary>Returns the number of parts.</summary>
    internal static int NameToMib(string name, ref MallCtlMib mib)
    {
        if (!IsJemallocs(name))
        {
            mib[0] = TenureCtl.NumberOf(name);
            return 1;
        }
        nuint parts = MallCtlMib.MaxParts;
        fixed (byte* key = Utf8(name))
        fixed (nuint* numbers = &mib[0])
        {
            Check(name, JemallocMethods.NameToMib(key, numbers, &parts), 0, writes: false);
        }
        return (int)parts;
    }

    internal static T GetByMib<T>(string name, ReadOnlySpan<nuint> mib)
        where T : unmanaged
    {
        UnlessNumber<T>();
        if (!IsJemallocs(name))
        {
            return TenureCtl.Get<T>(TenureCtl.NameOf(mib));
        }
        T value = default;
        nuint size = (nuint)sizeof(T);
        fixed (nuint* numbers = mib)
        {
            Check(name, JemallocMethods.ByMib(numbers, (nuint)mib.Length, &value, &size, null, 0), sizeof(T), writes: false);
        }
        return value;
    }

    internal static void SetByMib<T>(string name, ReadOnlySpan<nuint> mib, T value)
        where T : unmanaged
    {
        UnlessNumber<T>();
        if (!IsJemallocs(name))
        {
            TenureCtl.Set(TenureCtl.NameOf(mib), value);
            return;
        }
        fixed (nuint* numbers = mib)
        {
            Check(name, JemallocMethods.ByMib(numbers, (nuint)mib.Length, null, null, &value, (nuint)sizeof(T)), sizeof(T), writes: true);
        }
    }

    /// <summary>Gets the size in bytes of a jemalloc key's value; zero if it cannot be read.</summary>
    internal static int SizeOf(string name)
    {
        byte* value = stackalloc byte[ProbedBytes];
        nuint size = ProbedBytes;
        fixed (byte* key = Utf8(name))
        {
            int error = JemallocMethods.MallCtl(key, value, &size, null, 0);
            return error == Invalid && size < ProbedBytes ? (int)size : 0;
        }
    }

    internal static bool IsThere(string name)
    {
        MallCtlMib mib = default;
        nuint parts = MallCtlMib.MaxParts;
        fixed (byte* key = Utf8(name))
        {
            return JemallocMethods.NameToMib(key, (nuint*)&mib, &parts) == 0;
        }
    }

    /// <summary>Whether jemalloc handles the key: on jemalloc, every key except Tenure's own options.</summary>
    internal static bool IsJemallocs(string name)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        return JemallocSymbols.AreThere && !name.StartsWith(TenureCtl.Prefix, StringComparison.Ordinal);
    }

    internal static void UnlessNumber<T>()
        where T : unmanaged
    {
        if (typeof(T) != typeof(bool) && typeof(T) != typeof(int) && typeof(T) != typeof(uint) && typeof(T) != typeof(long)
            && typeof(T) != typeof(ulong) && typeof(T) != typeof(nint) && typeof(T) != typeof(nuint))
        {
            throw new NotSupportedException($"A mallctl value is bool, int, uint, long, ulong, nint or nuint, not {typeof(T).Name}.");
        }
    }

    /// <summary>Rejects a key that is not text: a number read as text would be used as an address.</summary>
    private static void UnlessText(string name)
    {
        if (!JemallocKeys.IsText(name))
        {
            throw new MallCtlException(name, 0, $"\"{name}\" is not known to be text. Read it as a number, or call Mallctl.");
        }
    }

    internal static byte[] Utf8(string text) => Encoding.UTF8.GetBytes(text + '\0');

    private static void Check(string name, int error, int size, bool writes)
    {
        if (error != 0)
        {
            ThrowRefused(name, error, size, writes);
        }
    }

    [DoesNotReturn]
    internal static void ThrowRefused(string name, int error, int size, bool writes)
    {
        throw new MallCtlException(name, error, $"\"{name}\" {Reason()}.");

        string Reason() => error switch
        {
            NoEntry when IsThere(name) => name.Contains("prof", StringComparison.Ordinal)
                ? "requires jemalloc to be started with profiling, by MALLOC_CONF=prof:true"
                : "was disabled when this jemalloc was built",
            NoEntry => "is not a key of this jemalloc, or has an index that does not exist" + JemallocKeys.DidYouMean(name),
            NotPermitted => writes ? "can only be read" : "can only be set",
            Invalid when SizeOf(name) is int real && real != 0 && real != size =>
                string.Create(CultureInfo.InvariantCulture, $"has a value of {real} bytes, not of {size}; use {TypesOf(real)}"),
            Invalid => writes ? "does not accept this value or a value of this type" : "has no value of this type",
            Fault => "was rejected: there is no such arena, profiling is off, or the value is out of range",
            TryAgain => "was rejected: out of memory",
            _ => string.Create(CultureInfo.InvariantCulture, $"was rejected with error {error}"),
        };

        static string TypesOf(int bytes) => bytes switch
        {
            1 => "bool",
            4 => "Int32 or UInt32",
            _ => "Int64, UInt64, nuint, or text",
        };
    }
}
