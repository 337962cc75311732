// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Concurrent;
using System.Diagnostics;
using System.Threading;

namespace Tenure;

/// <summary>Tracks handles created by C#, for stacks in listings and for open leak scopes. Off while neither needs
/// it.</summary>
internal static class HandleWatch
{
    private static readonly ConcurrentDictionary<ulong, StackTrace> s_stacks = new();
    private static readonly AsyncLocal<LeakScope?> s_scope = new();
    private static int s_captures = AppContext.TryGetSwitch("Tenure.Leaks.Stacks", out bool wanted) && wanted ? 1 : 0;
    private static int s_watchers = s_captures; // one for stack capture (the line above), plus one per open scope

    internal static bool IsOn => Volatile.Read(ref s_watchers) != 0;

    internal static LeakScope? Scope
    {
        get => s_scope.Value;
        set => s_scope.Value = value;
    }

    internal static bool CapturesStacks
    {
        get => Volatile.Read(ref s_captures) != 0;
        set
        {
            int now = value ? 1 : 0;
            if (Interlocked.Exchange(ref s_captures, now) != now)
            {
                Interlocked.Add(ref s_watchers, value ? 1 : -1);
            }
            if (!value)
            {
                s_stacks.Clear();
            }
        }
    }

    internal static void Begin() => Interlocked.Increment(ref s_watchers);

    internal static void End() => Interlocked.Decrement(ref s_watchers);

    internal static void Note(in NativeHandle handle)
    {
        if (CapturesStacks)
        {
            s_stacks[handle.Identity] = new StackTrace(2, true);
        }
        for (LeakScope? scope = s_scope.Value; scope is not null; scope = scope.Outer)
        {
            scope.Note(in handle);
        }
    }

    internal static void Forget(in NativeHandle handle) => s_stacks.TryRemove(handle.Identity, out _);

    internal static string? StackOf(in NativeHandle handle) =>
        s_stacks.TryGetValue(handle.Identity, out StackTrace? stack) ? stack.ToString().TrimEnd() : null;
}
