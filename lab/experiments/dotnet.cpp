// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Question: what does memory cost a .NET program, the collector's, NativeMemory's and ours?
///
/// Unfair would be: a managed array that the collector zeroes beside native memory that nobody writes; a loop with an
/// object for each element beside vectors; memory at multiples of 16 beside memory at multiples of 64; a compiler with
/// other options than a program has. What can be measured both ways is.
/// It does not show: what the collector's work costs other threads, and its pauses. What the collector and the compiler
/// do on threads of their own is not in the times where there is another CPU for them, as in every program.

#include "experiments/dotnet.hpp"

#include <array>

namespace tenure::lab {

namespace {

constexpr std::array<option_spec, 4> options{{
    {"count", 1000, 1000, 2, 1'000'000, "blocks of 4 bytes"},
    {"pairs", 10'000, 100'000, 1000, 1'000'000, "blocks of a batch of pairs, 128 bytes each"},
    {"elements", 5'000'000, 10'000'000, 1000, 1'000'000'000, "elements of the array, UInt64"},
    {"fragment-rounds", 10, 100, 1, 10'000, "big blocks, from 64 MiB on and 1 MiB more each time"},
}};

/// The measuring thread, and those of the collector and the compiler: the process is not pinned to one CPU.
constexpr unsigned dotnet_threads = 2;

constexpr std::array<part, 8> parts{{
    {"small blocks", dotnet_threads},
    {"small blocks, first batch written", dotnet_threads, 5},
    {"an array", dotnet_threads, 5},
    {"big blocks, small ones kept", dotnet_threads, 3},
    {"big blocks, nothing written", dotnet_threads, 3},
    {"pairs of 128 bytes", dotnet_threads},
    {"small blocks, TieredPGO off", dotnet_threads, 3},
    {"pairs of 128 bytes, TieredPGO off", dotnet_threads, 3},
}};

constexpr std::array<std::string_view, 9> unfair{
    "Each row is a .NET process of its own: `jembench short`, the short form of the .NET tool; `jembench` alone "
    "measures the same by BenchmarkDotNet, longer. No row's process is pinned to a CPU: the concurrent collector "
    "and the compiler run on threads of their own, as in every program. On a machine with one CPU they share it "
    "with what is measured, which slows the managed rows most.",
    "Compiler and collector have the options of every program, but for one: calls count from the first one on "
    "(DOTNET_TC_CallCountingDelayMs=0), where a process would wait until nothing new is called for a tenth of a "
    "second. That changes when code is compiled again, and not how. Loops that are called warm, and those of the "
    "big blocks, are called before until nothing more is compiled, the latter with small blocks; those of the first "
    "batch are compiled whole at once, without TieredPGO. The parts with TieredPGO off say what its counting of "
    "calls and branches is worth.",
    "Small blocks: 1000 of 4 bytes, then all given back. \"written\": each block is written whole as soon as it is "
    "allocated, within its time; without the word, behind the times. \"free\" of Temp and TempJob has the end of the "
    "frame with it, which is what frees Temp. The managed row has no \"free\": one collection of the youngest "
    "generation is forced after each batch, outside the times, where a program would fill that generation first. The "
    "collector zeroes its blocks, also those of GC.AllocateUninitializedArray, which does without from 2048 bytes on. "
    "The first batch meets memory that was never touched. Inside its clock: all that Tenure does once for the process "
    "and once for the thread (the thread's record, its place in C#, Temp's range, TempJob's chunk, the heap's first "
    "pages), the runtime's first call of each function, and all page faults of the blocks. Before it: the library is "
    "loaded and the methods are compiled, without a block or a frame. malloc and the collector were used before by the "
    "runtime itself, so their start is not in it. The managed row's garbage was collected before.",
    "Pairs: a block of 128 bytes is allocated, its first bytes are written, and it is freed, one block after the "
    "other; "
    "then a batch that is more than a thread keeps at hand is allocated whole and freed in the same order. Collections "
    "of the managed row happen within its times.",
    "An array: created, filled and given up; warm memory filled by the runtime's Span.Fill; multiplied in place, the "
    "managed and NativeMemory rows by TensorPrimitives, ours by VectorMultiply. NativeMemory.Alloc aligns to 16 bytes, "
    "our arrays to 64 if nothing is said, managed arrays to 8: NativeMemory and SafeArray have a row with the other's.",
    "Big blocks: a block of 64 MiB and more goes at once, one of 90 000 bytes is kept; both are written, or neither. A "
    "managed array is zeroed before; \"not zeroed\" is the array that is not. With nothing written, the managed row "
    "alone touches its memory.",
    "jemalloc is the NativeMemory row in a process that has it preloaded: it is everybody's malloc there.",
    "Memory is the process's most private memory, with the runtime's own, of what was measured: it is read before the "
    "proof allocates.",
    "The proof of the managed rows counts: the collector must have given this thread at least the bytes of the shown "
    "arrays. It has no call that knows a single object.",
};

constexpr std::array<contestant_source, 1> sources{rows_in_dotnet};

constexpr std::array<primary_figure, 1> primary{{{"*"}}};

constexpr experiment described{
    .name = "dotnet",
    .question =
        "What do small blocks, a big array and big blocks cost in .NET, managed, by NativeMemory and by Tenure?",
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
