// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Question: what does memory cost a .NET program, the collector's, NativeMemory's and ours?
///
/// Unfair would be: a managed array that the collector zeroes beside native memory that nobody writes; a loop with an
/// object for each element beside vectors. Every row writes all of its memory, and calculates by vectors.
/// It does not show: what the collector's work costs other threads, and its pauses.

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

constexpr std::array<part, 4> parts{
    {{"small blocks"}, {"an array"}, {"big blocks, small ones kept", 1, 3}, {"pairs of 128 bytes"}}};

constexpr std::array<std::string_view, 7> unfair{
    "Each row is a .NET process of its own: `jembench short`, the short form of the .NET tool; `jembench` alone "
    "measures the same by BenchmarkDotNet, longer. The process has one CPU, which its compiler shares with it.",
    "Small blocks: 1000 of 4 bytes, then all given back. \"free\" of Temp and TempJob has the end of the frame with "
    "it, "
    "which is what frees Temp. The managed row has no \"free\": one collection of the youngest generation is forced "
    "after each batch, outside the times, where a program would fill that generation first. The first batch is "
    "compiled, and meets memory that was never touched.",
    "Pairs: a block of 128 bytes is allocated, its first bytes are written, and it is freed, one block after the "
    "other; "
    "then a batch that is more than a thread keeps at hand is allocated whole and freed in the same order. Collections "
    "of the managed row happen within its times.",
    "An array: created, filled and given up; warm memory filled by the runtime's Span.Fill; multiplied in place, the "
    "managed and NativeMemory rows by TensorPrimitives, ours by VectorMultiply.",
    "Big blocks: a block of 64 MiB and more is written and goes at once, one of 90 000 bytes is written and kept. A "
    "managed array is zeroed before; \"not zeroed\" is the array that is not.",
    "jemalloc is the NativeMemory row in a process that has it preloaded: it is everybody's malloc there.",
    "Memory is the process's most private memory, with the runtime's own: about 4 MiB.",
};

constexpr std::array<contestant_source, 1> sources{rows_in_dotnet};

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
    .example = "tenure bench dotnet --elements 100000000",
};

}

const experiment dotnet_experiment = described;

}
