// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

// What can be asked and set while the program runs.
public static unsafe partial class Jem
{
    /// <summary>Reads a number or a truth value.</summary>
    /// <typeparam name="T">What is there: bool, int, uint, long, ulong, nint or nuint.</typeparam>
    /// <param name="name">A key of jemalloc's, such as <c>arenas.narenas</c>, or an option of Tenure's with <c>tenure.</c>
    /// before it, such as <c>tenure.heap_purge_delay_ms</c>. Over Tenure's heap those keys of jemalloc's that have an equivalent.</param>
    /// <returns>The value; figures are as of the last <see cref="RefreshStats"/>.</returns>
    /// <exception cref="MallCtlException">There is no such key, it cannot be read, or is of another size.</exception>
    /// <exception cref="JemallocUnavailableException">Only jemalloc has it, and the process does not run on it.</exception>
    /// <exception cref="NotSupportedException"><typeparamref name="T"/> is none of the above.</exception>
    public static T GetMallCtl<T>(string name)
        where T : unmanaged => MallCtlCalls.Get<T>(name);

    /// <summary>Sets a number or a truth value.</summary>
    /// <typeparam name="T">What is there: bool, int, uint, long, ulong, nint or nuint.</typeparam>
    /// <param name="name">As for <see cref="GetMallCtl{T}"/>.</param>
    /// <param name="value">The value.</param>
    /// <exception cref="MallCtlException">There is no such key, it cannot be set, is of another size, or refuses the value.</exception>
    /// <exception cref="JemallocUnavailableException">Only jemalloc has it, and the process does not run on it.</exception>
    /// <exception cref="NotSupportedException"><typeparamref name="T"/> is none of the above.</exception>
    public static void SetMallCtl<T>(string name, T value)
        where T : unmanaged => MallCtlCalls.Set(name, value);

    /// <summary>Does what a key without a value stands for, such as <c>arena.0.purge</c> or <c>thread.tcache.flush</c>.</summary>
    /// <param name="name">The key.</param>
    /// <exception cref="MallCtlException">There is no such key, or it has a value.</exception>
    /// <exception cref="JemallocUnavailableException">Only jemalloc has it, and the process does not run on it.</exception>
    public static void CallMallCtl(string name) => MallCtlCalls.Do(name);

    /// <summary>Reads a key whose value is of type <c>bool</c>: <see cref="GetMallCtl{T}"/>.</summary>
    /// <param name="name">The key.</param>
    /// <returns>The value.</returns>
    public static bool GetMallCtlBool(string name) => GetMallCtl<bool>(name);

    /// <summary>Sets a key whose value is of type <c>bool</c>: <see cref="SetMallCtl{T}"/>.</summary>
    /// <param name="name">The key.</param>
    /// <param name="value">The value.</param>
    public static void SetMallCtlBool(string name, bool value) => SetMallCtl(name, value);

    /// <summary>Reads a key whose value is of type <c>int</c>: <see cref="GetMallCtl{T}"/>.</summary>
    /// <param name="name">The key.</param>
    /// <returns>The value.</returns>
    public static int GetMallCtlInt32(string name) => GetMallCtl<int>(name);

    /// <summary>Sets a key whose value is of type <c>int</c>: <see cref="SetMallCtl{T}"/>.</summary>
    /// <param name="name">The key.</param>
    /// <param name="value">The value.</param>
    public static void SetMallCtlInt32(string name, int value) => SetMallCtl(name, value);

    /// <summary>Reads a key whose value is of type <c>uint</c>: <see cref="GetMallCtl{T}"/>.</summary>
    /// <param name="name">The key.</param>
    /// <returns>The value.</returns>
    public static uint GetMallCtlUInt32(string name) => GetMallCtl<uint>(name);

    /// <summary>Sets a key whose value is of type <c>uint</c>: <see cref="SetMallCtl{T}"/>.</summary>
    /// <param name="name">The key.</param>
    /// <param name="value">The value.</param>
    public static void SetMallCtlUInt32(string name, uint value) => SetMallCtl(name, value);

    /// <summary>Reads a key whose value is of type <c>long</c>: <see cref="GetMallCtl{T}"/>.</summary>
    /// <param name="name">The key.</param>
    /// <returns>The value.</returns>
    public static long GetMallCtlInt64(string name) => GetMallCtl<long>(name);

    /// <summary>Sets a key whose value is of type <c>long</c>: <see cref="SetMallCtl{T}"/>.</summary>
    /// <param name="name">The key.</param>
    /// <param name="value">The value.</param>
    public static void SetMallCtlInt64(string name, long value) => SetMallCtl(name, value);

    /// <summary>Reads a key whose value is of type <c>long</c>: <see cref="GetMallCtl{T}"/>.</summary>
    /// <param name="name">The key.</param>
    /// <returns>The value.</returns>
    public static long GetMallCtlSInt64(string name) => GetMallCtl<long>(name);

    /// <summary>Sets a key whose value is of type <c>long</c>: <see cref="SetMallCtl{T}"/>.</summary>
    /// <param name="name">The key.</param>
    /// <param name="value">The value.</param>
    public static void SetMallCtlSInt64(string name, long value) => SetMallCtl(name, value);

    /// <summary>Reads a key whose value is of type <c>ulong</c>: <see cref="GetMallCtl{T}"/>.</summary>
    /// <param name="name">The key.</param>
    /// <returns>The value.</returns>
    public static ulong GetMallCtlUInt64(string name) => GetMallCtl<ulong>(name);

    /// <summary>Sets a key whose value is of type <c>ulong</c>: <see cref="SetMallCtl{T}"/>.</summary>
    /// <param name="name">The key.</param>
    /// <param name="value">The value.</param>
    public static void SetMallCtlUInt64(string name, ulong value) => SetMallCtl(name, value);

    /// <summary>Reads a key whose value is of type <c>nuint</c>: <see cref="GetMallCtl{T}"/>.</summary>
    /// <param name="name">The key.</param>
    /// <returns>The value.</returns>
    public static nuint GetMallCtlNUInt(string name) => GetMallCtl<nuint>(name);

    /// <summary>Sets a key whose value is of type <c>nuint</c>: <see cref="SetMallCtl{T}"/>.</summary>
    /// <param name="name">The key.</param>
    /// <param name="value">The value.</param>
    public static void SetMallCtlNUInt(string name, nuint value) => SetMallCtl(name, value);

    /// <summary>Reads a key whose value is text, such as <c>version</c> or <c>opt.dss</c>; an option of Tenure's as the number that it is.</summary>
    /// <param name="name">The key.</param>
    /// <returns>The text; empty for none.</returns>
    /// <exception cref="MallCtlException">There is no such key, it cannot be read, or is not known to be text.</exception>
    /// <exception cref="JemallocUnavailableException">Only jemalloc has it, and the process does not run on it.</exception>
    public static string GetMallCtlStr(string name) => MallCtlCalls.GetText(name);

    /// <summary>Sets a key whose value is text, such as <c>arena.0.dss</c>; an option of Tenure's as the environment would, such as <c>64M</c>.</summary>
    /// <param name="name">The key.</param>
    /// <param name="value">The text.</param>
    /// <exception cref="MallCtlException">There is no such key, it cannot be set, is not known to be text, or refuses the value.</exception>
    /// <exception cref="JemallocUnavailableException">Only jemalloc has it, and the process does not run on it.</exception>
    public static void SetMallCtlStr(string name, string value) => MallCtlCalls.SetText(name, value);

    /// <summary>Looks a key up, for <see cref="GetMallCtlByMib{T}"/>. With a type: <see cref="MallCtlKey{T}"/>.</summary>
    /// <param name="name">The key.</param>
    /// <returns>Its numbers; those that are an index may be changed.</returns>
    /// <exception cref="MallCtlException">There is no such key.</exception>
    /// <exception cref="JemallocUnavailableException">Only jemalloc has it, and the process does not run on it.</exception>
    public static nuint[] MallCtlNameToMib(string name)
    {
        if (Backend == JemBackend.Jemalloc && !MallCtlCalls.IsJemallocs(name))
        {
            throw new MallCtlException(name, MallCtlCalls.NoEntry, $"\"{name}\" is Tenure's: jemalloc has no numbers for it.");
        }
        MallCtlMib mib = default;
        int parts = MallCtlCalls.NameToMib(name, ref mib);
        return ((ReadOnlySpan<nuint>)mib)[..parts].ToArray();
    }

    /// <summary>Reads a key by its numbers. Tenure's own options have names only while the process runs on jemalloc.</summary>
    /// <typeparam name="T">What is there: bool, int, uint, long, ulong, nint or nuint.</typeparam>
    /// <param name="mib">From <see cref="MallCtlNameToMib"/>.</param>
    /// <returns>The value.</returns>
    /// <exception cref="MallCtlException">There is no such key, it cannot be read, or is of another size.</exception>
    public static T GetMallCtlByMib<T>(ReadOnlySpan<nuint> mib)
        where T : unmanaged => MallCtlCalls.GetByMib<T>(MibText(mib), mib);

    /// <summary>Sets a key by its numbers. Tenure's own options have names only while the process runs on jemalloc.</summary>
    /// <typeparam name="T">What is there: bool, int, uint, long, ulong, nint or nuint.</typeparam>
    /// <param name="mib">From <see cref="MallCtlNameToMib"/>.</param>
    /// <param name="value">The value.</param>
    /// <exception cref="MallCtlException">There is no such key, it cannot be set, is of another size, or refuses the value.</exception>
    public static void SetMallCtlByMib<T>(ReadOnlySpan<nuint> mib, T value)
        where T : unmanaged => MallCtlCalls.SetByMib(MibText(mib), mib, value);

    /// <summary>jemalloc's <c>mallctl</c> as it is: sizes and types are the caller's business.</summary>
    /// <param name="name">The key.</param>
    /// <param name="oldp">Where the value goes; zero for not at all.</param>
    /// <param name="oldlenp">How many bytes there are, and then were.</param>
    /// <param name="newp">The value to set; zero for none.</param>
    /// <param name="newlen">How many bytes it has.</param>
    /// <returns>0, or what C's errno would be.</returns>
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

    /// <summary>jemalloc's <c>mallctlbymib</c> as it is: sizes and types are the caller's business.</summary>
    /// <param name="mib">From <see cref="MallCtlNameToMib"/>.</param>
    /// <param name="oldp">Where the value goes; zero for not at all.</param>
    /// <param name="oldlenp">How many bytes there are, and then were.</param>
    /// <param name="newp">The value to set; zero for none.</param>
    /// <param name="newlen">How many bytes it has.</param>
    /// <returns>0, or what C's errno would be.</returns>
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
        ? throw new ArgumentException("There are no numbers.", nameof(mib))
        : "mib " + string.Join('.', mib.ToArray());
}
