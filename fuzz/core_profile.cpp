// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Core files: any bytes, and any changes to a core file of this process with its heap, are either read or refused with
// a reason. What is read can be asked who keeps memory.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tenure/heap/detail/debug_layout.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/heap/heap_profile.hpp>

#include "observe/cores/core_profile.hpp"
#include "observe/pins/pinned_memory.hpp"
#include "observe/profile/named_profile.hpp"
#include "operations.hpp"
#include "support/own_core.hpp"

namespace {

namespace format = tenure::profile_format;

[[nodiscard]] std::uint64_t word_at(std::uint64_t address) {
    std::uint64_t word = 0;
    std::memcpy(&word, reinterpret_cast<const void*>(address), sizeof word); // NOLINT(performance-no-int-to-ptr)
    return word;
}
[[nodiscard]] std::uint64_t fact_of(std::string_view name) {
    for (const tenure::debug_layout::fact& each : tenure_debug_layout.fact_table)
        if (name == each.name) return each.value;
    fuzz::require(false, "the layout has the name");
    return 0;
}

/// Addresses in each mapping that has records of the heap. A sanitizer has much other memory.
[[nodiscard]] std::vector<std::uint64_t> places_of_records() {
    std::vector<std::uint64_t> found;
    std::uint64_t heaps = 0, profile = 0;
    for (const tenure::debug_layout::root& each : tenure_debug_layout.root_table) {
        found.push_back(reinterpret_cast<std::uintptr_t>(each.address));
        if (std::string_view(each.name) == "heaps") heaps = found.back();
        if (std::string_view(each.name) == "profile") profile = found.back();
    }
    for (const char* const each : {"profile.live", "profile.sites", "profile.frames"})
        found.push_back(word_at(profile + fact_of(each) + fact_of("array.data")));
    const std::uint64_t core = word_at(heaps + fact_of("heap_list.process")) + fact_of("home.core");
    found.push_back(core);
    found.push_back(word_at(core + fact_of("core.large") + fact_of("large.first")));
    const std::uint64_t small = core + fact_of("core.small");
    for (std::uint64_t each = word_at(small + fact_of("small.caches")); each != 0;
         each = word_at(each + fact_of("cache.next"))) {
        found.push_back(each);
        found.push_back(word_at(each + fact_of("cache.resting")));
    }
    const std::uint64_t pages = core + fact_of("core.pages");
    for (std::uint64_t each = word_at(pages + fact_of("pages.first")); each != 0;
         each = word_at(each + fact_of("segment.next"))) {
        constexpr std::uint64_t step = 4096; // pages that fault divide it into several mappings
        for (std::uint64_t at = each; at < each + word_at(each + fact_of("segment.mapped_bytes")); at += step)
            found.push_back(at);
    }
    return found;
}

tenure::lab::opened_bytes closed(const std::string&) { return {nullptr, "is not opened"}; }

/// A core file with blocks of all kinds, and the places in it that have records: its pages without the blocks.
struct whole_core {
    std::string text;
    std::vector<std::size_t> places; ///< of pages

    whole_core() {
        constexpr unsigned char letter = 0x5A;
        constexpr std::size_t page_bytes = 4096;
        fuzz::require(tenure::heap_profile::start(1) == tenure::status::ok, "a profile starts");
        std::vector<void*> blocks;
        const auto allocate = [&](std::size_t bytes) {
            void* const block = tenure::heap::process().allocate(bytes);
            std::memset(block, letter, bytes);
            blocks.push_back(block);
        };
        for (int each = 0; each < 300; ++each) {
            allocate(each % 5 == 0 ? 3000 : 100);
            if (each % 3 == 0) continue;
            tenure::heap::process().deallocate(blocks.back());
            blocks.pop_back();
        }
        allocate(300'000);
        const std::vector<std::uint64_t> records = places_of_records();
        text = support::core_of_this_process([&](std::uint64_t begin, std::uint64_t end) {
            return std::any_of(records.begin(), records.end(),
                               [&](std::uint64_t each) { return each >= begin && each < end; });
        });
        for (void* const block : blocks) tenure::heap::process().deallocate(block);
        fuzz::require(tenure::heap_profile::stop() == tenure::status::ok, "the profile stops");
        const tenure::lab::saved_profile whole = tenure::lab::read_core(tenure::lab::bytes_of(text), "", &closed);
        fuzz::require(whole.ok(), whole.error.c_str());
        fuzz::require(!whole.live.empty(), "the unchanged core has samples");
        for (std::size_t at = 0; at + page_bytes <= text.size(); at += page_bytes) {
            const bool is_block = text[at + page_bytes / 2] == letter && text[at + page_bytes / 4] == letter;
            if (!is_block) places.push_back(at);
        }
    }
};

/// Eight bytes at a time: which page, where in it, and what is written there.
std::string changed(const whole_core& core, const std::uint8_t* bytes, std::size_t count) {
    struct change {
        std::uint16_t page, at;
        std::uint8_t kind, length;
        std::uint16_t value;
    } each{};
    static_assert(sizeof each == 8);
    std::string text = core.text;
    for (std::size_t done = 0; done + sizeof each <= count; done += sizeof each) {
        std::memcpy(&each, bytes + done, sizeof each);
        const std::size_t at = core.places[each.page % core.places.size()] + each.at % 4096;
        const std::size_t length = std::min<std::size_t>(each.length % 8 + 1, text.size() - at);
        std::uint64_t value = 0;
        std::memcpy(&value, text.data() + at, length);
        switch (each.kind % 4) {
        case 0: value = each.value; break;
        case 1: value += each.value; break;
        case 2: value -= each.value; break;
        default: value ^= std::uint64_t{1} << each.value % 64;
        }
        std::memcpy(text.data() + at, &value, length);
    }
    return text;
}

void read(std::string bytes) {
    const tenure::lab::saved_profile found =
        tenure::lab::read_core(tenure::lab::bytes_of(std::move(bytes)), "", &closed);
    if (!found.ok()) return;
    for (const format::live_sample& each : found.live)
        fuzz::require(each.site < found.sites.size(), "a live block has a stack");
    tenure::lab::named_profile named;
    named.stacks.resize(1);
    for (std::uint32_t site = 0; site < found.sites.size(); ++site) named.stacks[0].sites.push_back(site);
    const tenure::lab::pinned_memory pinned = tenure::lab::find_pinned(found, named);
    fuzz::require(pinned.parts.unexplained == 0, "the heap's pages are in the process's memory");
    for (const tenure::lab::pinning_stack& each : pinned.stacks)
        fuzz::require(std::isfinite(each.held.bytes) && std::isfinite(each.alone.bytes), "an estimate is a number");
}

}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
    static const whole_core core;
    read(std::string(reinterpret_cast<const char*>(bytes), count));
    read(changed(core, bytes, count));
    return 0;
}
