// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/pins/pinned_memory.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "observe/pins/report/pins_html.hpp"
#include "observe/pins/report/pins_json.hpp"
#include "observe/pins/report/pins_text.hpp"
#include "profile/sample_profile.hpp"
#include "support/random.hpp"

namespace tenure::lab {

namespace {

namespace format = profile_format;
using format::page_use;

constexpr std::uint64_t heap_begin = 0x10'0000, page = format::page_bytes;

/// A profile of two stacks, A and B, with what the pages are used for.
struct file {
    std::vector<format::live_sample> live;
    std::vector<format::page_run> pages;
    std::vector<format::cached_blocks> cached;
    std::vector<format::size_class> classes, classes_before;
    std::string memory = "00100000-00900000 rw-p 00000000 00:00 0\nRss:      128 kB\n";
    std::uint64_t mean_bytes = 1;

    void block(std::uint64_t address, std::uint64_t bytes, std::uint32_t site) {
        live.push_back({address, bytes, bytes, 60'000, 1, site, 0});
    }
    [[nodiscard]] saved_profile read() const {
        sample::profile_bytes bytes;
        std::vector<format::site> sites(2);
        for (std::uint32_t index = 0; index < 2; ++index) {
            sites[index].first_frame = index;
            sites[index].frame_count = 1;
        }
        bytes.entries(format::section::sites, sites);
        bytes.entries(format::section::frames, std::vector<std::uint64_t>{0x1010, 0x2020});
        bytes.entries(format::section::live, live);
        // In two sections, as a process writes them.
        const std::size_t half = pages.size() / 2;
        bytes.entries(format::section::pages, std::vector(pages.begin() + std::ptrdiff_t(half), pages.end()));
        bytes.entries(format::section::pages, std::vector(pages.begin(), pages.begin() + std::ptrdiff_t(half)));
        bytes.entries(format::section::cached, cached);
        bytes.entries(format::section::classes, classes);
        bytes.entries(format::section::before, classes_before);
        bytes.words(format::section::memory, memory);
        saved_profile read = read_profile(bytes.finished());
        read.header.mean_bytes = mean_bytes;
        return read;
    }
    [[nodiscard]] pinned_memory pinned() const {
        const saved_profile saved = read();
        EXPECT_TRUE(saved.ok()) << saved.error;
        symbols names;
        return find_pinned(saved, name_profile(saved, names));
    }
};

format::page_run run(std::uint64_t first, std::uint32_t pages, page_use use, std::uint16_t live = 0,
                     std::uint16_t blocks = 0) {
    return {heap_begin + first * page, pages, use, live, blocks, use == page_use::small_blocks ? 400u : 0u};
}

TEST(pinned_memory, every_resident_byte_is_in_one_part) {
    file of;
    of.pages = {
        run(0, 2, page_use::records), run(2, 3, page_use::small_blocks, 400, 1),  run(5, 4, page_use::small_blocks),
        run(9, 1, page_use::free),    run(10, 5, page_use::large_block, page, 1), run(15, 1, page_use::slack)};
    of.cached = {{400, 1}};
    of.memory = "00100000-00108000 rw-p 00000000 00:00 0\nRss: 32 kB\nPss: 9 kB\n" // the first eight pages
                "00108000-00900000 rw-p 00000000 00:00 0 \nRss: 40 kB\n"
                "7f0000000000-7f0000001000 r-xp 00000000 08:01 12   /lib/a.so\nRss:       4 kB\n"
                "7f0000002000-7f0000003000 r--p 00000000 08:01 12   /lib/a.so\nRss:       8 kB\n";
    const pinned_memory found = of.pinned();
    const memory_parts& parts = found.parts;
    EXPECT_EQ(parts.records, 2 * page);
    EXPECT_EQ(parts.live, 3 * 400 - 400 + 5 * page);
    EXPECT_EQ(parts.cached, 400u);
    EXPECT_EQ(parts.held, 3 * (page - 400));
    EXPECT_EQ(parts.waiting, 5 * page);
    EXPECT_EQ(parts.slack, page);
    EXPECT_EQ(parts.resident, 84 * 1024u);
    ASSERT_EQ(found.others.size(), 2u);
    EXPECT_EQ(found.others[0].name, "/lib/a.so");
    EXPECT_EQ(found.others[0].resident_bytes, 12 * 1024u);
    EXPECT_EQ(found.others[1].resident_bytes, 8 * 1024u)
        << "the second mapping has ten pages, eight of them the heap's";
    EXPECT_EQ(parts.others, 20 * 1024u);
    EXPECT_EQ(parts.unexplained, 0);
}

// A cache may have blocks of fresh pages that nobody has written to: those in use are in memory, so the others are
// not.
TEST(pinned_memory, cached_blocks_that_are_not_in_memory_are_taken_from_nothing) {
    file of;
    of.pages = {run(0, 4, page_use::small_blocks, 800, 2)};
    of.cached = {{400, 1000}, {512, 7}};
    of.classes = {{400, 6, 2400}, {512, 3, 1536}};
    memory_parts parts = of.pinned().parts;
    EXPECT_EQ(parts.live, 2400u);
    EXPECT_EQ(parts.cached, 800u);
    of.classes[0] = {400, 20, 8000}; // some of them are not in memory, whatever the heap counts
    parts = of.pinned().parts;
    EXPECT_EQ(parts.live, 3200u);
    EXPECT_EQ(parts.cached, 0u);
    of.classes[0] = {400, 0, 0};
    of.cached[0].count = 3;
    parts = of.pinned().parts;
    EXPECT_EQ(parts.live, 2000u) << "allocated since the count";
    EXPECT_EQ(parts.cached, 1200u);
}

TEST(pinned_memory, free_bytes_of_a_page_are_shared_by_the_size_of_its_blocks) {
    file of;
    // A page with two blocks of A and one of B, one with a block of B, and a block of A across two pages.
    of.pages = {run(0, 1, page_use::small_blocks, 1200, 3), run(1, 1, page_use::small_blocks, 400, 1),
                run(2, 2, page_use::small_blocks, 200, 1)};
    of.block(heap_begin + 16, 400, 0);
    of.block(heap_begin + 416, 400, 0);
    of.block(heap_begin + 2048, 400, 1);
    of.block(heap_begin + page, 400, 1);
    of.block(heap_begin + 3 * page - 200, 400, 0);
    const pinned_memory found = of.pinned();
    ASSERT_EQ(found.stacks.size(), 2u);
    const double shared = page - 1200;
    const double of_a = shared * 800 / 1200 + 2 * (page - 200.0), of_b = shared * 400 / 1200 + (page - 400.0);
    EXPECT_NEAR(found.stacks[0].held.bytes, of_a, 0.01) << "the stack that holds most comes first";
    EXPECT_NEAR(found.stacks[1].held.bytes, of_b, 0.01);
    EXPECT_NEAR(found.held.bytes, double(found.parts.held), 0.01);
    EXPECT_EQ(found.stacks[0].alone.bytes, 2 * page) << "the first page stays for B's block";
    EXPECT_EQ(found.stacks[1].alone.bytes, page);
    EXPECT_TRUE(found.is_exact);
}

TEST(pinned_memory, a_page_with_several_blocks_of_one_stack_goes_back_when_all_are_freed) {
    file of;
    of.pages = {run(0, 1, page_use::small_blocks, 1200, 3), run(1, 1, page_use::small_blocks, 800, 2)};
    for (const std::uint64_t at : {0u, 1000u, 2000u}) of.block(heap_begin + at, 400, 0);
    of.block(heap_begin + page, 400, 0); // the other block of this page is in a cache, or older than the profile
    const pinned_memory found = of.pinned();
    ASSERT_EQ(found.stacks.size(), 1u);
    EXPECT_EQ(found.stacks[0].alone.bytes, page);
    EXPECT_NEAR(found.stacks[0].held.bytes, page - 1200.0 + (page - 800.0) / 2, 0.01);
}

// As of a malloc that is not ours.
TEST(pinned_memory, pages_of_any_size_have_blocks_of_several) {
    file of;
    of.pages = {run(0, 1, page_use::small_blocks, 1600, 3), run(1, 1, page_use::large_block, page, 1),
                run(2, 1, page_use::small_blocks, 100, 1)};
    for (format::page_run& each : of.pages) each.block_bytes = 0;
    of.block(heap_begin, 400, 0);
    of.block(heap_begin + 500, 800, 1);
    of.block(heap_begin + page - 400, page + 500, 0); // begins in the first page, and ends in the third
    const pinned_memory found = of.pinned();
    ASSERT_EQ(found.stacks.size(), 2u);
    const double shared = page - 1600;
    EXPECT_NEAR(found.stacks[0].held.bytes, shared / 2 + (page - 100.0), 0.01);
    EXPECT_NEAR(found.stacks[1].held.bytes, shared / 2, 0.01);
    EXPECT_EQ(found.stacks[0].alone.bytes, 2 * page);
    EXPECT_NEAR(found.held.bytes, double(found.parts.held), 0.01) << "every block is known";
}

TEST(pinned_memory, outputs_say_what_is_not_known_of_another_malloc) {
    file of;
    of.pages = {run(0, 1, page_use::small_blocks, 400, 1), run(1, 1, page_use::free)};
    of.block(heap_begin, 400, 0);
    saved_profile saved = of.read();
    saved.malloc_file = "/lib/lib<b>other.so.2";
    symbols names;
    const named_profile named = name_profile(saved, names);
    const pinned_memory found = find_pinned(saved, named);
    const std::string text = to_text(named, found, {}), html = to_html(saved, named, found);
    EXPECT_NE(text.find("own malloc (lib<b>other.so.2)"), std::string::npos) << text;
    EXPECT_NE(text.find("is not known"), std::string::npos) << text;
    EXPECT_EQ(text.find("purge delay"), std::string::npos) << "that is of Tenure's heap\n" << text;
    EXPECT_NE(html.find("own malloc (lib&lt;b&gt;other.so.2)"), std::string::npos);
    EXPECT_NE(to_json(named, found).find("\"unknown\""), std::string::npos);
    saved.malloc_file.clear();
    EXPECT_EQ(to_json(named, find_pinned(saved, named)).find("\"unknown\""), std::string::npos);
}

// The process goes on between the two parts of the file.
TEST(pinned_memory, a_block_that_was_freed_since_holds_nothing_of_what_came_in_its_place) {
    file of;
    of.pages = {run(0, 1, page_use::small_blocks), run(1, 1, page_use::small_blocks, 16, 1),
                run(2, 1, page_use::small_blocks, 400, 1), run(3, 1, page_use::free)};
    of.pages[1].block_bytes = 16;
    for (std::uint64_t each = 0; each < 4; ++each) of.block(heap_begin + each * page, 400, 0);
    of.block(heap_begin + 2 * page + 400, 512, 1); // of another size than the page's blocks
    const pinned_memory found = of.pinned();
    ASSERT_EQ(found.stacks.size(), 2u);
    EXPECT_EQ(found.stacks[0].held.bytes, page - 400.0);
    EXPECT_EQ(found.stacks[1].held.bytes, 0);
}

TEST(pinned_memory, a_large_block_gives_back_what_of_it_is_in_memory) {
    file of;
    of.pages = {run(0, 3, page_use::large_block, page, 1), run(10, 2, page_use::large_block, page, 1)};
    of.block(heap_begin, 20 * page, 1);
    const pinned_memory found = of.pinned();
    ASSERT_EQ(found.stacks.size(), 1u);
    EXPECT_EQ(found.stacks[0].alone.bytes, 5 * page);
    EXPECT_EQ(found.stacks[0].held.bytes, 0);
}

// Over many samples, the mean of the estimates is the exact value, and they scatter as their errors say.
TEST(pinned_memory, estimates_are_unbiased_and_their_errors_are_right) {
    file exact;
    support::random numbers(5);
    for (std::uint64_t each = 0; each < 400; ++each) {
        const std::uint64_t blocks = 1 + numbers.below(3);
        exact.pages.push_back(run(each, 1, page_use::small_blocks, std::uint16_t(400 * blocks), std::uint16_t(blocks)));
        for (std::uint64_t block = 0; block < blocks; ++block)
            exact.block(heap_begin + each * page + block * 1000, 400, std::uint32_t(numbers.below(2)));
    }
    const auto held_by = [](const pinned_memory& found, std::size_t stack) {
        for (const pinning_stack& each : found.stacks)
            if (each.stack == stack) return each.held;
        return format::estimate{};
    };
    const double truth = held_by(exact.pinned(), 0).bytes;
    constexpr int rounds = 300;
    double sum = 0, squares = 0, variances = 0;
    for (int round = 0; round < rounds; ++round) {
        file sampled = exact;
        sampled.mean_bytes = 4000;
        std::erase_if(sampled.live, [&](const format::live_sample& each) {
            return double(numbers.below(1'000'000)) / 1e6 >= chance_of(each.block_bytes, sampled.mean_bytes);
        });
        const format::estimate found = held_by(sampled.pinned(), 0);
        sum += found.bytes;
        squares += (found.bytes - truth) * (found.bytes - truth);
        variances += found.variance;
    }
    const double error = std::sqrt(variances / rounds);
    EXPECT_NEAR(sum / rounds, truth, 5 * error / std::sqrt(rounds));
    EXPECT_NEAR(std::sqrt(squares / rounds) / error, 1, 0.25);
}

/// Pages with one to three blocks of 400 bytes, of two stacks: a class of which one stack has nearly all.
file file_of_one_class(std::uint64_t pages, std::size_t one_in_of_other) {
    file exact;
    support::random numbers(6);
    for (std::uint64_t each = 0; each < pages; ++each) {
        const std::uint64_t blocks = 1 + numbers.below(3);
        exact.pages.push_back(run(each, 1, page_use::small_blocks, std::uint16_t(400 * blocks), std::uint16_t(blocks)));
        for (std::uint64_t block = 0; block < blocks; ++block)
            exact.block(heap_begin + each * page + block * 1000, 400, numbers.one_in(one_in_of_other) ? 1 : 0);
    }
    return exact;
}

/// What many samples of a file say of the first stack, or of the sum of all.
struct outcome {
    double mean = 0, error = 0, stated = 0; ///< error: the root of the mean square
};
struct outcomes {
    outcome held, all_held;
};
outcomes outcomes_of(const file& exact, const pinned_memory& truth, int rounds) {
    support::random numbers(7);
    outcomes found;
    const auto note = [&](outcome& to, const format::estimate& of, double exact_bytes) {
        to.mean += of.bytes / rounds;
        to.error += (of.bytes - exact_bytes) * (of.bytes - exact_bytes) / rounds;
        to.stated += of.variance / rounds;
    };
    for (int round = 0; round < rounds; ++round) {
        file sampled = exact;
        sampled.mean_bytes = 4000;
        std::erase_if(sampled.live, [&](const format::live_sample& each) {
            return double(numbers.below(1'000'000)) / 1e6 >= chance_of(each.block_bytes, sampled.mean_bytes);
        });
        const pinned_memory of = sampled.pinned();
        EXPECT_EQ(of.is_calibrated, !exact.classes_before.empty());
        for (const pinning_stack& each : of.stacks) {
            if (each.stack != truth.stacks[0].stack) continue;
            note(found.held, each.held, truth.stacks[0].held.bytes);
        }
        note(found.all_held, of.held, truth.held.bytes);
    }
    for (outcome* const each : {&found.held, &found.all_held}) {
        each->error = std::sqrt(each->error);
        each->stated = std::sqrt(each->stated);
    }
    return found;
}

// The heap knows how many blocks of the class there are, and the samples only what a block holds on average.
TEST(pinned_memory, exact_counts_make_estimates_better_and_leave_them_unbiased) {
    constexpr int rounds = 400;
    const file plain = file_of_one_class(500, 20);
    const pinned_memory truth = plain.pinned();
    file counted = plain;
    counted.classes = {{400, plain.live.size(), plain.live.size() * 400}};
    counted.classes_before = {{400, 0, 0}};
    const outcomes without = outcomes_of(plain, truth, rounds), with = outcomes_of(counted, truth, rounds);
    const double held = truth.stacks[0].held.bytes;
    EXPECT_NEAR(without.held.mean, held, 5 * without.held.error / std::sqrt(double(rounds)));
    EXPECT_NEAR(with.held.mean, held, 5 * with.held.error / std::sqrt(double(rounds)) + 0.002 * held);
    EXPECT_NEAR(with.all_held.mean, truth.held.bytes,
                5 * with.all_held.error / std::sqrt(double(rounds)) + 0.002 * truth.held.bytes);
    EXPECT_LT(with.held.error, 0.85 * without.held.error);
    EXPECT_LT(with.all_held.error, 0.85 * without.all_held.error);
    EXPECT_NEAR(with.held.stated / with.held.error, 1, 0.15);
    EXPECT_NEAR(with.all_held.stated / with.all_held.error, 1, 0.15);
}

// Of blocks of before the profile, it is not known how many are left: then the samples alone speak.
TEST(pinned_memory, counts_that_leave_all_open_change_nothing) {
    const file plain = file_of_one_class(100, 3);
    file counted = plain;
    counted.classes = {{400, 100'000, 40'000'000}};
    counted.classes_before = {{400, 100'000, 40'000'000}};
    counted.mean_bytes = 4000;
    std::erase_if(counted.live, [](const format::live_sample& block) { return block.address / page % 10 != 0; });
    file uncounted = counted;
    uncounted.classes.clear();
    uncounted.classes_before.clear();
    const pinned_memory with = counted.pinned(), without = uncounted.pinned();
    ASSERT_EQ(with.stacks.size(), without.stacks.size());
    EXPECT_TRUE(with.is_calibrated);
    EXPECT_FALSE(without.is_calibrated);
    for (std::size_t index = 0; index < with.stacks.size(); ++index) {
        EXPECT_NEAR(with.stacks[index].held.bytes, without.stacks[index].held.bytes, 1e-3);
        EXPECT_NEAR(with.stacks[index].held.variance / without.stacks[index].held.variance, 1, 1e-9);
        EXPECT_NEAR(with.stacks[index].live.bytes, without.stacks[index].live.bytes, 1e-3);
    }
}

TEST(pinned_memory, stacks_that_hold_nothing_are_not_listed) {
    file of;
    of.pages = {run(0, 1, page_use::small_blocks, 400, 1), run(10, 2, page_use::large_block, page, 1)};
    of.block(heap_begin, 400, 0);
    of.block(heap_begin + 10 * page, 2 * page, 1);
    const saved_profile saved = of.read();
    symbols names;
    const named_profile named = name_profile(saved, names);
    pinned_memory found = find_pinned(saved, named);
    ASSERT_EQ(found.stacks.size(), 2u);
    EXPECT_EQ(stacks_that_hold(found), 1u);
    const std::string text = to_text(named, found, {}), html = to_html(saved, named, found);
    EXPECT_NE(text.find("  1  100.0 %  1 block (400 B) holds 3.61 KiB of pages; freed, it gives back 4.00 KiB"),
              std::string::npos)
        << text;
    EXPECT_EQ(text.find("  2  "), std::string::npos) << text;
    EXPECT_EQ(text.find("more stack"), std::string::npos) << text;
    EXPECT_EQ(html.find("t1\" width"), std::string::npos) << "no colour for it";
    const nlohmann::json read = nlohmann::json::parse(to_json(named, found));
    EXPECT_EQ(read["stacks"].size(), 2u) << "JSON has all";
    EXPECT_EQ(read["is_calibrated"], false);
    found.stacks.erase(found.stacks.begin());
    EXPECT_NE(to_text(named, found, {}).find("no stack with a sample holds any of it"), std::string::npos);
}

TEST(pinned_memory, pages_that_cannot_be_are_refused) {
    const auto error_with = [](std::vector<format::page_run> pages) {
        file of;
        of.pages = std::move(pages);
        return of.read().error;
    };
    EXPECT_EQ(error_with({run(0, 2, page_use::free), run(2, 1, page_use::free)}), "");
    EXPECT_NE(error_with({run(0, 2, page_use::free), run(1, 1, page_use::free)}), "") << "they overlap";
    EXPECT_NE(error_with({run(0, 0, page_use::free)}), "");
    EXPECT_NE(error_with({run(0, 1, page_use::small_blocks, 4097, 1)}), "");
    EXPECT_NE(error_with({run(0, 1, page_use::small_blocks, 40, 0)}), "");
    EXPECT_NE(error_with({run(0, 1, page_use{9})}), "");
    EXPECT_NE(error_with({run(0, 1, page_use::large_block)}), "") << "it has a block";
    std::vector<format::page_run> endless; // more than any machine has addresses for
    for (std::uint64_t each = 0; each < 300; ++each) endless.push_back(run(each << 32, UINT32_MAX, page_use::free));
    EXPECT_NE(error_with(endless), "");
    endless.resize(200);
    EXPECT_EQ(error_with(endless), "");
    EXPECT_NE(error_with({{UINT64_MAX - page + 1, 2, page_use::free, 0, 0, 0}}), "");
    EXPECT_NE(error_with({{heap_begin + 1, 1, page_use::free, 0, 0, 0}}), "");
}

TEST(pinned_memory, a_block_without_an_end_takes_no_time) {
    file of;
    of.pages = {run(0, UINT32_MAX, page_use::small_blocks, 400, 1)};
    of.block(heap_begin, UINT64_MAX - heap_begin, 0);
    of.block(heap_begin, UINT64_MAX, 0);
    EXPECT_EQ(of.pinned().stacks.size(), 1u);
    of.pages[0].use = page_use::large_block;
    of.pages[0].live_bytes = page;
    EXPECT_EQ(of.pinned().stacks.size(), 1u);
}

// Those of a damaged file may overlap: each of them asks each run.
TEST(pinned_memory, blocks_that_overlap_take_no_more_time_than_others) {
    file of;
    constexpr std::uint64_t count = 200;
    for (std::uint64_t each = 0; each < count; ++each) {
        of.pages.push_back(run(2 * each, 1, page_use::large_block, page, 1));
        of.block(heap_begin, 2 * count * page, 0);
    }
    const pinned_memory found = of.pinned();
    ASSERT_EQ(found.stacks.size(), 1u);
    EXPECT_LT(found.stacks[0].alone.bytes, 40.0 * count * page) << "200 of them would have 200 pages each";
}

TEST(pinned_memory, what_was_lost_is_no_exact_count) {
    file of;
    of.pages = {run(0, 1, page_use::small_blocks, 400, 1)};
    of.block(heap_begin, 400, 0);
    saved_profile saved = of.read();
    symbols names;
    EXPECT_TRUE(find_pinned(saved, name_profile(saved, names)).is_exact);
    saved.header.lost_samples = 1;
    const named_profile named = name_profile(saved, names);
    const pinned_memory found = find_pinned(saved, named);
    EXPECT_FALSE(found.is_exact);
    EXPECT_NE(to_text(named, found, {}).find("1 sample had no memory for a record"), std::string::npos);
}

TEST(pinned_memory, outputs_name_the_stack_and_load_nothing) {
    file of;
    of.pages = {run(0, 30, page_use::small_blocks, 400, 1)};
    for (std::uint64_t each = 0; each < 30; ++each) of.block(heap_begin + each * page, 400, 0);
    const saved_profile saved = of.read();
    symbols names;
    const named_profile named = name_profile(saved, names);
    const pinned_memory found = find_pinned(saved, named);
    const std::string text = to_text(named, found, {}), html = to_html(saved, named, found);
    EXPECT_NE(text.find("30 blocks (11.7 KiB) hold 108 KiB of pages; freed, they give back 120 KiB"), std::string::npos)
        << text;
    EXPECT_NE(text.find("in pages of their own"), std::string::npos) << text;
    EXPECT_NE(html.find("default-src 'none'"), std::string::npos);
    EXPECT_NE(html.find("class=\"t0\" d=\"M"), std::string::npos) << "the map has the stack's colour";
    EXPECT_EQ(html.find("<script"), std::string::npos);
    EXPECT_NE(to_json(named, found).find("\"given_back_when_freed\""), std::string::npos);
}

}

}
