// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tenure;

/// <summary>The handlers of the budgets of tags.</summary>
internal static unsafe class TagBudgets
{
    private static readonly ConcurrentDictionary<uint, BudgetHandler> _handlers = new();

    internal static void Set(Tag tag, ulong limitBytes, ulong thresholdBytes, BudgetHandler? handler)
    {
        NativeLibraryCheck.Ensure();
        if (handler is null)
        {
            _ = _handlers.TryRemove(tag.Id, out _);
        }
        else
        {
            _handlers[tag.Id] = handler;
        }
        int status = NativeMethods.tn_set_budget(
            tag.Id, limitBytes, thresholdBytes, handler is null ? null : &Hear, (void*)tag.Id);
        if (status != NativeMethods.Ok)
        {
            throw new InvalidOperationException("The default tag has no budget: it counts what belongs to no owner. "
                + "Name a tag with Tag.Named, and set the budget of that.");
        }
    }

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static void Hear(void* context, NativeBudgetEvent* happened)
    {
        uint id = (uint)(nuint)context;
        if (!_handlers.TryGetValue(id, out BudgetHandler? handler))
        {
            return;
        }
        try
        {
            handler(new BudgetEvent
            {
                Kind = (BudgetEventKind)happened->What,
                Tag = new Tag(id),
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
}
