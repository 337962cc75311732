// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/access/sampled_process.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <random>
#include <utility>

#include <fmt/format.h>

#include <tenure/platform/clock.hpp>

#include "observe/access/raw_files.hpp"
#include "observe/trace/access/access_chunks.hpp"
#include "observe/trace/trace_chunks.hpp"

namespace tenure::lab {

namespace {

constexpr std::uint64_t least_age_ns = 1'000'000; ///< of a block: what constructs it has touched it by then

/// Of each couple, whether a hit of one block came right behind one of the other, but for what it takes to report it.
[[nodiscard]] std::array<bool, 2> are_near(const watchpoints::outcome& of, std::uint64_t hit_ns) {
    constexpr std::uint64_t soon_ns = 10'000;
    std::array<bool, 2> made{};
    for (std::size_t index = 1; index < of.hits.size(); ++index) {
        const watchpoint_hit &before = of.hits[index - 1], &now = of.hits[index];
        if (before.thread == now.thread && before.which != now.which && before.which / 2 == now.which / 2 &&
            now.time_ns - before.time_ns <= soon_ns + 2 * hit_ns)
            made[now.which / 2] = true;
    }
    return made;
}

[[nodiscard]] block_name name_in_file(std::uint64_t listed) {
    constexpr unsigned number_bits = 40;
    return {static_cast<std::uint32_t>(listed >> number_bits) - 1, listed & ((std::uint64_t{1} << number_bits) - 1)};
}

}

std::unique_ptr<sampled_process> sampled_process::open(const std::string& path,
                                                       const trace_format::file_header& header) {
    struct stat about {};
    if (::stat(path.c_str(), &about) != 0) return {};
    std::unique_ptr<sampled_process> made(new sampled_process(path, header, about.st_ino));
    if (!made->find_process()) {
        if (!made->is_refused()) return {};
        made->close();
        return made;
    }
    made->map_list();
    made->has_list_ = made->list_ != nullptr;
    if (!made->has_list_) made->close(); // problem() says why
    return made;
}

sampled_process::sampled_process(std::string path, const trace_format::file_header& header, std::uint64_t inode)
    : path_(std::move(path)), header_(header), inode_(inode), choice_(std::random_device{}()) {}

sampled_process::~sampled_process() { close(); }

/// The process of the file: that of the number in the header, or in another namespace any that has it there.
/// Returns   false if there is none; error_ then says whether it is hidden from this user.
bool sampled_process::find_process() {
    const auto is_it = [&](const std::string& process) {
        if (!mapped_by(process).is_writer(inode_, header_.process)) return false;
        process_ = static_cast<std::uint32_t>(std::strtoul(process.c_str(), nullptr, 10));
        return true;
    };
    const std::string own = std::to_string(header_.process);
    const mapped_raw_files here = mapped_by(own);
    const bool has_ended = header_.last_ticks != 0;
    if (!is_it(own) && !has_ended && here.error == 0)
        visit_processes([&](const std::string& each) { return !is_it(each); });
    if (process_ == 0) error_ = here.error;
    if (process_ != 0) points_.emplace(process_);
    return process_ != 0;
}

/// Gives back what watching takes.
void sampled_process::close() {
    is_over_ = true;
    points_.reset();
    choice_.reset();
    if (list_ != nullptr) ::munmap(list_, live_blocks_bytes);
    list_ = nullptr;
}

std::uint64_t sampled_process::processor_ns() const {
    clockid_t clock{};
    timespec time{};
    if (is_over_ || ::clock_getcpuclockid(static_cast<pid_t>(process_), &clock) != 0 ||
        ::clock_gettime(clock, &time) != 0)
        return 0;
    constexpr std::uint64_t ns_per_s = 1'000'000'000;
    return static_cast<std::uint64_t>(time.tv_sec) * ns_per_s + static_cast<std::uint64_t>(time.tv_nsec);
}

void sampled_process::map_list() {
    const int file = ::open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) {
        error_ = errno;
        return;
    }
    struct stat about {};
    const std::uint64_t end = std::uint64_t{trace_format::page_bytes} + live_blocks_bytes;
    const bool is_long = ::fstat(file, &about) == 0 && static_cast<std::uint64_t>(about.st_size) >= end;
    void* const mapped =
        is_long ? ::mmap(nullptr, live_blocks_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, trace_format::page_bytes)
                : MAP_FAILED;
    if (is_long && mapped == MAP_FAILED) error_ = errno;
    ::close(file);
    if (mapped == MAP_FAILED) return;
    list_ = static_cast<live_blocks*>(mapped);
    const trace_format::chunk_header& chunk = list_->chunk;
    if (chunk.magic == trace_format::chunk_magic && chunk.kind == trace_format::chunk_kind::live_blocks &&
        chunk.bytes == live_blocks_bytes)
        return;
    ::munmap(list_, live_blocks_bytes);
    list_ = nullptr;
}

/// Whether the process still has the file mapped. Another program in it (exec) has not, nor has another process that
/// got the number.
bool sampled_process::is_same_program() {
    const mapped_raw_files now = mapped_by(std::to_string(process_));
    if (now.error != 0) error_ = now.error;
    return now.is_writer(inode_, header_.process);
}

/// What was written since the last look counts only if the process was still this program: until its exit, if that was
/// noted. A program that was replaced, or killed, notes none.
void sampled_process::drop_unsure() {
    trace_format::file_header now{};
    const std::uint64_t exit_ns = read_header(path_, now) && now.last_ticks != 0 ? now.last_ns : 0;
    const auto first =
        std::find_if(unsure_.begin(), unsure_.end(), [&](const unsure_window& each) { return each.end_ns > exit_ns; });
    if (first != unsure_.end()) {
        windows_ -= static_cast<std::uint64_t>(unsure_.end() - first);
        payloads_.resize(first->payloads);
        if (!payloads_.empty()) payloads_.back().resize(first->bytes);
        if (!payloads_.empty() && payloads_.back().empty()) payloads_.pop_back();
    }
    unsure_.clear();
}

void sampled_process::finish() {
    if (is_over_) return;
    if (!is_same_program()) drop_unsure();
    close();
}

void sampled_process::look_after(std::uint64_t now_ns) {
    constexpr std::uint64_t between_ns = 100'000'000;
    next_look_ns_ = now_ns + between_ns;
    if (!is_same_program()) {
        drop_unsure();
        return close();
    }
    unsure_.clear();
    if (!points_->find_threads()) {
        error_ = points_->error();
        return close();
    }
    unwatched_ = std::max<std::uint64_t>(unwatched_, points_->unwatched_threads());
    if (points_->error() != 0) thread_error_ = points_->error();
    const std::uint64_t now_ticks = platform::ticks();
    const double ticks_per_ns = static_cast<double>(now_ticks - header_.first_ticks) /
                                static_cast<double>(std::max<std::uint64_t>(now_ns - header_.first_ns, 1));
    choice_->refresh(*list_, now_ticks, static_cast<std::uint64_t>(ticks_per_ns * least_age_ns));
}

bool sampled_process::begin_window() {
    constexpr int max_tries = 8;
    constexpr std::size_t max_payloads = 160; // 32 MB
    now_.blocks.clear();
    if (is_over_) return false;
    if (payloads_.size() > max_payloads) {
        finish();
        return false;
    }
    const std::uint64_t now_ns = platform::monotonic_ns();
    if (now_ns >= next_look_ns_) look_after(now_ns);
    if (is_over_) return false;
    const auto is_gone = [&](const chosen_block& each) {
        return !list_->contains(each.block.address, each.block.name);
    };
    for (int turn = 0; turn < max_tries; ++turn) {
        now_ = choice_->next();
        if (std::none_of(now_.blocks.begin(), now_.blocks.end(), is_gone)) break;
        now_.blocks.clear();
    }
    if (now_.blocks.empty()) {
        // Blocks that live for less than the time between two looks are seen right behind one.
        constexpr std::uint64_t soon_ns = 10'000'000;
        next_look_ns_ = std::min(next_look_ns_, now_ns + soon_ns);
        return false;
    }
    std::vector<std::uint64_t> addresses;
    for (const chosen_block& each : now_.blocks) addresses.push_back(each.block.address + each.offset);
    begin_processor_ns_ = processor_ns();
    points_->watch(addresses);
    begin_ns_ = platform::monotonic_ns();
    return true;
}

std::uint64_t sampled_process::end_window(std::uint64_t hit_ns) {
    if (now_.blocks.empty()) return 0;
    const std::uint64_t end_ns = platform::monotonic_ns();
    const watchpoints::outcome found = points_->stop();
    add_window(found, end_ns, hit_ns);
    choice_->learn(now_, found.counts, are_near(found, hit_ns));
    std::uint64_t hits = 0;
    for (std::size_t index = 0; index < now_.blocks.size(); ++index) hits += found.counts[index];
    now_.blocks.clear();
    return hits;
}

void sampled_process::add_window(const watchpoints::outcome& found, std::uint64_t end_ns, std::uint64_t hit_ns) {
    constexpr std::size_t max_accesses = 64; // of a block
    if (begin_ns_ < header_.first_ns) return;
    access_window window{
        begin_ns_ - header_.first_ns, end_ns - header_.first_ns, now_.choice, hit_ns, watchpoints::max_hits, {}};
    if (const std::uint64_t ran_ns = processor_ns(); begin_processor_ns_ != 0 && ran_ns >= begin_processor_ns_)
        window.processor_ns = ran_ns - begin_processor_ns_;
    std::vector<block_name> names;
    for (std::size_t index = 0; index < now_.blocks.size(); ++index) {
        window.blocks.push_back({0, now_.blocks[index].offset, found.counts[index], {}});
        names.push_back(name_in_file(now_.blocks[index].block.name));
    }
    std::vector<std::uint32_t> threads;
    for (const watchpoint_hit& each : found.hits) {
        std::vector<trace_access>& to = window.blocks[each.which].accesses;
        if (each.time_ns < begin_ns_ || each.time_ns > end_ns || to.size() == max_accesses) continue;
        const auto thread = std::find(threads.begin(), threads.end(), each.thread);
        const auto number = static_cast<std::uint32_t>(thread - threads.begin());
        if (thread == threads.end()) threads.push_back(each.thread);
        to.push_back({each.time_ns - header_.first_ns, each.code, number});
    }
    for (watched_block& each : window.blocks)
        each.count = std::max(each.count, static_cast<std::uint32_t>(each.accesses.size()));
    unsure_.push_back({payloads_.size(), payloads_.empty() ? 0 : payloads_.back().size(), end_ns});
    if (payloads_.empty() || payloads_.back().size() >= full_access_payload) payloads_.emplace_back();
    append_window(payloads_.back(), window, names);
    ++windows_;
}

std::string sampled_process::problem() const {
    if (error_ == EACCES || error_ == EPERM)
        return "the system does not let this user watch it: it runs as another user, or is protected from debuggers.";
    if (error_ != 0) return watchpoint_error(error_) + ".";
    if (!has_list_) return "its file had no room for the list of its blocks.";
    if (windows_ == 0)
        return "it ended before a block was watched: blocks are watched when they are 1 ms old, and the process is "
               "found some milliseconds after its begin.";
    if (unwatched_ != 0 && thread_error_ != 0)
        return fmt::format("{} of its threads were not watched: {}.", unwatched_, watchpoint_error(thread_error_));
    if (unwatched_ != 0)
        return fmt::format("{} of its threads were not watched: a process has at most {} that are.", unwatched_,
                           watchpoints::max_threads);
    return {};
}

}
