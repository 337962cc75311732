// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System.Runtime.InteropServices;

namespace Tenure;

// The structures of tenure.h and tenure_text.h, field by field; tests/consumers/c/layout.c and NativeStructuresTests check both for the
// same sizes and offsets. The constructor of a structure that begins with its size sets that size.

/// <summary><c>tn_temp_scope</c>.</summary>
[StructLayout(LayoutKind.Sequential)]
internal struct NativeTempMarker
{
    public ulong Cursor;
    public ulong Region;
    public ulong Depth;
}

/// <summary><c>tn_temp_stats</c>.</summary>
[StructLayout(LayoutKind.Sequential)]
internal unsafe struct NativeTempStats
{
    public uint Size;
    public uint Reserved;
    public ulong BudgetBytes;
    public ulong UsedBytes;
    public ulong CommittedBytes;
    public ulong OverflowCount;
    public ulong OverflowBytes;
    public ulong OverflowPeakBytes;

    public NativeTempStats()
    {
        Size = (uint)sizeof(NativeTempStats);
    }
}

/// <summary><c>tn_block_cache</c>: a thread's free blocks of one size.</summary>
[StructLayout(LayoutKind.Sequential)]
internal unsafe struct NativeBlockCache
{
    public uint Count;
    public uint Capacity;
    public void** Blocks;
}

/// <summary><c>tn_temp_position</c>: the position of the calling thread's next Temp block.</summary>
[StructLayout(LayoutKind.Sequential)]
internal struct NativeTempState
{
    public ulong Cursor;
    public ulong Limit;
    public ulong Region;
}

/// <summary><c>tn_temp_job_state</c>: the position of the calling thread's next TempJob block.</summary>
[StructLayout(LayoutKind.Sequential)]
internal struct NativeTempJobState
{
    public ulong Cursor;
    public ulong Limit;
    public ulong Word;
}

/// <summary><c>tn_quick_layout</c>.</summary>
[StructLayout(LayoutKind.Sequential)]
internal unsafe struct NativeQuickLayout
{
    public uint Size;
    public uint IsAvailable;
    public uint CachesOffset;
    public uint ClassesLimitBytes;
    public byte* ClassOfEights;
    public uint SegmentShift;
    public uint SliceShift;
    public uint ClassesOfSlicesOffset;
    public uint JobChunkShift;
    public uint JobStatesOffset;
    public uint Reserved;

    public NativeQuickLayout()
    {
        Size = (uint)sizeof(NativeQuickLayout);
    }
}

/// <summary><c>tn_quick_thread</c>.</summary>
[StructLayout(LayoutKind.Sequential)]
internal unsafe struct NativeQuickThread
{
    public uint Size;
    public uint Reserved;
    public void** HeapCache;
    public NativeTempState* Temp;
    public ushort* Tag;
    public NativeTempJobState** TempJob;

    public NativeQuickThread()
    {
        Size = (uint)sizeof(NativeQuickThread);
    }
}

/// <summary><c>tn_allocator_stats</c>.</summary>
[StructLayout(LayoutKind.Sequential)]
internal unsafe struct NativeAllocatorStats
{
    public uint Size;
    public uint Reserved;
    public ulong LiveCount;
    public ulong LiveBytes;
    public ulong PeakBytes;
    public ulong ReservedBytes;
    public ulong SourceBlocks;

    public NativeAllocatorStats()
    {
        Size = (uint)sizeof(NativeAllocatorStats);
    }
}

/// <summary><c>tn_heap_options</c>.</summary>
[StructLayout(LayoutKind.Sequential)]
internal unsafe struct NativeHeapSettings
{
    public uint Size;
    public uint Reserved;
    public NativeUtf8 Name;
    public ulong LimitBytes;
    public ulong PurgeDelayNanoseconds;
    public ulong MaxRetainedBytes;
    public void* Source;
    public ulong NoBackground;

    public NativeHeapSettings()
    {
        Size = (uint)sizeof(NativeHeapSettings);
    }
}

/// <summary><c>tn_arena</c>: the fields that a caller may advance itself.</summary>
[StructLayout(LayoutKind.Sequential)]
internal struct NativeArena
{
    public ulong Cursor;
    public ulong Limit;
}

/// <summary><c>tn_arena_marker</c>.</summary>
[StructLayout(LayoutKind.Sequential)]
internal unsafe struct NativeArenaMarker
{
    public void* Chunk;
    public ulong Cursor;
    public ulong Number;
}

/// <summary><c>tn_affinity_options</c>.</summary>
[StructLayout(LayoutKind.Sequential)]
internal unsafe struct NativeAffinitySettings
{
    public uint Size;
    public uint AnyThread;
    public NativeUtf8 Name;
    public ulong Alignment;
    public ulong BlockBytes;
    public ulong MaxRetainedBytes;
    public uint SizesRequired;
    public uint SplitBySize;
    public void* Source;
    public uint HugePages;
    public uint Reserved;

    public NativeAffinitySettings()
    {
        Size = (uint)sizeof(NativeAffinitySettings);
    }
}

/// <summary><c>tn_offset_range</c>.</summary>
[StructLayout(LayoutKind.Sequential)]
internal struct NativeOffsetRange
{
    public ulong Offset;
    public uint Id;
    public uint Reserved;
}

/// <summary><c>tn_offset_usage</c>.</summary>
[StructLayout(LayoutKind.Sequential)]
internal unsafe struct NativeOffsetUsage
{
    public uint Size;
    public uint Reserved;
    public ulong Capacity;
    public ulong Free;
    public ulong LargestFree;
    public ulong Waiting;
    public ulong RangeCount;
    public ulong FreeCount;
    public ulong RecordBytes;

    public NativeOffsetUsage()
    {
        Size = (uint)sizeof(NativeOffsetUsage);
    }
}

/// <summary><c>tn_tag_usage</c>.</summary>
[StructLayout(LayoutKind.Sequential)]
internal unsafe struct NativeTagUsage
{
    public uint Size;
    public uint Reserved;
    public ulong PersistentCount;
    public ulong PersistentBytes;
    public ulong TempJobCount;
    public ulong TempJobBytes;
    public ulong TempBytes;

    public NativeTagUsage()
    {
        Size = (uint)sizeof(NativeTagUsage);
    }
}

/// <summary><c>tn_stats</c>.</summary>
[StructLayout(LayoutKind.Sequential)]
internal unsafe struct NativeStats
{
    public uint Size;
    public uint HeapIsOurs;
    public ulong LiveCount;
    public ulong LiveBytes;
    public ulong PeakBytes;
    public ulong CommittedBytes;
    public ulong ReservedBytes;
    public ulong RetainedBytes;
    public ulong ThreadCount;
    public ulong TempJobLiveCount;
    public ulong TempJobLiveBytes;
    public ulong TempJobChunkBytes;
    public ulong TempJobLeakedCount;
    public ulong ResidentBytes;
    public ulong CachedBytes;
    public ulong SampleCount;

    public NativeStats()
    {
        Size = (uint)sizeof(NativeStats);
    }
}

/// <summary><c>tn_option_info</c>.</summary>
[StructLayout(LayoutKind.Sequential)]
internal unsafe struct NativeOptionInfo
{
    public uint Size;
    public uint Origin;
    public NativeUtf8 Name;
    public NativeUtf8 Environment;
    public NativeUtf8 Help;
    public ulong Value;
    public ulong BuiltIn;
    public ulong Lowest;
    public ulong Highest;

    public NativeOptionInfo()
    {
        Size = (uint)sizeof(NativeOptionInfo);
    }
}

/// <summary><c>tn_text_writer</c>.</summary>
[StructLayout(LayoutKind.Sequential)]
internal unsafe struct NativeTextWriter
{
    public byte* First;
    public byte* Cursor;
    public byte* End;
    public ulong MissedBytes;
}
