// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/heap_profile.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iomanip>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/align.hpp>
#include <tenure/base/options.hpp>
#include <tenure/base/tag.hpp>
#include <tenure/heap/detail/heap_core.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/platform/build_id.hpp>

#include "support/heap_profile_file.hpp"
#include "support/process.hpp"
#include "support/random.hpp"
#include "support/reports.hpp"

namespace {

using support::heap_profile_file;
using support::on_fresh_thread;
using tenure::heap;
using tenure::heap_profile;
using tenure::status;

/// A mean so small that every block is recorded, and one at which the inline paths matter.
constexpr std::uint64_t every_block = 1;
constexpr std::uint64_t some_blocks = 4096;

class profiles : public testing::Test {
protected:
    void SetUp() override {
        if (!tenure::passthrough_enabled(tenure::part::heap)) return;
        EXPECT_EQ(heap_profile::start(), status::unsupported);
        GTEST_SKIP() << "the heap's blocks are malloc's";
    }
    void TearDown() override {
        if (heap_profile::is_running()) heap_profile::stop();
        std::remove(path_.c_str());
    }
    heap_profile_file saved(tenure::profile_contents what = tenure::profile_contents::stacks) {
        heap_profile_file file;
        EXPECT_EQ(heap_profile::save(path_, what), status::ok);
        support::read_heap_profile(path_, file);
        EXPECT_TRUE(heap::process().valid());
        return file;
    }

    std::string path_ = testing::TempDir() + "heap_profile_test." + std::to_string(::getpid()) + ".heapprofile";
};

/// Makes blocks in pairs of which the first is freed at once.
/// Returns   how many of the others lie directly behind the one before.
std::size_t neighbours_among_what_stays() {
    constexpr std::size_t pairs = 4000, bytes = 64;
    std::vector<char*> staying;
    std::size_t found = 0;
    for (std::size_t pair = 0; pair < pairs; ++pair) {
        void* const going = heap::process().allocate(bytes);
        staying.push_back(static_cast<char*>(heap::process().allocate(bytes)));
        heap::process().deallocate(going);
        const std::size_t last = staying.size() - 1;
        found += last > 0 && staying[last] == staying[last - 1] + bytes;
    }
    for (char* const block : staying) heap::process().deallocate(block);
    return found;
}

TEST_F(profiles, blocks_lie_as_they_do_without_one) {
    if (tenure::checks::caller) GTEST_SKIP() << "every call is a slow one";
    std::size_t without = 0, with = 0;
    on_fresh_thread([&] { without = neighbours_among_what_stays(); });
    EXPECT_GT(without, 3000u);
    ASSERT_EQ(heap_profile::start(), status::ok);
    on_fresh_thread([&] { with = neighbours_among_what_stays(); });
    EXPECT_GE(with * 10, without * 9);
}

/// What a block of this size takes from the heap.
std::uint64_t block_bytes(std::size_t bytes) {
    // Rounded up like the heap's own blocks, in builds with and without guards.
    void* const block = heap::process().allocate(bytes);
    const auto taken = tenure::detail::core_of(heap::process()).profiled(block, bytes).bytes;
    heap::process().deallocate(block);
    return taken;
}

// Without a profile of the process's own: see tests/dropin for that.
TEST_F(profiles, one_runs_at_a_time) {
    EXPECT_FALSE(heap_profile::is_running());
    EXPECT_EQ(heap_profile::stop(), status::not_started);
    EXPECT_EQ(heap_profile::start(std::uint64_t{1} << 31), status::invalid_argument);
    ASSERT_EQ(heap_profile::start(), status::ok);
    EXPECT_TRUE(heap_profile::is_running());
    EXPECT_EQ(heap_profile::start(), status::already_started);
    EXPECT_EQ(heap_profile::stop(), status::ok);
    EXPECT_EQ(heap_profile::stop(), status::not_started);
    EXPECT_EQ(heap_profile::save("/no such folder/x"), status::file_error);
    EXPECT_EQ(saved().live_sum().samples, 0u); // may be saved after the end
}

TEST_F(profiles, every_block_is_recorded_at_a_mean_of_one) {
    ASSERT_EQ(heap_profile::start(every_block), status::ok);
    on_fresh_thread([&] {
        std::map<void*, std::size_t> live;
        support::random numbers(3);
        std::uint64_t allocated = 0, allocated_bytes = 0;
        const auto begin = [&](void* block, std::size_t bytes) {
            ASSERT_NE(block, nullptr);
            live[block] = bytes;
            ++allocated;
            allocated_bytes += tenure::detail::core_of(heap::process()).profiled(block, bytes).bytes;
        };
        for (int step = 0; step < 20'000; ++step) {
            if (live.empty() || numbers.below(20) < 11) {
                const std::size_t bytes = step % 500 == 0 ? 40'000 + numbers.below(200'000) : 32 + numbers.below(3000);
                begin(heap::process().allocate(bytes), bytes);
            } else {
                const auto gone = live.begin();
                numbers.one_in(2) ? heap::process().deallocate(gone->first)
                                  : heap::process().deallocate(gone->first, gone->second, 16);
                live.erase(gone);
            }
        }
        const std::size_t huge = std::size_t{40} << 20;
        begin(heap::process().allocate(huge), huge);
        std::uint64_t live_bytes = 0;
        for (const auto& [block, bytes] : live)
            live_bytes += tenure::detail::core_of(heap::process()).profiled(block, bytes).bytes;
        const heap_profile_file file = saved();
        EXPECT_EQ(file.live.size(), live.size());
        EXPECT_EQ(file.allocated_sum().samples, allocated);
        EXPECT_NEAR(file.allocated_sum().bytes, double(allocated_bytes), 1e-9 * double(allocated_bytes));
        EXPECT_NEAR(file.live_sum().bytes, double(live_bytes), 1e-9 * double(allocated_bytes));
        EXPECT_NEAR(file.live_sum().blocks, double(live.size()), 1e-9 * double(allocated));
        for (const auto& each : file.live) {
            const auto known = live.find(tenure::pointer_at(each.address));
            ASSERT_NE(known, live.end());
            EXPECT_EQ(each.asked_bytes, known->second);
            EXPECT_GT(file.sites[each.site].frame_count, 1u);
        }
        EXPECT_EQ(file.header.lost_samples, 0u);
        EXPECT_EQ(file.header.process, std::uint64_t(::getpid()));
        EXPECT_NE(file.texts.at(tenure::profile_format::section::mappings).find("heap_"), std::string::npos);
        EXPECT_NE(file.texts.at(tenure::profile_format::section::arguments).find("heap_"), std::string::npos);
        for (const auto& [block, bytes] : live) heap::process().deallocate(block);
        EXPECT_EQ(saved().live.size(), 0u);
        EXPECT_EQ(saved().live_sum().bytes, 0);
    });
}

// The drop-in and C free by other functions than `heap`.
TEST_F(profiles, frees_of_the_inline_functions_end_records) {
    for (const std::uint64_t mean : {every_block, some_blocks}) {
        ASSERT_EQ(heap_profile::start(mean), status::ok);
        on_fresh_thread([&] {
            std::vector<void*> blocks;
            for (int each = 0; each < 4000; ++each) blocks.push_back(tenure::detail::process_allocate(100, 16));
            const std::size_t before = heap_profile::sample_count();
            EXPECT_GT(before, mean == every_block ? 3990u : 20u);
            for (std::size_t each = 0; each < blocks.size(); each += 2)
                tenure::detail::process_deallocate(blocks[each]);
            const heap_profile_file half = saved();
            for (const auto& each : half.live) {
                const auto at = std::find(blocks.begin(), blocks.end(), tenure::pointer_at(each.address));
                EXPECT_TRUE(at == blocks.end() || (at - blocks.begin()) % 2 == 1) << "it is freed";
            }
            EXPECT_LT(heap_profile::sample_count(), before);
            for (std::size_t each = 1; each < blocks.size(); each += 2)
                tenure::detail::process_deallocate(blocks[each]);
            EXPECT_LT(heap_profile::sample_count(), 10u);
        });
        ASSERT_EQ(heap_profile::stop(), status::ok);
    }
}

TEST_F(profiles, pages_and_mappings_are_saved_if_asked_for) {
    ASSERT_EQ(heap_profile::start(every_block), status::ok);
    on_fresh_thread([&] {
        std::vector<void*> blocks;
        for (int each = 0; each < 2000; ++each) {
            blocks.push_back(heap::process().allocate(700));
            std::memset(blocks.back(), 1, 700);
        }
        EXPECT_TRUE(saved().pages.empty());
        const heap_profile_file file = saved(tenure::profile_contents::stacks_and_pages);
        namespace format = tenure::profile_format;
        for (const format::live_sample& each : file.live) {
            const auto holds = [&](const format::page_run& run) {
                return each.address - run.address < std::uint64_t{run.pages} * format::page_bytes;
            };
            const auto run = std::find_if(file.pages.begin(), file.pages.end(), holds);
            if (each.asked_bytes != 700 || run == file.pages.end()) continue; // between guard pages
            EXPECT_EQ(run->use, format::page_use::small_blocks);
            EXPECT_GT(run->blocks, 0u);
            EXPECT_EQ(run->block_bytes, each.block_bytes);
        }
        std::uint64_t small_pages = 0;
        for (const format::page_run& run : file.pages)
            small_pages += run.use == format::page_use::small_blocks ? run.pages : 0;
        EXPECT_GT(small_pages, blocks.size() * 700 / format::page_bytes * 9 / 10); // less what lies between guard pages
        EXPECT_EQ(file.cached.size(), tenure::detail::small_class_count);
        const auto memory = file.texts.find(format::section::memory); // missing where the process may not read it
        EXPECT_TRUE(memory == file.texts.end() || memory->second.find("Rss:") != std::string::npos);
        for (void* const block : blocks) heap::process().deallocate(block);
    });
}

// The inline paths count exactly, so the estimates are off only by the sampling error: one run in 10^9 is by more than
// six standard errors.
TEST_F(profiles, estimates_are_within_their_sampling_error) {
    ASSERT_EQ(heap_profile::start(some_blocks), status::ok);
    on_fresh_thread([&] {
        constexpr std::size_t count = 100'000;
        constexpr std::size_t sizes[] = {8, 64, 200, 1000, 5000, 30'000};
        std::vector<void*> held;
        std::uint64_t allocated_bytes = 0, held_bytes = 0, blocks = 0;
        support::random numbers(5);
        for (const std::size_t bytes : sizes) {
            const std::uint64_t taken = block_bytes(bytes);
            ++blocks;
            allocated_bytes += taken;
            for (std::size_t each = 0; each < count * 8 / std::max<std::size_t>(bytes / 8, 8); ++each) {
                void* const block = heap::process().allocate(bytes, 8);
                ++blocks;
                allocated_bytes += taken;
                if (numbers.one_in(20)) {
                    held.push_back(block);
                    held_bytes += taken;
                } else {
                    heap::process().deallocate(block);
                }
            }
        }
        const heap_profile_file file = saved();
        const auto ever = file.allocated_sum(), now = file.live_sum(),
                   peak = file.sum(&tenure::profile_format::site::at_peak, 0);
        EXPECT_NEAR(ever.bytes, double(allocated_bytes), 6 * std::sqrt(ever.variance));
        EXPECT_NEAR(now.bytes, double(held_bytes), 6 * std::sqrt(now.variance));
        EXPECT_LE(std::sqrt(ever.variance), 0.02 * ever.bytes);
        EXPECT_GT(ever.samples, 5000u);
        EXPECT_GE(peak.bytes, now.bytes * 0.999);
        for (void* const block : held) heap::process().deallocate(block);
        EXPECT_EQ(saved().live.size(), 0u) << "a free of a recorded block was missed";
    });
}

TEST_F(profiles, blocks_of_before_and_of_after_are_not_in_it) {
    on_fresh_thread([&] {
        std::vector<void*> before;
        for (int each = 0; each < 1000; ++each) before.push_back(heap::process().allocate(100));
        ASSERT_EQ(heap_profile::start(every_block), status::ok);
        for (void* const block : before) heap::process().deallocate(block);
        void* const within = heap::process().allocate(5000); // another size: surely a slow call
        heap_profile_file file = saved();
        ASSERT_EQ(file.live.size(), 1u);
        EXPECT_EQ(file.live[0].address, tenure::address_of(within));
        ASSERT_EQ(heap_profile::stop(), status::ok);
        void* const after = heap::process().allocate(6000);
        heap::process().deallocate(within); // not recorded any more
        heap::process().deallocate(after);
        EXPECT_EQ(saved().live.size(), 1u);
        ASSERT_EQ(heap_profile::start(every_block), status::ok);
        EXPECT_EQ(saved().live.size(), 0u);
        for (int each = 0; each < 1000; ++each) heap::process().deallocate(heap::process().allocate(100));
    });
}

TEST_F(profiles, a_block_that_is_resized_counts_with_its_new_size) {
    ASSERT_EQ(heap_profile::start(every_block), status::ok);
    on_fresh_thread([&] {
        void* block = heap::process().allocate(100);
        for (const std::size_t bytes :
             {std::size_t{90}, std::size_t{3000}, std::size_t{100'000}, std::size_t{300'000}, std::size_t{250'000},
              std::size_t{40} << 20, std::size_t{90} << 20, std::size_t{5'000'000}, std::size_t{50}}) {
            block = heap::process().reallocate(block, bytes);
            ASSERT_NE(block, nullptr);
            const heap_profile_file file = saved();
            ASSERT_EQ(file.live.size(), 1u) << bytes;
            EXPECT_EQ(file.live[0].address, tenure::address_of(block)) << bytes;
            EXPECT_EQ(file.live[0].block_bytes, tenure::detail::core_of(heap::process()).profiled(block, bytes).bytes)
                << bytes;
        }
        heap::process().deallocate(block);
        EXPECT_EQ(saved().live.size(), 0u);
    });
}

TEST_F(profiles, blocks_of_tags_are_recorded_by_tag) {
    ASSERT_EQ(heap_profile::start(every_block), status::ok);
    on_fresh_thread([&] {
        const tenure::tag names[2] = {tenure::tag::named("profiled one"), tenure::tag::named("profiled two")};
        std::vector<void*> blocks;
        for (int each = 0; each < 3000; ++each) {
            const tenure::tag_scope scope(names[std::size_t(each % 2)]);
            blocks.push_back(heap::process().allocate(each % 3 == 0 ? 50'000 : 100));
            if (each % 5 == 0) { // under the other tag
                const tenure::tag_scope other(names[std::size_t(1 - each % 2)]);
                heap::process().deallocate(blocks.back());
                blocks.pop_back();
            }
        }
        const heap_profile_file file = saved();
        EXPECT_EQ(file.live_sum(names[0].id()).samples + file.live_sum(names[1].id()).samples, blocks.size());
        EXPECT_EQ(file.live_sum(names[0].id()).samples, file.live_sum(names[1].id()).samples);
        EXPECT_EQ(file.live.size(), blocks.size());
        const std::string line = std::to_string(names[0].id()) + " profiled one\n";
        EXPECT_NE(file.texts.at(tenure::profile_format::section::tags).find(line), std::string::npos);
        for (void* const block : blocks) heap::process().deallocate(block);
        EXPECT_EQ(saved().live.size(), 0u);
    });
}

// Whose frees would otherwise keep the cache full.
TEST_F(profiles, a_thread_that_reuses_a_tags_blocks_is_counted_at_once) {
    on_fresh_thread([&] {
        const tenure::tag name = tenure::tag::named("profiled from its middle");
        constexpr std::uint64_t count = 20'000, bytes = 1000;
        const auto reuse = [&] {
            const tenure::tag_scope scope(name);
            // As the drop-in and the C functions do, which free a tag's blocks by a way of their own.
            for (std::uint64_t each = 0; each < count; ++each)
                tenure::detail::process_deallocate(tenure::detail::process_allocate(bytes, tenure::default_alignment));
        };
        reuse();
        on_fresh_thread([] { ASSERT_EQ(heap_profile::start(some_blocks), status::ok); }); // whose own caches follow
        reuse();
        const auto allocated = static_cast<double>(saved().allocated_sum(name.id()).bytes);
        const double all = static_cast<double>(count * block_bytes(bytes));
        EXPECT_NEAR(allocated, all, 6 * std::sqrt(all * static_cast<double>(some_blocks)));
        ASSERT_EQ(heap_profile::stop(), status::ok);
        reuse();
    });
}

TEST_F(profiles, figures_of_the_heap_stay_exact) {
    on_fresh_thread([&] {
        const auto live_before = heap::process().stats().live_count;
        ASSERT_EQ(heap_profile::start(some_blocks), status::ok);
        std::vector<void*> blocks;
        for (int each = 0; each < 10'000; ++each)
            blocks.push_back(heap::process().allocate(16 + static_cast<std::size_t>(each % 700)));
        for (int each = 0; each < 5'000; ++each) heap::process().deallocate(blocks[static_cast<std::size_t>(each)]);
        EXPECT_EQ(heap::process().stats().live_count, live_before + 5'000);
        std::uint64_t live = 0;
        for (const auto& each : saved().classes) live += each.live_blocks;
        // In checked builds, blocks between guard pages are of no class.
        EXPECT_LE(live, heap::process().stats().live_count);
        EXPECT_GE(live + (tenure::checks::caller ? 100 : 0), heap::process().stats().live_count);
        ASSERT_EQ(heap_profile::stop(), status::ok);
        for (int each = 5'000; each < 10'000; ++each)
            heap::process().deallocate(blocks[static_cast<std::size_t>(each)]);
        EXPECT_EQ(heap::process().stats().live_count, live_before);
    });
    heap::process().trim();
    EXPECT_TRUE(heap::process().valid());
}

// What the file says of blocks of before bounds from both sides what the samples stand for, class by class.
TEST_F(profiles, counts_of_classes_bound_what_the_samples_stand_for) {
    on_fresh_thread([&] {
        constexpr std::size_t sizes[] = {16, 24, 100, 700, 4000, 20'000, 50'000, 300'000, 3'000'000, 70'000'000};
        std::vector<void*> before, within;
        for (const std::size_t bytes : sizes) {
            for (int each = 0; each < 20; ++each) before.push_back(heap::process().allocate(bytes));
        }
        ASSERT_EQ(heap_profile::start(every_block), status::ok);
        heap::process().deallocate(heap::process().allocate(90'000)); // a slow call: the thread follows
        for (std::size_t each = 0; each < before.size(); each += 2) heap::process().deallocate(before[each]);
        for (const std::size_t bytes : sizes) {
            for (int each = 0; each < 30; ++each) within.push_back(heap::process().allocate(bytes));
        }
        heap_profile_file file = saved();
        if (tenure::checks::caller) {
            EXPECT_EQ(file.classes_before.size(), 0u);
        } else {
            ASSERT_EQ(file.classes_before.size(), file.classes.size());
            std::map<std::uint64_t, std::uint64_t> sampled;
            const std::uint64_t most = file.classes[file.classes.size() - 2].block_bytes;
            for (const auto& each : file.live) sampled[each.block_bytes > most ? 0 : each.block_bytes] += 1;
            for (std::size_t index = 0; index < file.classes.size(); ++index) {
                const auto &now = file.classes[index], &then = file.classes_before[index];
                EXPECT_EQ(now.block_bytes, then.block_bytes);
                EXPECT_GE(now.live_blocks, sampled[now.block_bytes]) << now.block_bytes;
                EXPECT_LE(now.live_blocks, then.live_blocks + sampled[now.block_bytes]) << now.block_bytes;
            }
            EXPECT_EQ(sampled[0], 4 * 30u);
        }
        ASSERT_EQ(heap_profile::stop(), status::ok);
        for (int each = 0; each < 1000; ++each) within.push_back(heap::process().allocate(700));
        const heap_profile_file after = saved(); // of the moment of the end
        for (std::size_t index = 0; index < file.classes.size(); ++index)
            EXPECT_EQ(after.classes[index].live_blocks, file.classes[index].live_blocks);
        for (std::size_t each = 1; each < before.size(); each += 2) heap::process().deallocate(before[each]);
        for (void* const block : within) heap::process().deallocate(block);
    });
}

// With nothing of before, nothing is left open: that is a profile from the program's start.
TEST_F(profiles, counts_of_larger_blocks_are_those_of_the_samples) {
    ASSERT_EQ(heap_profile::start(every_block), status::ok);
    on_fresh_thread([&] {
        std::vector<void*> blocks;
        for (std::size_t each = 0; each < 60; ++each)
            blocks.push_back(heap::process().allocate(40'000 + each * 50'123));
        for (std::size_t each = 0; each < 60; each += 3) {
            blocks[each] = heap::process().reallocate(blocks[each], 60'000 + each * 70'000);
            ASSERT_NE(blocks[each], nullptr);
        }
        const heap_profile_file file = saved();
        if (!tenure::checks::caller) {
            double sampled = 0;
            for (const auto& each : file.live) sampled += each.block_bytes > 40'000 ? double(each.block_bytes) : 0;
            EXPECT_EQ(double(file.classes.back().live_bytes - file.classes_before.back().live_bytes), sampled);
        }
        for (void* const block : blocks) heap::process().deallocate(block);
    });
}

// So that a reader on another machine notices a file of another build.
TEST_F(profiles, mapped_files_have_their_build_ids) {
    ASSERT_EQ(heap_profile::start(), status::ok);
    const heap_profile_file file = saved();
    const std::string& mappings = file.texts.at(tenure::profile_format::section::mappings);
    if (file.texts.count(tenure::profile_format::section::builds) == 0)
        GTEST_SKIP() << "no file has one, or process_vm_readv is forbidden here";
    std::istringstream builds(file.texts.at(tenure::profile_format::section::builds));
    std::size_t lines = 0;
    std::string id;
    for (std::uintptr_t begin = 0; builds >> std::hex >> begin >> id; ++lines) {
        const auto known = tenure::platform::build_id_at(begin);
        std::ostringstream text, address;
        for (std::size_t each = 0; each < known.count; ++each)
            text << std::hex << std::setw(2) << std::setfill('0') << unsigned{known.bytes[each]};
        EXPECT_EQ(id, text.str());
        address << std::hex << begin << '-';
        EXPECT_NE(mappings.find(address.str()), std::string::npos) << address.str();
    }
    EXPECT_TRUE(builds.eof());
    EXPECT_GT(lines, 0u);
}

TEST_F(profiles, a_walk_and_a_trim_do_not_disturb_it) {
    ASSERT_EQ(heap_profile::start(some_blocks), status::ok);
    on_fresh_thread([&] {
        std::vector<void*> blocks;
        for (int round = 0; round < 50; ++round) {
            for (int each = 0; each < 200; ++each) blocks.push_back(heap::process().allocate(300));
            heap::process().trim();
            std::size_t seen = 0;
            heap::process().walk([&](void*, std::size_t) { ++seen; });
            EXPECT_GE(seen, blocks.size());
        }
        for (void* const block : blocks) heap::process().deallocate(block);
        EXPECT_EQ(saved().live.size(), 0u);
    });
}

// What a trim takes out of a thread's cache was counted as allocated, and is not.
TEST_F(profiles, trims_make_samples_no_more_frequent) {
    ASSERT_EQ(heap_profile::start(some_blocks), status::ok);
    on_fresh_thread([&] {
        constexpr std::size_t count = 20'000, bytes = 48;
        const std::uint64_t taken = block_bytes(bytes);
        for (std::size_t each = 0; each < count; ++each) {
            heap::process().deallocate(heap::process().allocate(bytes));
            heap::process().trim();
        }
        const auto ever = saved().allocated_sum();
        EXPECT_NEAR(ever.bytes, double((count + 1) * taken), 6 * std::sqrt(ever.variance));
        EXPECT_GT(ever.samples, 50u);
    });
}

// So that frees stay inline: those of counted pages go to the stock, those of a recorded block's page do not.
TEST_F(profiles, pages_carry_the_numbers_that_count_and_lose_them_at_the_end) {
    using tenure::detail::counted_classes;
    if (tenure::checks::caller) GTEST_SKIP() << "every call is a slow one";
    const auto number_of = [](const void* block) {
        const auto* const head = tenure::detail::segment_head::of(block, tenure::detail::max_segment_bytes);
        return head->number_of(tenure::detail::segment_head::slice_of(block, tenure::detail::max_segment_bytes));
    };
    on_fresh_thread([&] {
        constexpr std::size_t bytes = 3000;
        const std::size_t index = tenure::detail::class_of(bytes);
        std::vector<void*> blocks{heap::process().allocate(bytes)};
        EXPECT_EQ(number_of(blocks[0]), index);
        ASSERT_EQ(heap_profile::start(std::uint64_t{1} << 30), status::ok); // nothing is recorded
        EXPECT_EQ(number_of(blocks[0]), counted_classes + index) << "a page of before";
        for (int each = 0; each < 100; ++each) blocks.push_back(heap::process().allocate(bytes));
        for (const void* const block : blocks) ASSERT_EQ(number_of(block), counted_classes + index);
        ASSERT_EQ(heap_profile::stop(), status::ok);
        for (const void* const block : blocks) ASSERT_EQ(number_of(block), index);
        ASSERT_EQ(heap_profile::start(every_block), status::ok);
        heap::process().deallocate(heap::process().allocate(100'000)); // a slow call: the thread follows
        void* const recorded = heap::process().allocate(bytes);
        EXPECT_EQ(number_of(recorded), tenure::detail::watched_class);
        const auto in_its_page = [&](const void* block) {
            return (tenure::address_of(block) ^ tenure::address_of(recorded)) < tenure::detail::slice_bytes;
        };
        const auto neighbour = std::find_if(blocks.begin(), blocks.end(), in_its_page);
        ASSERT_NE(neighbour, blocks.end()) << "the page of the last block had room";
        EXPECT_EQ(number_of(*neighbour), tenure::detail::watched_class);
        heap::process().deallocate(recorded);
        EXPECT_EQ(number_of(*neighbour), counted_classes + index);
        for (void* const block : blocks) heap::process().deallocate(block);
    });
}

TEST_F(profiles, a_double_free_of_a_recorded_block_is_still_reported) {
    if (tenure::checks::caller) GTEST_SKIP() << "reported at the second free itself";
    ASSERT_EQ(heap_profile::start(every_block), status::ok);
    const support::heard_reports heard;
    on_fresh_thread([&] {
        void* const block = heap::process().allocate(1000);
        void* const neighbour = heap::process().allocate(1000);
        heap::process().deallocate(block);
        heap::process().deallocate(block);
        heap::process().trim();
        heap::process().deallocate(neighbour);
    });
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
}

TEST_F(profiles, the_child_of_a_fork_goes_on_with_its_own) {
    ASSERT_EQ(heap_profile::start(every_block), status::ok);
    on_fresh_thread([&] {
        void* const block = heap::process().allocate(700);
        const pid_t child = ::fork();
        if (child == 0) {
            void* const more = heap::process().allocate(700);
            heap::process().deallocate(block);
            heap_profile_file file;
            const std::string path = path_ + ".child";
            bool is_right = heap_profile::save(path) == status::ok;
            support::read_heap_profile(path, file);
            std::remove(path.c_str());
            is_right &= file.live.size() == 1 && file.live[0].address == tenure::address_of(more);
            is_right &= file.header.process == std::uint64_t(::getpid());
            ::_exit(is_right ? 0 : 1);
        }
        int result = -1;
        ASSERT_EQ(::waitpid(child, &result, 0), child);
        EXPECT_EQ(result, 0);
        EXPECT_EQ(saved().live.size(), 1u);
        heap::process().deallocate(block);
    });
}

TEST_F(profiles, a_file_replaces_one_of_its_name_and_leaves_nothing_else) {
    ASSERT_EQ(heap_profile::start(every_block), status::ok);
    (void)saved();
    (void)saved();
    EXPECT_NE(::access((path_ + ".part").c_str(), F_OK), 0);
    EXPECT_EQ(heap_profile::save(std::string(5000, 'x')), status::file_error);
    EXPECT_EQ(heap_profile::save(""), status::file_error);
}

}
