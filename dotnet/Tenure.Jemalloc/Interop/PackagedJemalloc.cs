// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

namespace Tenure;

/// <summary>The jemalloc in this package. Its names have a prefix, so it replaces nothing, and it starts with the first
/// call instead of when it is loaded.</summary>
/// <remarks>The variable <c>tenure_je_malloc_conf</c> also says whether it has started: it is null until the first user
/// in the process sets it, even if that user is another copy of this assembly.</remarks>
internal static unsafe class PackagedJemalloc
{
    internal const string Prefix = "tenure_je_", FileName = "libtenure_jemalloc.so";

    /// <summary>The environment variable that this jemalloc reads; it has precedence over <see cref="Jem.Init"/>.</summary>
    internal const string Variable = "TENURE_JE_MALLOC_CONF";

    internal const string Switch = "Tenure.Jem.Packaged";

    private static readonly object s_lock = new();
    private static readonly List<byte> s_heard = [];

    internal static bool IsWanted => !AppContext.TryGetSwitch(Switch, out bool isOn) || isOn;

    /// <summary>Loads the library; zero if the package has none for this platform.</summary>
    internal static nint Load()
    {
        // The same places as for Tenure's own library.
        const DllImportSearchPath places = DllImportSearchPath.AssemblyDirectory | DllImportSearchPath.SafeDirectories;
        return OperatingSystem.IsLinux() && IsWanted
            && NativeLibrary.TryLoad(FileName, typeof(PackagedJemalloc).Assembly, places, out nint library) ? library : 0;
    }

    internal static string WhyNot() => IsWanted
        ? $"The jemalloc of the package Tenure.Jemalloc ({FileName}) was not found."
        : $"The switch {Switch} is off.";

    /// <summary>Gets the configuration with which jemalloc started; null if it has not started.</summary>
    internal static string? Conf
    {
        get
        {
            nint variable = JemallocSymbols.Address("malloc_conf");
            return variable == 0 ? "" : Marshal.PtrToStringUTF8(Volatile.Read(ref *(nint*)variable));
        }
    }

    internal static bool HasStarted => Conf is not null;

    /// <summary>Sets the configuration with which jemalloc starts, unless another caller has.</summary>
    internal static bool Claim(string conf)
    {
        nint variable = JemallocSymbols.Address("malloc_conf");
        // Never freed: jemalloc keeps the address.
        nint text = Marshal.StringToCoTaskMemUTF8(conf);
        if (variable != 0 && Interlocked.CompareExchange(ref *(nint*)variable, text, 0) == 0)
        {
            return true;
        }
        Marshal.FreeCoTaskMem(text);
        return false;
    }

    /// <summary>Starts jemalloc. Returns its messages about the configuration, a line each; null if it had
    /// started.</summary>
    internal static List<string>? Start(string conf)
    {
        lock (s_lock)
        {
            if (HasStarted)
            {
                return null;
            }
            nint writer = JemallocSymbols.Address("malloc_message");
            nint before = writer == 0 ? 0 : Interlocked.Exchange(ref *(nint*)writer, (nint)(delegate* unmanaged[Cdecl]<void*, byte*, void>)&Hear);
            bool isOurs = Claim(conf);
            if (isOurs)
            {
                // Any call starts it.
                MallCtlCalls.IsThere("version");
            }
            if (writer != 0)
            {
                Interlocked.Exchange(ref *(nint*)writer, before);
            }
            return isOurs ? Heard() : null;
        }
    }

    /// <summary>Writes lines where jemalloc would have written them.</summary>
    internal static void Write(IEnumerable<string> lines)
    {
        nint writer = JemallocSymbols.Address("malloc_message");
        nint now = writer == 0 ? 0 : Volatile.Read(ref *(nint*)writer);
        foreach (string line in lines)
        {
            if (now == 0)
            {
                Console.Error.WriteLine(line);
                continue;
            }
            fixed (byte* text = MallCtlCalls.Utf8(line + "\n"))
            {
                ((delegate* unmanaged[Cdecl]<void*, byte*, void>)now)(null, text);
            }
        }
    }

    /// <summary>The runtime does not allocate from this jemalloc, so managed code may run here.</summary>
    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static void Hear(void* context, byte* message)
    {
        lock (s_heard)
        {
            s_heard.AddRange(MemoryMarshal.CreateReadOnlySpanFromNullTerminated(message));
        }
    }

    private static List<string> Heard()
    {
        lock (s_heard)
        {
            string text = Encoding.UTF8.GetString(s_heard.ToArray());
            s_heard.Clear();
            return [.. text.Split('\n', StringSplitOptions.RemoveEmptyEntries)];
        }
    }
}
