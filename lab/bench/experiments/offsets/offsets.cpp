// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Question: what does it cost to allocate and free ranges of memory that the program manages itself?
///
/// Unfair would be: an alignment for one and none for another; memory so large that no allocation fails, because then
/// no allocator has to search.
/// It does not show: several threads, and what a driver does with the ranges.

#include "bench/experiments/offsets/offsets.hpp"

#include <array>
#include <string_view>

namespace tenure::lab {

namespace {

constexpr std::array<option_spec, 2> options{{
    {"operations", 100'000, 5'000'000, 1000, 1'000'000'000, "times that a random range is freed and another allocated"},
    {"alignment", 256, 256, 1, 1 << 20, "alignment of every range; 256 is what many GPUs require for uniform buffers",
     option_shape::power_of_two},
}};

constexpr std::array<part, 3> parts{{{"10 000 live"}, {"100 000 live"}, {"1 000 000 live"}}};

constexpr std::array<std::string_view, 5> unfair{
    "Sizes are from 256 bytes to 1 MiB, every doubling equally likely; the memory is a third larger than the live "
    "ranges need. A random range is freed, and one of another size allocated.",
    "The time is per free or allocation, half of a pair; the cost of the loop itself was measured without the "
    "allocator and subtracted.",
    "Failed allocations are counted: an allocator that does not find an existing gap fails more often.",
    "OffsetAllocator and the Vulkan Memory Allocator's virtual blocks are in no package of the system: --against "
    "accepts the real ones, as a library with the four functions of offset_peer.hpp. \"Nodes of 32 bits\" is only "
    "OffsetAllocator's scheme, rebuilt by us; it counts in units of 256 bytes, so it rounds every size. \"Slots in "
    "maps\" is VulkanSceneGraph's MemorySlots scheme, rebuilt.",
    "A library from --against is called through pointers; ours and the references are inlined.",
};

constexpr std::array<contestant_source, 3> sources{tenure_in_offsets, given_in_offsets, references_in_offsets};

// Every figure at every number of live ranges.
constexpr std::array<primary_figure, 5> primary{{{"random release and allocation"},
                                                 {"allocate, all at first"},
                                                 {"release, all at last"},
                                                 {"refused"},
                                                 {"records"}}};

constexpr experiment described{
    .name = "offsets",
    .question = "What does it cost to allocate and free ranges of memory that you manage yourself: GPU buffers, files?",
    .unfair = unfair,
    .baseline = "nodes of 32 bits",
    .options = options,
    .parts = parts,
    .sources = sources,
    .properties = nullptr,
    .quotients = {},
    .ranking_rule = {},
    .unranked = {},
    .primary = primary,
    .example = "tenure bench offsets --operations 5000000 --against ./liboffset_peer.so",
};

}

const experiment offsets_experiment = described;

}
