// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Question: what does it cost to hand out and take back ranges of memory that is not ours?
///
/// Unfair would be: an alignment for one and none for another; a memory so large that nothing is ever refused, because
/// then nobody has to find anything.
/// It does not show: several threads, and what a driver does with the ranges.

#include "experiments/offsets.hpp"

#include <array>
#include <string_view>

namespace tenure::lab {

namespace {

constexpr std::array<option_spec, 2> options{{
    {"operations", 100'000, 5'000'000, 1000, 1'000'000'000,
     "times that a random range is released and another allocated"},
    {"alignment", 256, 256, 1, 1 << 20, "of every range: 256 is what uniform buffers of many GPUs ask for",
     option_shape::power_of_two},
}};

constexpr std::array<part, 3> parts{{{"10 000 live"}, {"100 000 live"}, {"1 000 000 live"}}};

constexpr std::array<std::string_view, 5> unfair{
    "Sizes are from 256 bytes to 1 MiB, every doubling as likely as the next; the memory is a third larger than what "
    "is "
    "alive takes. A random range is released, and one of another size allocated.",
    "The time is per release or allocation, half of a pair; what the loop itself costs was measured without the "
    "allocator and taken off.",
    "Refusals count: who cannot find a range that is there refuses more.",
    "OffsetAllocator and the Vulkan Memory Allocator's virtual blocks are in no package of the system: --against takes "
    "the real ones, as a library that has the four functions of offset_peer.hpp. \"Nodes of 32 bits\" is only "
    "OffsetAllocator's scheme, rebuilt by us; it counts in units of 256 bytes, so it rounds every size. \"Slots in "
    "maps\" is VulkanSceneGraph's MemorySlots scheme, rebuilt.",
    "A library from --against is called through pointers, ours and the references are inlined.",
};

constexpr std::array<contestant_source, 3> sources{tenure_in_offsets, given_in_offsets, references_in_offsets};

// Every figure at every count.
constexpr std::array<primary_figure, 5> primary{{{"random release and allocation"},
                                                 {"allocate, all at first"},
                                                 {"release, all at last"},
                                                 {"refused"},
                                                 {"records"}}};

constexpr experiment described{
    .name = "offsets",
    .question = "What does it cost to hand out and take back ranges of memory that is not ours: GPU buffers, files?",
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
