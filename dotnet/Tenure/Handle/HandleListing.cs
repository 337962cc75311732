// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tenure;

/// <summary>Converts the native listing to objects.</summary>
internal static unsafe class HandleListing
{
    internal static List<LiveHandle> Live()
    {
        NativeLibraryCheck.Ensure();
        var raw = new List<(NativeHandleInfo Info, nint[] Stack)>();
        GCHandle context = GCHandle.Alloc(raw);
        try
        {
            NativeMethods.tn_handle_for_each(&Visit, (void*)GCHandle.ToIntPtr(context));
        }
        finally
        {
            context.Free();
        }
        // Create the texts afterwards: managed code must not run long or throw inside a callback from native code.
        var live = new List<LiveHandle>(raw.Count);
        var kinds = new Dictionary<nint, string>();
        var tags = new Dictionary<uint, string>();
        foreach ((NativeHandleInfo info, nint[] stack) in raw)
        {
            if (!kinds.TryGetValue((nint)info.Kind, out string? kind))
            {
                kinds[(nint)info.Kind] = kind = Marshal.PtrToStringUTF8((nint)info.Kind) ?? "";
            }
            if (!tags.TryGetValue(info.Tag, out string? tag))
            {
                tags[info.Tag] = tag = NameOfTag(info.Tag);
            }
            string? made = HandleWatch.StackOf(in info.Handle) ?? StackText.Of(stack);
            live.Add(new LiveHandle(
                info.Handle,
                kind,
                (long)info.Handle.Bytes,
                tag,
                TimeSpan.FromTicks((long)(info.AgeNs / 100)),
                HandleWords.Counted(info.Holders),
                made));
        }
        return live;
    }

    private static string NameOfTag(uint tag)
    {
        NativeUtf8 name = default;
        if (tag != 0)
        {
            NativeMethods.tn_tag_name(tag, &name);
        }
        return name.ToString();
    }

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static void Visit(void* context, NativeHandleInfo* info)
    {
        var into = (List<(NativeHandleInfo, nint[])>)GCHandle.FromIntPtr((nint)context).Target!;
        nint[] stack = info->StackCount == 0 ? [] : new Span<nint>(info->Stack, (int)info->StackCount).ToArray();
        into.Add((*info, stack));
    }
}
