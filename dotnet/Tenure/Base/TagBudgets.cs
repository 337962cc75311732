// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tenure;

/// <summary>The handlers of the budgets of tags.</summary>
internal static unsafe class TagBudgets
{
    // By key: each handler has its own, which is its context in native code. Native code changes both together, so an
    // event finds the handler that it was meant for, or none if that was replaced meanwhile.
    private static readonly ConcurrentDictionary<nuint, Entry> _handlers = new();
    private static readonly Dictionary<uint, nuint> _keys = [];
    private static readonly object _gate = new();
    private static nuint _lastKey;

    internal static void Set(Tag tag, ulong limitBytes, ulong thresholdBytes, BudgetHandler? handler)
    {
        NativeLibraryCheck.Ensure();
        int status;
        lock (_gate)
        {
            nuint key = handler is null ? 0 : ++_lastKey;
            if (handler is not null)
            {
                _handlers[key] = new Entry(tag, handler);
            }
            status = NativeMethods.tn_set_budget(
                tag.Id, limitBytes, thresholdBytes, handler is null ? null : &Hear, (void*)key);
            if (status != NativeMethods.Ok)
            {
                _ = _handlers.TryRemove(key, out _); // the one before stays
            }
            else
            {
                if (_keys.TryGetValue(tag.Id, out nuint before))
                {
                    _ = _handlers.TryRemove(before, out _);
                }
                _keys[tag.Id] = key;
            }
        }
        if (status != NativeMethods.Ok)
        {
            throw new InvalidOperationException("The default tag has no budget: it counts what belongs to no owner. "
                + "Name a tag with Tag.Named, and set the budget of that.");
        }
    }

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static void Hear(void* context, NativeBudgetEvent* happened)
    {
        if (!_handlers.TryGetValue((nuint)context, out Entry? set))
        {
            return;
        }
        try
        {
            set.Handler(new BudgetEvent
            {
                Kind = (BudgetEventKind)happened->What,
                Tag = set.Tag,
                UsedBytes = happened->UsedBytes,
                RequestedBytes = happened->RequestedBytes,
                ThresholdBytes = happened->ThresholdBytes,
                LimitBytes = happened->LimitBytes,
            });
        }
#pragma warning disable CA1031 // an exception from a handler must not cross into native code
        catch (Exception exception)
#pragma warning restore CA1031
        {
            Console.Error.WriteLine(string.Concat("tenure: a budget handler threw ", exception.ToString()));
        }
    }

    private sealed record Entry(Tag Tag, BudgetHandler Handler);
}
