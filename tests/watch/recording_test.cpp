// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Recordings that are damaged, or somebody else's: whatever they hold, what is said of them is within bounds.

#include "observe/watch/recording.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>

#include "observe/watch/findings.hpp"
#include "observe/watch/report/folded.hpp"
#include "observe/watch/report/watch_html.hpp"
#include "observe/watch/report/watch_json.hpp"
#include "observe/watch/report/watch_text.hpp"
#include "support/own_path.hpp"

namespace tenure::lab {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t rounded(std::size_t bytes) { return (bytes + page_bytes - 1) / page_bytes * page_bytes; }
constexpr std::size_t head_bytes = rounded(sizeof(hook::process_head)), area_bytes = rounded(sizeof(hook::thread_area));
constexpr std::uint32_t process = 4'194'305; // past the largest process number

/// A folder with one recording of one thread, mapped to be damaged.
class a_recording : public testing::Test {
protected:
    void SetUp() override {
        fs::create_directories(folder);
        const int number = ::open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        ASSERT_GE(number, 0);
        ASSERT_EQ(::ftruncate(number, bytes), 0);
        mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, number, 0);
        ::close(number);
        ASSERT_NE(mapped, MAP_FAILED);
        fill();
    }
    void TearDown() override {
        ::munmap(mapped, bytes);
        fs::remove_all(folder);
    }

    void fill() {
        head().version = hook::file_version;
        head().process = process;
        head().first_ticks = 1000;
        head().last_ticks = 2'000'000;
        head().first_ns = 1000;
        head().last_ns = 1'000'000;
        head().magic = hook::file_magic;
        head().modules = 1;
        head().module[0] = {0x1000, 0x1000, 0x9000, "/nowhere/program"};
        head().region[3] = {hook::region_kind::mark, 2, 4, 0, 0, 0, "name"};
        hook::thread_area& thread = area();
        thread.thread = process;
        thread.first = 1000;
        thread.nodes = 2;
        thread.node[1] = {};
        thread.node[1].region = 3;
        thread.node[1].entries = 5;
        thread.node[1].inside_ticks = 1'000'000;
        thread.stack[1] = 2;
        thread.stack[2] = (std::uint64_t{1} << hook::module_shift) | 0x20;
        thread.stack[3] = 0x1234;
        thread.stack_words = 8;
        thread.sites = 1;
        thread.site[0] = {};
        thread.site[0].stack = thread.site[0].node = thread.site[0].is_taken = 1;
        thread.site[0].count = 7;
        thread.site[0].ticks = 700;
        thread.intervals = 1;
        thread.interval[0] = {1000, 900'000, 1, 0};
        thread.waits = 1;
        thread.wait[0] = {2000, 300, 0, 0};
    }
    hook::process_head& head() { return *static_cast<hook::process_head*>(mapped); }
    hook::thread_area& area() {
        return *reinterpret_cast<hook::thread_area*>(static_cast<unsigned char*>(mapped) + head_bytes);
    }

    std::string told() {
        std::vector<std::string> notices;
        const auto recordings = recordings_of(folder, notices);
        symbols names;
        findings found = explain(recordings, names);
        found.notices.insert(found.notices.end(), notices.begin(), notices.end());
        return to_text(found, {}) + to_json(found) + to_html(found) + to_folded(found);
    }

    static constexpr std::size_t bytes = head_bytes + area_bytes;
    fs::path folder = support::own_path("recording"), file = folder / (std::to_string(process) + "-0.tnw");
    void* mapped = MAP_FAILED;
};

TEST_F(a_recording, is_explained) {
    const std::string text = told();
    EXPECT_NE(text.find("name (marked region)"), std::string::npos) << text.substr(0, 2000);
    EXPECT_NE(text.find("program+0x1f"), std::string::npos) << text.substr(0, 2000);
}

TEST_F(a_recording, that_is_a_pipe_or_a_device_is_left_out_by_name) {
    ASSERT_EQ(::mkfifo((folder / "1-0.tnw").c_str(), 0600), 0);
    fs::create_symlink("/dev/zero", folder / "2-0.tnw");
    fs::create_directory(folder / "3-0.tnw");
    std::vector<std::string> notices;
    EXPECT_EQ(recordings_of(folder, notices).size(), 1U);
    std::sort(notices.begin(), notices.end());
    ASSERT_EQ(notices.size(), 3U);
    for (std::size_t index = 0; index < notices.size(); ++index) {
        EXPECT_EQ(notices[index], std::to_string(index + 1) + "-0.tnw is left out: it is not a regular file");
    }
}

TEST_F(a_recording, that_others_can_write_to_is_read_once_and_may_be_cut_short_afterwards) {
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write | fs::perms::others_write);
    std::string why;
    const auto opened = recording::open(file, why);
    ASSERT_NE(opened, nullptr) << why;
    ASSERT_EQ(opened->threads().size(), 1U);
    ASSERT_EQ(::truncate(file.c_str(), 0), 0);
    const hook::thread_area& thread = *opened->threads().front();
    EXPECT_EQ(recording::sites(thread).front().count, 7U) << "a mapped file would end the process here";
    EXPECT_EQ(opened->process().process, process);
    EXPECT_EQ(recording::open(file, why), nullptr);
    EXPECT_EQ(why, "it is not a whole recording");
    ASSERT_EQ(::truncate(file.c_str(), bytes), 0);
}

TEST_F(a_recording, of_more_than_a_system_runs_threads_is_refused) {
    ASSERT_EQ(::truncate(file.c_str(), (off_t{1} << 40) + 1), 0) << "holes";
    std::string why;
    EXPECT_EQ(recording::open(file, why), nullptr);
    EXPECT_NE(why.find("1024 at most"), std::string::npos) << why;
    ASSERT_EQ(::truncate(file.c_str(), bytes), 0);
}

TEST_F(a_recording, whose_counts_are_past_their_tables_has_no_such_thread) {
    for (std::uint32_t hook::thread_area::*count :
         {&hook::thread_area::nodes, &hook::thread_area::sites, &hook::thread_area::stack_words,
          &hook::thread_area::intervals, &hook::thread_area::waits}) {
        const std::uint32_t before = area().*count;
        area().*count = ~0U;
        std::string why;
        const auto opened = recording::open(file, why);
        ASSERT_NE(opened, nullptr) << why;
        EXPECT_EQ(opened->threads().size(), 0U);
        area().*count = before;
    }
}

// The process may live, or the file be another's: what was within bounds when it was opened is not for ever.
TEST_F(a_recording, that_changes_while_it_is_read_stays_within_bounds) {
    std::string why;
    const auto opened = recording::open(file, why);
    ASSERT_NE(opened, nullptr) << why;
    hook::thread_area& thread = area();
    thread.nodes = thread.sites = thread.stack_words = thread.intervals = thread.waits = head().modules = ~0U;
    thread.node[7].parent = 70'000;
    thread.node[7].region = 1U << 30U;
    EXPECT_EQ(recording::nodes(thread).size(), hook::max_nodes);
    EXPECT_EQ(recording::sites(thread).size(), hook::max_sites);
    EXPECT_EQ(recording::intervals(thread).size(), hook::max_intervals);
    EXPECT_EQ(recording::waits(thread).size(), hook::max_waits);
    const std::uint32_t last = hook::max_stack_words - 1;
    thread.stack[last] = 1;
    EXPECT_EQ(opened->frames(thread, last).size(), 0U);
    thread.stack[last - 1] = 1;
    EXPECT_EQ(opened->frames(thread, last - 1).size(), 1U);
    thread.stack[1] = ~std::uint64_t{0};
    EXPECT_EQ(opened->frames(thread, 1).size(), 0U);
    EXPECT_EQ(opened->frames(thread, ~0U).size(), 0U);
    EXPECT_EQ(opened->place_of(~std::uint64_t{0}).module, "");
    fill();
    std::vector<std::unique_ptr<recording>> changed;
    changed.push_back(recording::open(file, why));
    ASSERT_NE(changed.front(), nullptr) << why;
    thread.nodes = ~0U;
    symbols names;
    EXPECT_EQ(explain(changed, names).regions.size(), 1U);
}

// Words of the file replaced by what goes wrong most easily, with a fixed seed.
TEST_F(a_recording, with_any_numbers_in_it_is_explained_or_refused) {
    std::mt19937_64 random(16);
    constexpr std::uint64_t nasty[] = {0,         1,    2,           255,         256,         511,
                                       512,       8191, 8192,        32'768,      65'535,      1U << 20U,
                                       1U << 31U, ~0U,  1ULL << 47U, 1ULL << 48U, 1ULL << 63U, ~0ULL};
    constexpr std::size_t choices = std::size(nasty);
    // Of the large tables only what is used.
    const std::size_t area_words = offsetof(hook::thread_area, site) / 8 + 2 * sizeof(hook::site_record) / 8;
    for (int round = 0; round < 150; ++round) {
        std::memset(mapped, 0, head_bytes);
        std::memset(&area(), 0, area_words * 8);
        fill();
        auto* const words = static_cast<std::uint64_t*>(mapped);
        for (int change = 0; change < 12; ++change) {
            const std::size_t in_head = 4 + random() % (offsetof(hook::process_head, program) / 8 - 4);
            const std::size_t in_area = head_bytes / 8 + random() % area_words;
            const std::size_t in_tables[] = {
                head_bytes / 8 + (offsetof(hook::thread_area, stack) / 8) + random() % 8,
                head_bytes / 8 + (offsetof(hook::thread_area, interval) / 8) + random() % 3,
                head_bytes / 8 + (offsetof(hook::thread_area, wait) / 8) + random() % 3,
                (offsetof(hook::process_head, region) + 3 * sizeof(hook::region_record)) / 8 + random() % 8,
                offsetof(hook::process_head, module) / 8 + random() % 4,
            };
            const std::uint64_t value = nasty[random() % choices];
            const std::size_t places[] = {in_head, in_area, in_tables[random() % std::size(in_tables)]};
            words[places[random() % 3]] = random() % 2 == 0 ? value : (value << 32U) | nasty[random() % choices];
        }
        const std::string text = told();
        EXPECT_FALSE(text.empty());
        EXPECT_EQ(text.find('\x1b'), std::string::npos);
    }
}

TEST_F(a_recording, carries_no_escape_sequences_to_a_terminal) {
    std::strcpy(head().region[3].name, "\x1b[31mred");
    std::strcpy(head().command, "program \x1b]0;title\x07");
    std::strcpy(head().program, "/a/\x1b[2J");
    std::strcpy(head().notice[0], "\x1b[31m is not watched");
    head().notices = 1;
    head().own_malloc = 1;
    std::strcpy(head().module[0].path, "/a/\x1b[31mmodule");
    std::strcpy(area().name, "\x1b[31mthread");
    std::vector<std::string> notices;
    fs::create_directory(folder / "\x1b[31m.tnw");
    const auto recordings = recordings_of(folder, notices);
    symbols names;
    findings found = explain(recordings, names);
    found.notices.insert(found.notices.end(), notices.begin(), notices.end());
    const std::string text = to_text(found, {}) + to_folded(found);
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
    EXPECT_EQ(text.find('\x07'), std::string::npos) << text;
    EXPECT_NE(text.find(" [31mred"), std::string::npos) << text;
}

TEST_F(a_recording, is_told_how_its_process_ended) {
    note_seen_end(folder, {process, 6, 0, 1'500'000});
    EXPECT_EQ(head().end_signal, 6U);
    EXPECT_EQ(head().end_ticks, 1'500'000U);
    note_seen_end(folder, {process, 0, 3, 1'600'000});
    EXPECT_EQ(head().has_end_code, 1U);
    EXPECT_EQ(head().end_code, 3U);
}

TEST_F(a_recording, is_all_that_the_end_of_a_process_is_written_to) {
    const auto expect_untouched = [this](const char* what) {
        note_seen_end(folder, {process, 6, 0, 1'500'000});
        EXPECT_EQ(head().end_signal, 0U) << what;
        EXPECT_EQ(head().end_ticks, 0U) << what;
    };
    head().magic = 0;
    expect_untouched("no recording");
    head().magic = hook::file_magic;
    head().version = hook::file_version + 1;
    expect_untouched("one of another version");
    head().version = hook::file_version;
    head().process = 1;
    expect_untouched("one of another process");
    head().process = process;
    const fs::path elsewhere = folder / "elsewhere", last = folder / (std::to_string(process) + "-1.tnw");
    fs::rename(file, elsewhere);
    fs::create_symlink(elsewhere, file);
    expect_untouched("a link to one");
    fs::remove(file);
    fs::create_hard_link(elsewhere, file);
    expect_untouched("a file with another name as well");
    fs::remove(elsewhere);
    ASSERT_EQ(::mkfifo(last.c_str(), 0600), 0);
    expect_untouched("a pipe, which is the last");
    fs::remove(last);
    note_seen_end(folder, {process, 6, 0, 1'500'000});
    EXPECT_EQ(head().end_signal, 6U);
}

}

}
