// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/heap/detail/debug_layout.hpp>
#include <tenure/heap/heap.hpp>

namespace {

using tenure::heap;
using tenure::debug_layout::fact;
using tenure::debug_layout::header;

// A reader that knows the object and nothing else of the heap: it reads bytes at addresses.
class reader {
public:
    reader() : base_(reinterpret_cast<std::uintptr_t>(&tenure_debug_layout)), head_(at<header>(base_)) {
        for (std::uint32_t each = 0; each < head_.fact_count; ++each) {
            const fact found = at<fact>(base_ + head_.facts + std::uintptr_t{each} * head_.fact_bytes);
            facts_[found.name] = found.value;
        }
    }

    [[nodiscard]] const header& head() const { return head_; }
    [[nodiscard]] const std::map<std::string, std::uintptr_t>& facts() const { return facts_; }
    [[nodiscard]] std::uintptr_t fact_of(const std::string& name) const { return facts_.at(name); }
    [[nodiscard]] std::uintptr_t root(const std::string& name) const {
        for (std::uint32_t each = 0; each < head_.root_count; ++each) {
            const auto found = at<tenure::debug_layout::root>(base_ + head_.roots + each * head_.root_bytes);
            if (name == found.name) return reinterpret_cast<std::uintptr_t>(found.address);
        }
        return 0;
    }
    template<class T = std::uintptr_t>
    [[nodiscard]] T member(std::uintptr_t record, const std::string& name) const {
        return at<T>(record + fact_of(name));
    }
    template<class T>
    [[nodiscard]] static T at(std::uintptr_t address) {
        T read;
        std::memcpy(&read, reinterpret_cast<const void*>(address), sizeof read);
        return read;
    }

    /// The cores of all heaps.
    [[nodiscard]] std::vector<std::uintptr_t> cores() const {
        const std::uintptr_t heaps = root("heaps"), owners = root("owners");
        std::vector<std::uintptr_t> found{member(heaps, "heap_list.process") + fact_of("home.core")};
        const auto first = member(owners, "owner_list.first");
        const auto past_last = at<std::size_t>(member(owners, "owner_list.past_last"));
        const auto each_bytes = member<std::uint32_t>(owners, "owner_list.entry_bytes");
        const auto owner = member<std::uint32_t>(owners, "owner_list.owner_offset");
        const auto function = member<std::uint32_t>(owners, "owner_list.function_offset");
        for (std::size_t each = 0; each < past_last; ++each) {
            const std::uintptr_t entry = first + each * each_bytes;
            if (at<std::uintptr_t>(entry + function) != member(heaps, "heap_list.end_of_slot")) continue;
            found.push_back(at<std::uintptr_t>(entry + owner) + fact_of("home.core"));
        }
        return found;
    }

    /// The blocks that threads have cached or that rest in a quarantine.
    [[nodiscard]] std::set<std::uintptr_t> cached(std::uintptr_t core) const {
        std::set<std::uintptr_t> blocks;
        for (std::uintptr_t cache = member(core + fact_of("core.small"), "small.caches"); cache != 0;
             cache = member(cache, "cache.next")) {
            for (std::size_t number = 0; number < fact_of("number.all"); ++number) {
                const std::uintptr_t entry = cache + fact_of("cache.of_class") + number * fact_of("block_cache.bytes");
                for (std::uint32_t each = 0; each < member<std::uint32_t>(entry, "block_cache.count"); ++each)
                    blocks.insert(at<std::uintptr_t>(member(entry, "block_cache.blocks") + each * sizeof(void*)));
            }
            if (const std::uintptr_t resting = member(cache, "cache.resting"); resting != 0)
                add_resting(resting, blocks);
        }
        return blocks;
    }

    /// The address and size of each block in use, apart from the cached ones.
    [[nodiscard]] std::map<std::uintptr_t, std::size_t> blocks(std::uintptr_t core) const {
        std::map<std::uintptr_t, std::size_t> found;
        add_small(core, found);
        for (const std::uintptr_t each : cached(core)) found.erase(each);
        add_large(core, found);
        for (std::uintptr_t head = member(core + fact_of("core.huge"), "huge.live"); head != 0;
             head = member(head, "huge_block.next"))
            found[member(head, "huge_block.mapped") + member(head, "huge_block.lead_bytes")] =
                member(head, "huge_block.mapped_bytes") - member(head, "huge_block.lead_bytes");
        return found;
    }

private:
    void add_resting(std::uintptr_t resting, std::set<std::uintptr_t>& to) const {
        for (std::uint32_t index = 0; index < head_.class_count; ++index) {
            const auto layout = at<tenure::debug_layout::size_class>(base_ + head_.classes + index * head_.class_bytes);
            const std::uintptr_t ring = resting + fact_of("quarantine.rings") + index * fact_of("ring.bytes");
            for (std::uint32_t each = 0; each < member<std::uint32_t>(ring, "ring.count"); ++each) {
                const std::uint32_t place =
                    (member<std::uint32_t>(ring, "ring.first") + each) & (layout.rested_room - 1);
                to.insert(at<std::uintptr_t>(resting + fact_of("quarantine.blocks") +
                                             (layout.rested_offset + place) * sizeof(void*)));
            }
        }
    }
    void add_small(std::uintptr_t core, std::map<std::uintptr_t, std::size_t>& to) const {
        constexpr std::size_t bits = 64;
        for (std::uintptr_t segment = member(core + fact_of("core.pages"), "pages.first"); segment != 0;
             segment = member(segment, "segment.next")) {
            const std::size_t slices = member(segment, "segment.mapped_bytes") / fact_of("limit.slice_bytes");
            for (std::size_t slice = 0; slice < slices; ++slice) {
                if (member<std::uint8_t>(segment + slice, "head.class_of_slice") >= fact_of("number.none")) continue;
                if (at<std::uint16_t>(segment + fact_of("segment.first_slice") + 2 * slice) != slice) continue;
                const std::uintptr_t page = segment + fact_of("segment.pages") + slice * fact_of("page.bytes");
                const std::size_t used = std::min<std::size_t>(member<std::uint8_t>(page, "page.words_used") * bits,
                                                               member<std::uint16_t>(page, "page.capacity"));
                for (std::size_t index = 0; index < used; ++index) {
                    const auto word = at<std::uint64_t>(member(page, "page.bits") + index / bits * 8);
                    const auto bytes = member<std::uint32_t>(page, "page.block_bytes");
                    if ((word >> (index % bits) & 1) == 0) to[member(page, "page.begin") + index * bytes] = bytes;
                }
            }
        }
    }
    void add_large(std::uintptr_t core, std::map<std::uintptr_t, std::size_t>& to) const {
        const auto segment_bytes = member(core + fact_of("core.memory"), "memory.segment_bytes");
        const int exponent = __builtin_ctzll(segment_bytes);
        const std::size_t head = fact_of("large_head_units." + std::to_string(exponent));
        for (std::uintptr_t segment = member(core + fact_of("core.large"), "large.first"); segment != 0;
             segment = member(segment, "large_segment.next")) {
            for (std::size_t unit = head; unit < member(segment, "large_segment.units");) {
                const std::uintptr_t run = segment + fact_of("large_segment.runs") + unit * fact_of("run.bytes");
                const auto units = member<std::uint32_t>(run, "run.units");
                if (!member<bool>(run, "run.is_free"))
                    to[segment + unit * fact_of("limit.unit_bytes")] = units * fact_of("limit.unit_bytes");
                unit += units;
            }
        }
    }

    std::uintptr_t base_;
    header head_;
    std::map<std::string, std::uintptr_t> facts_;
};

std::set<std::uintptr_t> walked(heap& of) {
    std::set<std::uintptr_t> found;
    of.walk([&](void* block, std::size_t) { found.insert(reinterpret_cast<std::uintptr_t>(block)); });
    return found;
}
std::set<std::uintptr_t> read(const heap& of) {
    std::set<std::uintptr_t> found;
    const auto core = reinterpret_cast<std::uintptr_t>(&tenure::detail::core_of(of));
    for (const auto& [block, bytes] : reader().blocks(core)) found.insert(block);
    return found;
}

TEST(debug_layout, the_header_describes_the_object) {
    const header& head = tenure_debug_layout.head;
    EXPECT_EQ(std::memcmp(head.magic, "TNDEBUGH", 8), 0);
    EXPECT_EQ(head.version, 1U);
    EXPECT_EQ(head.checks, static_cast<std::uint32_t>(tenure::checks::level));
    EXPECT_EQ(head.self, &tenure_debug_layout);
    EXPECT_EQ(head.bytes, sizeof tenure_debug_layout);
    EXPECT_EQ(head.facts + head.fact_count * head.fact_bytes, head.bytes);
    EXPECT_EQ(head.class_count, tenure::detail::small_class_count);
}

TEST(debug_layout, every_name_is_given_once_and_ends_with_a_zero) {
    std::set<std::string> names;
    for (const fact& each : tenure_debug_layout.fact_table) {
        EXPECT_EQ(each.name[sizeof each.name - 1], '\0');
        EXPECT_TRUE(names.insert(each.name).second) << each.name;
    }
}

TEST(debug_layout, a_reader_finds_the_process_heap_and_others) {
    heap other({.name = "other"});
    const std::vector<std::uintptr_t> cores = reader().cores();
    const auto core_at = [](const heap& of) { return reinterpret_cast<std::uintptr_t>(&tenure::detail::core_of(of)); };
    EXPECT_EQ(cores.front(), core_at(heap::process()));
    EXPECT_EQ(std::count(cores.begin(), cores.end(), core_at(other)), 1);
}

TEST(debug_layout, a_reader_finds_the_blocks_of_a_walk) {
    heap mine({.name = "read"});
    std::vector<void*> held;
    for (const std::size_t bytes : {8UL, 24UL, 100UL, 600UL, 5000UL, 32000UL, 40000UL, 300000UL, 3000000UL}) {
        for (std::size_t each = 0; each < 60; ++each) held.push_back(mine.allocate(bytes));
    }
    held.push_back(mine.allocate(std::size_t{40} << 20));
    for (std::size_t each = 0; each < held.size(); each += 3) mine.deallocate(std::exchange(held[each], nullptr));
    const std::set<std::uintptr_t> before = read(mine); // while blocks are in caches, which a walk empties
    const std::set<std::uintptr_t> expected = walked(mine);
    EXPECT_EQ(before, expected);
    EXPECT_EQ(read(mine), expected);
    EXPECT_EQ(expected.size(), held.size() - (held.size() + 2) / 3);
    mine.clear();
    EXPECT_TRUE(read(mine).empty());
}

TEST(debug_layout, a_reader_finds_the_blocks_of_small_segments) {
    heap mine({.name = "small", .limit_bytes = std::size_t{4} << 20});
    for (std::size_t each = 1; each < 300; ++each) static_cast<void>(mine.allocate(each * 37));
    static_cast<void>(mine.allocate(100000));
    EXPECT_EQ(read(mine), walked(mine));
}

TEST(debug_layout, a_reader_finds_what_is_cached_or_in_quarantine) {
    heap mine({.name = "cached"});
    void* const block = mine.allocate(48);
    mine.deallocate(block);
    const auto core = reinterpret_cast<std::uintptr_t>(&tenure::detail::core_of(mine));
    EXPECT_EQ(reader().cached(core).count(reinterpret_cast<std::uintptr_t>(block)), 1U);
    EXPECT_TRUE(read(mine).empty());
}

}
