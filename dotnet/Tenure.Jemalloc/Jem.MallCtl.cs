// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

// Keys that can be read and set while the program runs.
public static unsafe partial class Jem
{
    /// <summary>Reads a number or a Boolean value.</summary>
    /// <typeparam name="T">The type of the value: bool, int, uint, long, ulong, nint or nuint.</typeparam>
    /// <param name="name">A jemalloc key, such as <c>arenas.narenas</c>, or a Tenure option with the prefix
    /// <c>tenure.</c>, such as <c>tenure.heap_purge_delay_ms</c>. On Tenure's heap, only the jemalloc keys that have an
    /// equivalent.</param>
    /// <returns>The value; statistics are as of the last <see cref="RefreshStats"/>.</returns>
    /// <exception cref="MallCtlException">The key does not exist, cannot be read, or has another size.</exception>
    /// <exception cref="JemallocUnavailableException">The key exists only in jemalloc, and the process does not run on
    /// it.</exception>
    /// <exception cref="NotSupportedException"><typeparamref name="T"/> is not one of these types.</exception>
    public static T GetMallCtl<T>(string name)
        where T : unmanaged => MallCtlCalls.Get<T>(name);

    /// <summary>Sets a number or a Boolean value.</summary>
    /// <typeparam name="T">The type of the value: bool, int, uint, long, ulong, nint or nuint.</typeparam>
    /// <param name="name">The key; see <see cref="GetMallCtl{T}"/>.</param>
    /// <param name="value">The value.</param>
    /// <exception cref="MallCtlException">The key does not exist, cannot be set, has another size, or rejects the
    /// value.</exception>
    /// <exception cref="JemallocUnavailableException">The key exists only in jemalloc, and the process does not run on
    /// it.</exception>
    /// <exception cref="NotSupportedException"><typeparamref name="T"/> is not one of these types.</exception>
    public static void SetMallCtl<T>(string name, T value)
        where T : unmanaged => MallCtlCalls.Set(name, value);

    /// <summary>Performs the action of a key without a value, such as <c>arena.0.purge</c> or
    /// <c>thread.tcache.flush</c>.</summary>
    /// <param name="name">The key.</param>
    /// <exception cref="MallCtlException">The key does not exist, or it has a value.</exception>
    /// <exception cref="JemallocUnavailableException">The key exists only in jemalloc, and the process does not run on
    /// it.</exception>
    public static void CallMallCtl(string name) => MallCtlCalls.Do(name);

    /// <summary>Reads a key of type <c>bool</c>; see <see cref="GetMallCtl{T}"/>.</summary>
    /// <param name="name">The key.</param>
    /// <returns>The value.</returns>
    public static bool GetMallCtlBool(string name) => GetMallCtl<bool>(name);

    /// <summary>Sets a key of type <c>bool</c>; see <see cref="SetMallCtl{T}"/>.</summary>
    /// <param name="name">The key.</param>
    /// <param name="value">The value.</param>
    public static void SetMallCtlBool(string name, bool value) => SetMallCtl(name, value);

    /// <summary>Reads a key of type <c>int</c>; see <see cref="GetMallCtl{T}"/>.</summary>
    /// <param name="name">The key.</param>
    /// <returns>The value.</returns>
    public static int GetMallCtlInt32(string name) => GetMallCtl<int>(name);

    /// <summary>Sets a key of type <c>int</c>; see <see cref="SetMallCtl{T}"/>.</summary>
    /// <param name="name">The key.</param>
    /// <param name="value">The value.</param>
    public static void SetMallCtlInt32(string name, int value) => SetMallCtl(name, value);

    /// <summary>Reads a key of type <c>uint</c>; see <see cref="GetMallCtl{T}"/>.</summary>
    /// <param name="name">The key.</param>
    /// <returns>The value.</returns>
    public static uint GetMallCtlUInt32(string name) => GetMallCtl<uint>(name);

    /// <summary>Sets a key of type <c>uint</c>; see <see cref="SetMallCtl{T}"/>.</summary>
    /// <param name="name">The key.</param>
    /// <param name="value">The value.</param>
    public static void SetMallCtlUInt32(string name, uint value) => SetMallCtl(name, value);

    /// <summary>Reads a key of type <c>long</c>; see <see cref="GetMallCtl{T}"/>.</summary>
    /// <param name="name">The key.</param>
    /// <returns>The value.</returns>
    public static long GetMallCtlInt64(string name) => GetMallCtl<long>(name);

    /// <summary>Sets a key of type <c>long</c>; see <see cref="SetMallCtl{T}"/>.</summary>
    /// <param name="name">The key.</param>
    /// <param name="value">The value.</param>
    public static void SetMallCtlInt64(string name, long value) => SetMallCtl(name, value);

    /// <summary>Reads a key of type <c>long</c>; see <see cref="GetMallCtl{T}"/>.</summary>
    /// <param name="name">The key.</param>
    /// <returns>The value.</returns>
    public static long GetMallCtlSInt64(string name) => GetMallCtl<long>(name);

    /// <summary>Sets a key of type <c>long</c>; see <see cref="SetMallCtl{T}"/>.</summary>
    /// <param name="name">The key.</param>
    /// <param name="value">The value.</param>
    public static void SetMallCtlSInt64(string name, long value) => SetMallCtl(name, value);

    /// <summary>Reads a key of type <c>ulong</c>; see <see cref="GetMallCtl{T}"/>.</summary>
    /// <param name="name">The key.</param>
    /// <returns>The value.</returns>
    public static ulong GetMallCtlUInt64(string name) => GetMallCtl<ulong>(name);

    /// <summary>Sets a key of type <c>ulong</c>; see <see cref="SetMallCtl{T}"/>.</summary>
    /// <param name="name">The key.</param>
    /// <param name="value">The value.</param>
    public static void SetMallCtlUInt64(string name, ulong value) => SetMallCtl(name, value);

    /// <summary>Reads a key of type <c>nuint</c>; see <see cref="GetMallCtl{T}"/>.</summary>
    /// <param name="name">The key.</param>
    /// <returns>The value.</returns>
    public static nuint GetMallCtlNUInt(string name) => GetMallCtl<nuint>(name);

    /// <summary>Sets a key of type <c>nuint</c>; see <see cref="SetMallCtl{T}"/>.</summary>
    /// <param name="name">The key.</param>
    /// <param name="value">The value.</param>
    public static void SetMallCtlNUInt(string name, nuint value) => SetMallCtl(name, value);

    /// <summary>Reads a key with a text value, such as <c>version</c> or <c>opt.dss</c>; a Tenure option is returned as
    /// its number.</summary>
    /// <param name="name">The key.</param>
    /// <returns>The text; empty for none.</returns>
    /// <exception cref="MallCtlException">The key does not exist, cannot be read, or is not known to be
    /// text.</exception>
    /// <exception cref="JemallocUnavailableException">The key exists only in jemalloc, and the process does not run on
    /// it.</exception>
    public static string GetMallCtlStr(string name) => MallCtlCalls.GetText(name);

    /// <summary>Sets a key with a text value, such as <c>arena.0.dss</c>; for a Tenure option, the value is as in the
    /// environment, such as <c>64M</c>.</summary>
    /// <param name="name">The key.</param>
    /// <param name="value">The text.</param>
    /// <exception cref="MallCtlException">The key does not exist, cannot be set, is not known to be text, or rejects
    /// the value.</exception>
    /// <exception cref="JemallocUnavailableException">The key exists only in jemalloc, and the process does not run on
    /// it.</exception>
    public static void SetMallCtlStr(string name, string value) => MallCtlCalls.SetText(name, value);

    /// <summary>Looks up a key for <see cref="GetMallCtlByMib{T}"/>. For a typed key, see
    /// <see cref="MallCtlKey{T}"/>.</summary>
    /// <param name="name">The key.</param>
    /// <returns>The numbers of the key; those that are an index may be changed.</returns>
    /// <exception cref="MallCtlException">The key does not exist.</exception>
    /// <exception cref="JemallocUnavailableException">The key exists only in jemalloc, and the process does not run on
    /// it.</exception>
    public static nuint[] MallCtlNameToMib(string name)
    {
        if (Backend == JemBackend.Jemalloc && !MallCtlCalls.IsJemallocs(name))
        {
            throw new MallCtlException(name, MallCtlCalls.NoEntry, $"\"{name}\" is a Tenure option: jemalloc has no numbers for it. Read or set it by name.");
        }
        MallCtlMib mib = default;
        int parts = MallCtlCalls.NameToMib(name, ref mib);
        return ((ReadOnlySpan<nuint>)mib)[..parts].ToArray();
    }

    /// <summary>Reads a key by its numbers. While the process runs on jemalloc, Tenure's own options have only
    /// names.</summary>
    /// <typeparam name="T">The type of the value: bool, int, uint, long, ulong, nint or nuint.</typeparam>
    /// <param name="mib">The numbers from <see cref="MallCtlNameToMib"/>.</param>
    /// <returns>The value.</returns>
    /// <exception cref="MallCtlException">The key does not exist, cannot be read, or has another size.</exception>
    public static T GetMallCtlByMib<T>(ReadOnlySpan<nuint> mib)
        where T : unmanaged => MallCtlCalls.GetByMib<T>(MibText(mib), mib);

    /// <summary>Sets a key by its numbers. While the process runs on jemalloc, Tenure's own options have only
    /// names.</summary>
    /// <typeparam name="T">The type of the value: bool, int, uint, long, ulong, nint or nuint.</typeparam>
    /// <param name="mib">The numbers from <see cref="MallCtlNameToMib"/>.</param>
    /// <param name="value">The value.</param>
    /// <exception cref="MallCtlException">The key does not exist, cannot be set, has another size, or rejects the
    /// value.</exception>
    public static void SetMallCtlByMib<T>(ReadOnlySpan<nuint> mib, T value)
        where T : unmanaged => MallCtlCalls.SetByMib(MibText(mib), mib, value);

    /// <summary>Calls jemalloc's <c>mallctl</c> directly; the caller is responsible for sizes and types.</summary>
    /// <param name="name">The key.</param>
    /// <param name="oldp">The location that receives the value; zero to not read it.</param>
    /// <param name="oldlenp">The size of that location in bytes; receives the size of the value.</param>
    /// <param name="newp">The value to set; zero for none.</param>
    /// <param name="newlen">The size of the value to set, in bytes.</param>
    /// <returns>0, or the C errno value.</returns>
    /// <exception cref="JemallocUnavailableException">The process does not run on jemalloc.</exception>
    public static int Mallctl(string name, nint oldp, ref ulong oldlenp, nint newp, ulong newlen)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        RequireJemalloc();
        fixed (byte* key = MallCtlCalls.Utf8(name))
        fixed (ulong* length = &oldlenp)
        {
            return JemallocMethods.MallCtl(key, (void*)oldp, (nuint*)length, (void*)newp, (nuint)newlen);
        }
    }

    /// <summary>Calls jemalloc's <c>mallctlbymib</c> directly; the caller is responsible for sizes and types.</summary>
    /// <param name="mib">The numbers from <see cref="MallCtlNameToMib"/>.</param>
    /// <param name="oldp">The location that receives the value; zero to not read it.</param>
    /// <param name="oldlenp">The size of that location in bytes; receives the size of the value.</param>
    /// <param name="newp">The value to set; zero for none.</param>
    /// <param name="newlen">The size of the value to set, in bytes.</param>
    /// <returns>0, or the C errno value.</returns>
    /// <exception cref="JemallocUnavailableException">The process does not run on jemalloc.</exception>
    public static int Mallctlbymib(ReadOnlySpan<nuint> mib, nint oldp, ref ulong oldlenp, nint newp, ulong newlen)
    {
        RequireJemalloc();
        fixed (nuint* numbers = mib)
        fixed (ulong* length = &oldlenp)
        {
            return JemallocMethods.ByMib(numbers, (nuint)mib.Length, (void*)oldp, (nuint*)length, (void*)newp, (nuint)newlen);
        }
    }

    private static string MibText(ReadOnlySpan<nuint> mib) => mib.IsEmpty
        ? throw new ArgumentException("The mib is empty. Pass the numbers that MallCtlNameToMib returned.", nameof(mib))
        : "mib " + string.Join('.', mib.ToArray());
}
