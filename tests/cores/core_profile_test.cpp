// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Core files of this process, whole and damaged, and what the process itself saves at the same moment.

#include "observe/cores/core_profile.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/options.hpp>
#include <tenure/base/tag.hpp>
#include <tenure/heap/detail/debug_layout.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/heap/heap_profile.hpp>

#include "support/own_core.hpp"
#include "support/own_path.hpp"
#include "support/process.hpp"
#include "support/random.hpp"

namespace tenure::lab {

namespace {

namespace format = profile_format;

/// No mapped file is opened.
opened_bytes closed(const std::string&) { return {nullptr, "is not opened"}; }

saved_profile read_text(const std::string& core, const std::string& program = "") {
    return read_core(bytes_of(core), program, &closed);
}

/// Blocks of all kinds in the process heap, under a profile that records each of them.
class core_profile : public testing::Test {
protected:
    void SetUp() override {
        tenure::set_option(tenure::option::heap_guard_bytes, 0); // a block between guards is on no page of the heap
        ASSERT_EQ(heap_profile::start(1), status::ok);
        for (int each = 0; each < 600; ++each) {
            void* const block = allocate(each % 7 == 0 ? 5000 : 200);
            (each % 3 == 0 ? kept_ : freed_).push_back(block);
        }
        {
            const tag_scope tagged("of the core's test");
            for (int each = 0; each < 50; ++each) kept_.push_back(allocate(72));
        }
        kept_.push_back(allocate(300'000));
        kept_.push_back(allocate(std::size_t{40} << 20, 100'000));
        for (void* const block : freed_) heap::process().deallocate(block);
        freed_.clear();
    }
    void TearDown() override {
        for (void* const block : kept_) heap::process().deallocate(block);
        static_cast<void>(heap_profile::stop()); // a test may have stopped it
    }
    static void* allocate(std::size_t bytes, std::size_t touched = SIZE_MAX) {
        void* const block = heap::process().allocate(bytes);
        std::memset(block, 0x5A, std::min(bytes, touched));
        return block;
    }

    std::vector<void*> kept_, freed_;
};

/// The pages of a kind, one by one.
std::map<std::uint64_t, std::vector<unsigned>> pages_of(const saved_profile& of, format::page_use use) {
    std::map<std::uint64_t, std::vector<unsigned>> found;
    for (const format::page_run& each : of.pages) {
        for (std::uint64_t page = 0; each.use == use && page < each.pages; ++page)
            found[each.address + page * format::page_bytes] = {each.live_bytes, each.blocks, each.block_bytes};
    }
    return found;
}

std::map<std::uint64_t, std::vector<std::uint64_t>> samples_of(const saved_profile& of) {
    std::map<std::uint64_t, std::vector<std::uint64_t>> found;
    for (const format::live_sample& each : of.live) {
        const format::site& site = of.sites[each.site];
        std::vector<std::uint64_t>& facts = found[each.address];
        facts = {each.asked_bytes, each.block_bytes, each.allocated_ms, each.thread, each.tag};
        const auto first = of.frames.begin() + static_cast<std::ptrdiff_t>(site.first_frame);
        facts.insert(facts.end(), first, first + site.frame_count);
    }
    return found;
}

constexpr const char* elsewhere =
    "checked builds place large blocks outside of the heap's memory, and others between guards";

TEST_F(core_profile, has_what_the_process_saves_at_the_same_moment) {
    if (tenure::checks::caller) GTEST_SKIP() << elsewhere;
    const std::string path = support::own_path("same-moment.heapprofile");
    ASSERT_EQ(heap_profile::save(path, profile_contents::stacks_and_pages), status::ok);
    const saved_profile saved = load_profile(path);
    std::filesystem::remove(path);
    const saved_profile read = read_text(support::core_of_this_process());
    ASSERT_TRUE(saved.ok()) << saved.error;
    ASSERT_TRUE(read.ok()) << read.error;
    EXPECT_TRUE(read.from_core.is_set && read.from_core.has_stacks);
    EXPECT_EQ(read.program(), "own_program");
    EXPECT_EQ(read.header.process, saved.header.process);
    EXPECT_EQ(read.header.mean_bytes, 1u);
    EXPECT_EQ(pages_of(read, format::page_use::small_blocks), pages_of(saved, format::page_use::small_blocks));
    EXPECT_EQ(pages_of(read, format::page_use::large_block), pages_of(saved, format::page_use::large_block));
    EXPECT_GT(pages_of(read, format::page_use::large_block).size(), (300'000u + 100'000u) / format::page_bytes);
    EXPECT_EQ(samples_of(read), samples_of(saved));
    EXPECT_EQ(read.live.size(), kept_.size());
    EXPECT_EQ(read.tags, saved.tags);
    for (const format::size_class& each : saved.classes) {
        const auto same = [&](const format::size_class& other) { return other.block_bytes == each.block_bytes; };
        const auto found = std::find_if(read.classes.begin(), read.classes.end(), same);
        ASSERT_NE(found, read.classes.end());
        EXPECT_EQ(found->live_blocks, each.live_blocks) << each.block_bytes;
    }
    ASSERT_EQ(read.cached.size(), saved.cached.size());
    for (std::size_t index = 0; index < saved.cached.size(); ++index)
        EXPECT_EQ(read.cached[index].count, saved.cached[index].count) << saved.cached[index].block_bytes;
}

TEST_F(core_profile, without_a_profile_only_the_pages_are_known) {
    ASSERT_EQ(heap_profile::stop(), status::ok);
    const saved_profile read = read_text(support::core_of_this_process());
    ASSERT_TRUE(read.ok()) << read.error;
    EXPECT_FALSE(read.from_core.has_stacks);
    EXPECT_TRUE(read.live.empty());
    EXPECT_FALSE(pages_of(read, format::page_use::small_blocks).empty());
    EXPECT_NE(read.from_core.unknown.back().find("TENURE_PROFILE=1"), std::string::npos);
}

TEST_F(core_profile, foreign_files_are_refused_with_the_reason) {
    const auto expect_refused = [](const std::string& core, std::string_view words) {
        const saved_profile read = read_text(core);
        EXPECT_NE(read.error.find(words), std::string::npos) << read.error;
    };
    expect_refused("", "This is not a core file.");
    expect_refused(std::string(5000, 'x'), "This is not a core file.");
    const auto with = [](auto change) {
        support::core_maker made;
        made.add_memory(0x10000, std::string(4096, 'x'));
        change(made.head());
        return made.finished();
    };
    expect_refused(with([](Elf64_Ehdr& head) { head.e_ident[EI_CLASS] = ELFCLASS32; }), "32 bits");
    expect_refused(with([](Elf64_Ehdr& head) { head.e_ident[EI_DATA] = ELFDATA2MSB; }), "big-endian");
    expect_refused(with([](Elf64_Ehdr& head) { head.e_machine = EM_RISCV; }), "RISC-V");
    expect_refused(with([](Elf64_Ehdr& head) { head.e_type = ET_DYN; }), "--program");
    expect_refused(with([](Elf64_Ehdr&) {}), "No heap of Tenure is in this core file");
    expect_refused(support::core_maker().finished(), "has no memory");
    support::core_maker overlapping;
    overlapping.add_memory(0x10000, std::string(8192, 'x'));
    overlapping.add_memory(0x11000, std::string(8192, 'x'));
    expect_refused(overlapping.finished(), "two parts contain 0x11000");
}

TEST_F(core_profile, a_core_that_was_cut_off_is_refused) {
    const std::string whole = support::core_of_this_process();
    ASSERT_TRUE(read_text(whole).ok());
    for (std::size_t eighth = 0; eighth < 8; ++eighth) {
        const saved_profile read = read_text(whole.substr(0, whole.size() * eighth / 8));
        EXPECT_FALSE(read.ok()) << eighth;
        EXPECT_NE(read.error.find(eighth == 0 ? "not a core" : "cut off"), std::string::npos) << read.error;
    }
}

/// Where an address of this process is in its core file.
std::size_t place_of(const std::string& core, std::uint64_t address) {
    Elf64_Ehdr head{};
    std::memcpy(&head, core.data(), sizeof head);
    for (unsigned index = 0; index < head.e_phnum; ++index) {
        Elf64_Phdr part{};
        std::memcpy(&part, core.data() + head.e_phoff + index * sizeof part, sizeof part);
        if (part.p_type == PT_LOAD && address >= part.p_vaddr && address - part.p_vaddr < part.p_filesz)
            return part.p_offset + (address - part.p_vaddr);
    }
    ADD_FAILURE() << "not in the core: " << address;
    return 0;
}

std::uint64_t fact_of(std::string_view name) {
    for (const debug_layout::fact& each : tenure_debug_layout.fact_table)
        if (name == each.name) return each.value;
    ADD_FAILURE() << name;
    return 0;
}
std::uint64_t root_of(std::string_view name) {
    for (const debug_layout::root& each : tenure_debug_layout.root_table)
        if (name == each.name) return reinterpret_cast<std::uintptr_t>(each.address);
    ADD_FAILURE() << name;
    return 0;
}
std::uint64_t word_at(std::uint64_t address) {
    std::uint64_t word = 0;
    std::memcpy(&word, reinterpret_cast<const void*>(address), sizeof word); // NOLINT(performance-no-int-to-ptr)
    return word;
}
std::uint64_t process_core_address() {
    return word_at(root_of("heaps") + fact_of("heap_list.process")) + fact_of("home.core");
}

TEST_F(core_profile, damaged_records_are_refused_with_the_reason) {
    if (tenure::checks::caller) GTEST_SKIP() << elsewhere;
    const std::string whole = support::core_of_this_process();
    const auto expect_refused = [&](std::uint64_t address, std::uint64_t value, std::size_t bytes,
                                    std::string_view words) {
        std::string damaged = whole;
        std::memcpy(damaged.data() + place_of(whole, address), &value, bytes);
        const saved_profile read = read_text(damaged);
        EXPECT_NE(read.error.find(words), std::string::npos) << words << ": " << read.error;
    };
    const std::uint64_t layout = reinterpret_cast<std::uintptr_t>(&tenure_debug_layout);
    expect_refused(layout + offsetof(debug_layout::header, magic), 0, 8, "No heap of Tenure");
    expect_refused(layout + offsetof(debug_layout::header, self), layout + 8, 8, "No heap of Tenure");
    expect_refused(layout + offsetof(debug_layout::header, version), 77, 4, "version 77");
    expect_refused(layout + offsetof(debug_layout::header, facts), 1 << 30, 4, "a table lies outside");
    const std::uint64_t core = process_core_address();
    const std::uint64_t segment = word_at(core + fact_of("core.pages") + fact_of("pages.first"));
    expect_refused(segment + fact_of("segment.next"), segment, 8, "has no end");
    expect_refused(segment + fact_of("segment.next"), 0x1234'5678, 8, "is not in the core file");
    expect_refused(segment + fact_of("segment.mapped_bytes"), 12'345, 8, "a segment of 12345 bytes");
    expect_refused(core + fact_of("core.memory") + fact_of("memory.segment_bytes"), 4096, 8, "segments of 4096 bytes");
    const std::uint64_t live = root_of("profile") + fact_of("profile.live");
    expect_refused(live + fact_of("array.count"), std::uint64_t{1} << 50, 8, "an array has");
    expect_refused(live + fact_of("array.count"), std::uint64_t{1} << 24, 8, "damaged");
    expect_refused(root_of("profile_mean"), 0, 8, "one byte in 0 is recorded");
    const std::uint64_t cache = word_at(core + fact_of("core.small") + fact_of("small.caches"));
    expect_refused(cache + fact_of("cache.of_class") + fact_of("block_cache.count"), 1 << 30, 4, "a thread cache");
    const std::uint64_t huge = word_at(core + fact_of("core.huge") + fact_of("huge.live"));
    expect_refused(huge + fact_of("huge_block.size"), std::uint64_t{1} << 40, 8, "a huge block");
}

TEST_F(core_profile, a_page_that_contradicts_itself_is_counted_and_the_rest_is_read) {
    if (tenure::checks::caller) GTEST_SKIP() << elsewhere;
    std::string core = support::core_of_this_process();
    const std::uint64_t segment = word_at(process_core_address() + fact_of("core.pages") + fact_of("pages.first"));
    const auto block = reinterpret_cast<std::uintptr_t>(kept_.front());
    const std::uint64_t slice = (block - segment) / fact_of("limit.slice_bytes");
    const std::uint64_t page = segment + fact_of("segment.pages") + slice * fact_of("page.bytes");
    core[place_of(core, page + fact_of("page.capacity"))] ^= 1;
    const saved_profile read = read_text(core);
    ASSERT_TRUE(read.ok()) << read.error;
    const auto& notes = read.from_core.unknown;
    EXPECT_TRUE(std::any_of(notes.begin(), notes.end(), [](const std::string& each) {
        return each.find("1 page of the heap") == 0;
    })) << notes.size();
}

TEST_F(core_profile, any_damage_is_read_or_refused) {
    const std::string whole = support::core_of_this_process();
    // Places that are read: the layout, the heap, a segment's records, the profile's records.
    const std::uint64_t core = process_core_address();
    const std::uint64_t segment = word_at(core + fact_of("core.pages") + fact_of("pages.first"));
    const struct {
        std::size_t begin, bytes;
    } places[] = {{place_of(whole, reinterpret_cast<std::uintptr_t>(&tenure_debug_layout)), sizeof tenure_debug_layout},
                  {place_of(whole, core), 4096},
                  {place_of(whole, segment), 64 * 1024},
                  {place_of(whole, word_at(root_of("profile") + fact_of("profile.live"))), 4096},
                  {place_of(whole, root_of("profile")), 256},
                  {0, 4096}};
    support::random random(20'261'127);
    const int rounds = support::under_sanitizer() ? 30 : 400;
    int refused = 0;
    for (int round = 0; round < rounds; ++round) {
        std::string damaged = whole;
        for (std::uint64_t change = random.below(4) + 1; change != 0; --change) {
            const auto& place = places[random.below(std::size(places))];
            const std::uint64_t values[] = {0,      1, UINT64_MAX, random.next(), std::uint64_t{1} << random.below(64),
                                            segment};
            const std::uint64_t value = values[random.below(std::size(values))];
            const std::size_t bytes = std::size_t{1} << random.below(4);
            const std::size_t at = place.begin + random.below(place.bytes) / bytes * bytes;
            std::memcpy(damaged.data() + at, &value, std::min(bytes, damaged.size() - at));
        }
        const saved_profile read = read_text(damaged);
        refused += read.ok() ? 0 : 1;
        if (!read.ok()) continue;
        std::uint64_t heap_bytes = 0, all_bytes = 0;
        for (const format::page_run& each : read.pages) heap_bytes += std::uint64_t{each.pages} * format::page_bytes;
        for (const resident_mapping& each : read.memory) all_bytes += each.resident_bytes;
        EXPECT_LE(heap_bytes, all_bytes) << "the heap's pages are in the process's memory";
    }
    EXPECT_GT(refused, rounds / 20);
    EXPECT_LT(refused, rounds);
}

}

}
