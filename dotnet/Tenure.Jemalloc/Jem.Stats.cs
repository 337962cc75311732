// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Globalization;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;

namespace Tenure;

// Statistics. Each read gathers current values over all of jemalloc's arenas, which takes tens of microseconds.
public static unsafe partial class Jem
{
    /// <summary>Gets the number of bytes that the program has allocated and not freed; on Tenure's heap, the bytes
    /// allocated there. Reading any of these statistics takes tens of microseconds.</summary>
    public static ulong AllocatedBytes => Fresh("stats.allocated");

    /// <summary>Gets the number of bytes in the pages that hold these allocations.</summary>
    public static ulong ActiveBytes => Fresh("stats.active");

    /// <summary>Gets the number of bytes mapped for blocks, in use or not; on Tenure's heap, the bytes that were
    /// touched.</summary>
    public static ulong MappedBytes => Fresh("stats.mapped");

    /// <summary>Gets the number of bytes that may be resident: the active pages, the allocator's own records, and
    /// retained pages.</summary>
    public static ulong ResidentBytes => Fresh("stats.resident");

    /// <summary>Gets the number of bytes of address space retained without memory behind it.</summary>
    public static ulong RetainedBytes => Fresh("stats.retained");

    /// <summary>Gets the number of bytes of jemalloc's own records.</summary>
    /// <exception cref="JemallocUnavailableException">The process does not run on jemalloc; Tenure's heap does not
    /// count them separately.</exception>
    public static ulong MetadataBytes => Fresh("stats.metadata");

    /// <summary>Refreshes jemalloc's statistics for keys that begin with <c>stats.</c>. The properties above do this
    /// themselves. Tenure's statistics are always current.</summary>
    public static void RefreshStats()
    {
        if (Backend == JemBackend.Jemalloc)
        {
            SetMallCtl("epoch", 1ul);
        }
    }

    /// <summary>Gets all allocator statistics as text.</summary>
    public static string MallocStats => GetMallocStats("");

    /// <summary>Gets allocator statistics as text.</summary>
    /// <param name="opt">Option letters as in jemalloc: <c>J</c> for JSON; each of <c>g m d a b l x e h</c> omits a
    /// part. Tenure's heap supports only <c>J</c>.</param>
    /// <returns>The text.</returns>
    public static string GetMallocStats(string opt)
    {
        ArgumentNullException.ThrowIfNull(opt);
        if (Backend == JemBackend.Tenure)
        {
            return TenureStats(opt.Contains('J', StringComparison.Ordinal));
        }
        var text = new StatsText();
        GCHandle context = GCHandle.Alloc(text);
        try
        {
            fixed (byte* options = MallCtlCalls.Utf8(opt))
            {
                JemallocMethods.StatsPrint(&Append, (void*)GCHandle.ToIntPtr(context), options);
            }
        }
        finally
        {
            context.Free();
        }
        return text.Refusal is null ? text.ToString() : throw new OutOfMemoryException("There is not enough memory for the text of the statistics. Free memory, or leave parts out by option letters.", text.Refusal);
    }

    /// <summary>No exception may cross jemalloc; it is rethrown after the call returns.</summary>
    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static void Append(void* context, byte* piece)
    {
        var text = (StatsText)GCHandle.FromIntPtr((nint)context).Target!;
        try
        {
            text.Add(MemoryMarshal.CreateReadOnlySpanFromNullTerminated(piece));
        }
#pragma warning disable CA1031 // any exception
        catch (Exception exception)
#pragma warning restore CA1031
        {
            text.Refusal ??= exception;
        }
    }

    private static ulong Fresh(string name)
    {
        RefreshStats();
        return GetMallCtl<ulong>(name);
    }

    private static string TenureStats(bool json)
    {
        NativeStats stats = TenureFigures.Now();
        var text = new StringBuilder(json ? "{\"allocator\":\"tenure\"" : $"{GetMallCtlStr("version")}\n");
        foreach (string name in TenureFigures.Names)
        {
            Add(name["stats.".Length..] + "_bytes", TenureFigures.Of(name, in stats));
        }
        Add("live_count", stats.LiveCount);
        Add("peak_bytes", stats.PeakBytes);
        Add("retained_bytes", stats.RetainedBytes);
        Add("thread_count", stats.ThreadCount);
        return text.Append(json ? "}\n" : "").ToString();

        void Add(string name, ulong value) =>
            text.Append(json ? string.Create(CultureInfo.InvariantCulture, $",\"{name}\":{value}")
                : string.Create(CultureInfo.InvariantCulture, $"{name}: {value}\n"));
    }

    /// <summary>Collects bytes until the end, because a piece may end inside a character.</summary>
    private sealed class StatsText
    {
        private byte[] _bytes = new byte[64 * 1024];
        private int _count;

        internal Exception? Refusal { get; set; }

        internal void Add(ReadOnlySpan<byte> piece)
        {
            if (_bytes.Length - _count < piece.Length)
            {
                Array.Resize(ref _bytes, Math.Max(checked(_bytes.Length * 2), checked(_count + piece.Length)));
            }
            piece.CopyTo(_bytes.AsSpan(_count));
            _count += piece.Length;
        }

        public override string ToString() => Encoding.UTF8.GetString(_bytes, 0, _count);
    }
}
