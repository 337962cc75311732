// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tenure;

/// <summary>What native code calls for <see cref="AllocationHooks"/>.</summary>
internal static unsafe class HookCalls
{
    private static readonly ConcurrentDictionary<nint, string> _names = new(); // the texts live as long as the process

    /// <summary>The hooks that heard the begin of each open call of the thread: they hear its end, also when others are
    /// installed meanwhile.</summary>
    [ThreadStatic]
    private static Stack<AllocationHooks?>? _open;

    [ThreadStatic]
    private static bool _isInHook;

    /// <summary>Installs the functions that these hooks need. There are three combinations, so that few of the eight
    /// places of a process are taken.</summary>
    /// <returns><c>false</c> if no place is left.</returns>
    internal static bool Install(AllocationHooks? hooks)
    {
        if (hooks is null)
        {
            return NativeMethods.tn_set_hooks(null) == NativeMethods.Ok;
        }
        var native = new NativeHooks { Flags = NativeHooks.NotAtThreadEnd };
        if (hooks.CallBegin is not null || hooks.CallEnd is not null)
        {
            native.CallBegin = &HearCallBegin;
            native.CallEnd = &HearCallEnd;
        }
        if (hooks.BlockBegin is not null || hooks.BlockEnd is not null)
        {
            native.BlockBegin = &HearBlockBegin;
            native.BlockEnd = &HearBlockEnd;
        }
        return NativeMethods.tn_set_hooks(&native) == NativeMethods.Ok;
    }

    // A call from inside a hook is not told, neither its begin nor its end: it lies within the hook as a whole.

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static void HearCallBegin(void* context, NativeUtf8 what, nuint bytes)
    {
        if (_isInHook)
        {
            return;
        }
        _isInHook = true;
        try
        {
            AllocationHooks? hooks = AllocationHooks.Installed;
            (_open ??= new Stack<AllocationHooks?>()).Push(hooks);
            hooks?.CallBegin?.Invoke(NameOf(what), bytes);
        }
#pragma warning disable CA1031 // an exception from a hook must not cross into native code
        catch (Exception exception)
#pragma warning restore CA1031
        {
            Tell(exception);
        }
        _isInHook = false;
    }

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static void HearCallEnd(void* context, NativeUtf8 what)
    {
        if (_isInHook || _open is not { Count: > 0 } open)
        {
            return;
        }
        _isInHook = true;
        try
        {
            open.Pop()?.CallEnd?.Invoke(NameOf(what));
        }
#pragma warning disable CA1031 // an exception from a hook must not cross into native code
        catch (Exception exception)
#pragma warning restore CA1031
        {
            Tell(exception);
        }
        _isInHook = false;
    }

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static void HearBlockBegin(void* context, void* block, nuint bytes)
    {
        if (_isInHook)
        {
            return;
        }
        _isInHook = true;
        try
        {
            AllocationHooks.Installed?.BlockBegin?.Invoke((nint)block, bytes);
        }
#pragma warning disable CA1031 // an exception from a hook must not cross into native code
        catch (Exception exception)
#pragma warning restore CA1031
        {
            Tell(exception);
        }
        _isInHook = false;
    }

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static void HearBlockEnd(void* context, void* block)
    {
        if (_isInHook)
        {
            return;
        }
        _isInHook = true;
        try
        {
            AllocationHooks.Installed?.BlockEnd?.Invoke((nint)block);
        }
#pragma warning disable CA1031 // an exception from a hook must not cross into native code
        catch (Exception exception)
#pragma warning restore CA1031
        {
            Tell(exception);
        }
        _isInHook = false;
    }

    private static string NameOf(NativeUtf8 what) =>
        _names.TryGetValue((nint)what.Data, out string? name) ? name : _names.GetOrAdd((nint)what.Data, what.ToString());

    private static void Tell(Exception exception)
    {
        try
        {
            Console.Error.WriteLine(string.Concat("tenure: a hook threw ", exception.ToString()));
        }
#pragma warning disable CA1031 // as above, where standard error is closed
        catch (Exception)
#pragma warning restore CA1031
        {
        }
    }
}
