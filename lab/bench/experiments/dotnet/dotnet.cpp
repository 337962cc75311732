// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Question: what does memory cost a .NET program when it comes from the collector, from NativeMemory and from Tenure?
///
/// Unfair would be: a managed array that the collector zeroes beside native memory that nobody writes; a loop with an
/// object for each element beside vectors; memory at multiples of 16 beside memory at multiples of 64; other compiler
/// options than a program has. Where both ways are possible, both are measured.
/// It does not show: what the collector's work costs other threads, and its pauses. When another CPU is available, the
/// work that the collector and the compiler do on threads of their own is not in the times, as in every program.

#include "bench/experiments/dotnet/dotnet.hpp"

#include <array>

namespace tenure::lab {

namespace {

constexpr std::array<option_spec, 7> options{{
    {"count", 1000, 1000, 2, 1'000'000, "blocks of 4 bytes"},
    {"pairs", 10'000, 100'000, 1000, 1'000'000, "blocks of 128 bytes in a batch of pairs"},
    {"elements", 5'000'000, 10'000'000, 1000, 1'000'000'000, "elements of the array, UInt64"},
    {"fragment-rounds", 10, 100, 1, 10'000, "big blocks; the first has 64 MiB, each further one 1 MiB more"},
    {"records", 131'072, 1'048'576, 1024, 1'000'000'000, "records that are written as text"},
    {"kernel-bytes", 64 << 20, 256 << 20, 1 << 16, 1 << 30, "bytes of each array of the arithmetic in memory"},
    {"huge-elements", 200'000'000, 4'200'000'000, 1000, 100'000'000'000, "elements of the huge array, Int32"},
}};

/// The measuring thread and those of the collector and the compiler, so the process is not pinned to one CPU.
constexpr unsigned dotnet_threads = 2;

constexpr std::array<part, 11> parts{{
    {"small blocks", dotnet_threads},
    {"small blocks, first batch written", dotnet_threads, 5},
    {"an array", dotnet_threads, 5},
    {"big blocks, small ones kept", dotnet_threads, 3},
    {"big blocks, nothing written", dotnet_threads, 3},
    {"pairs of 128 bytes", dotnet_threads},
    {"small blocks, TieredPGO off", dotnet_threads, 3},
    {"pairs of 128 bytes, TieredPGO off", dotnet_threads, 3},
    {"text of records", dotnet_threads, 5},
    {"arithmetic", dotnet_threads, 3},
    {"a huge array", dotnet_threads, 5},
}};

constexpr std::array<std::string_view, 12> unfair{
    "Each row is a .NET process of its own: `jembench short`, the short form of the .NET tool. `jembench` alone "
    "measures the same with BenchmarkDotNet, for longer. No row's process is pinned to a CPU: the concurrent "
    "collector and the compiler run on threads of their own, as in every program. On a machine with one CPU they "
    "share it with the measured code, which slows the managed rows most.",
    "Compiler and collector have default options, except that calls are counted from the first one on "
    "(DOTNET_TC_CallCountingDelayMs=0); by default, counting begins when no new method was called for a tenth of a "
    "second. This changes when code is recompiled, and not how. Before the measurement, loops that are called warm, "
    "and those of the big blocks (with small blocks), run until nothing more is compiled; those of the first batch "
    "are fully compiled at once, without TieredPGO. The parts with TieredPGO off show the effect of its call and "
    "branch counting.",
    "Small blocks: 1000 blocks of 4 bytes are allocated, then all are freed. \"written\": each block is written "
    "whole right after its allocation, within the time; otherwise it is written outside the times. \"free\" of Temp "
    "and TempJob includes the end of the frame, which is what frees Temp. The managed row has no \"free\": after "
    "each batch, outside the times, one collection of the youngest generation is forced; a program would fill that "
    "generation first. The collector zeroes its blocks, also those of GC.AllocateUninitializedArray, which skips "
    "zeroing only from 2048 bytes on. The first batch uses new memory. Its time includes all "
    "initialization that Tenure does once per process and once per thread (the thread's record, its place in C#, "
    "TempJob's chunk, the heap's first pages), the runtime's first call of each function, and all page faults of the "
    "blocks. Before it, the library is loaded, which reserves Temp's range for the first thread and touches two of its "
    "pages, and the methods are compiled, without a block or a frame. The runtime itself has already used malloc and "
    "the collector, so their initialization is not included. "
    "The managed row's garbage was collected before.",
    "Pairs: a block of 128 bytes is allocated, its first bytes are written, and it is freed, one block after the "
    "other. Then a batch larger than a thread's cache is allocated whole and freed in the same order. Collections "
    "of the managed row happen within its times.",
    "An array: created, filled and freed; \"new pages\" is the first array of the process, \"again\" the median of "
    "later ones, which may reuse the memory of the one before, as Tenure's do; new T[] is zeroed by the collector "
    "within the time, native memory is not; warm memory filled by the runtime's Span.Fill; multiplied in place, by "
    "TensorPrimitives in the managed and NativeMemory rows and by VectorMultiply in ours. The default alignment is 16 "
    "bytes for NativeMemory.Alloc, 64 for our arrays and 8 for managed arrays; NativeMemory and SafeArray also have a "
    "row with the other's alignment.",
    "Big blocks: a block of 64 MiB or more is freed at once, one of 90 000 bytes is kept; in one part both are "
    "written, in the other neither. A managed array is zeroed first; \"not zeroed\" is the array that is not. With "
    "nothing written, only the managed row touches its memory.",
    "Text: records of a flag and a number with two decimals, in pages of 1024, as in the experiment parallel. All rows "
    "write the same bytes, which are compared, to memory taken beforehand. \"managed\" is a StringBuilder, reused for "
    "each page and converted to UTF-8; \"interpolated strings\" makes a string of each record and converts it. "
    "PagedWriter's records use AppendFixed(value, 2), all others the format F2.",
    "Arithmetic: the same operations by TensorPrimitives (on managed arrays: \"managed\"; on Tenure's memory) and by "
    "VectorMaths. Managed arrays start at multiples of 8, so that vectors cross cache lines. The sums are not the "
    "same: VectorMaths adds integers in 64 bits and floating-point numbers in a fixed order.",
    "A huge array: memory that was written before is filled, in turn with a memset of the same pages. \"managed\" has "
    "at most 2,147,483,591 elements, so the times are per element. \"create and fill\" depends on the host of a "
    "virtual machine: pages that the machine has never used cost several times as much as others.",
    "The jemalloc row is the NativeMemory row in a process with jemalloc preloaded, where all code uses it as malloc.",
    "Memory is the process's maximum private memory, including the runtime's own, during the measured part; it is "
    "read before the proof allocates.",
    "The proof of the managed rows counts bytes: the collector must have allocated at least the bytes of the shown "
    "arrays for this thread. It has no call that identifies a single object.",
};

constexpr std::array<contestant_source, 1> sources{rows_in_dotnet};

/// All but the single operations of the arithmetic: those are for `report.html` and the guide.
constexpr std::array<primary_figure, 11> primary{{{"alloc"},
                                                  {"free"},
                                                  {"peak private"},
                                                  {"create and fill"},
                                                  {"fill*"},
                                                  {"memset*"},
                                                  {"multiply", "array*"},
                                                  {"big blocks*"},
                                                  {"pair"},
                                                  {"record"},
                                                  {"managed memory"}}};

constexpr experiment described{
    .name = "dotnet",
    .question =
        "What do small blocks, a big array and big blocks cost in .NET, managed, with NativeMemory and with Tenure?",
    .unfair = unfair,
    .baseline = "managed",
    .options = options,
    .parts = parts,
    .sources = sources,
    .properties = nullptr,
    .quotients = {},
    .ranking_rule = {},
    .unranked = {},
    .primary = primary,
    .example = "tenure bench dotnet --elements 100000000",
};

}

const experiment dotnet_experiment = described;

}
