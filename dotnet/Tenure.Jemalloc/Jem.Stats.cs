// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Globalization;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;

namespace Tenure;

// Figures: each is as of the call that asks for it. jemalloc gathers them over all of its arenas, which takes tens of microseconds.
public static unsafe partial class Jem
{
    /// <summary>Bytes that the program has allocated and not freed; over Tenure's heap, on that. Cost of each of these
    /// figures: tens of microseconds, for gathering it.</summary>
    public static ulong AllocatedBytes => Fresh("stats.allocated");

    /// <summary>Bytes of the pages that these lie in.</summary>
    public static ulong ActiveBytes => Fresh("stats.active");

    /// <summary>Bytes of memory that is mapped for blocks, in use or not; over Tenure's heap what was touched of it.</summary>
    public static ulong MappedBytes => Fresh("stats.mapped");

    /// <summary>Bytes of memory that the machine may have to provide: the former, the allocator's own records, and pages that it keeps.</summary>
    public static ulong ResidentBytes => Fresh("stats.resident");

    /// <summary>Bytes of addresses that are kept, without memory behind them.</summary>
    public static ulong RetainedBytes => Fresh("stats.retained");

    /// <summary>Bytes of jemalloc's own records.</summary>
    /// <exception cref="JemallocUnavailableException">The process does not run on jemalloc; Tenure's heap does not count them apart.</exception>
    public static ulong MetadataBytes => Fresh("stats.metadata");

    /// <summary>Lets jemalloc gather its figures anew, for keys that begin with <c>stats.</c>. The properties above do this
    /// themselves. Tenure's figures are always fresh.</summary>
    public static void RefreshStats()
    {
        if (Backend == JemBackend.Jemalloc)
        {
            SetMallCtl("epoch", 1ul);
        }
    }

    /// <summary>Everything that is told about the allocator, as text.</summary>
    public static string MallocStats => GetMallocStats("");

    /// <summary>What is told about the allocator, as text.</summary>
    /// <param name="opt">Letters, as jemalloc takes them: <c>J</c> for JSON; <c>g m d a b l x e h</c> each leave something out.
    /// Tenure's heap heeds the first.</param>
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
        return text.Refusal is null ? text.ToString() : throw new OutOfMemoryException("The statistics do not fit.", text.Refusal);
    }

    /// <summary>Nothing may cross jemalloc: what goes wrong is thrown when it has returned.</summary>
    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static void Append(void* context, byte* piece)
    {
        var text = (StatsText)GCHandle.FromIntPtr((nint)context).Target!;
        try
        {
            text.Add(MemoryMarshal.CreateReadOnlySpanFromNullTerminated(piece));
        }
#pragma warning disable CA1031 // whatever it is
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

    /// <summary>Bytes until the end: a piece may end inside a letter.</summary>
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
