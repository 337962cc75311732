// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/access/access_sampler.hpp"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <random>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <tenure/platform/clock.hpp>

#include "observe/access/sampled_process.hpp"
#include "observe/access/watchpoints.hpp"
#include "observe/trace/trace_chunks.hpp"

namespace tenure::lab {

namespace {

constexpr std::uint64_t sampler_ms = 1'000'000;
constexpr std::size_t max_processes = 8; ///< that are watched at the same time

/// Short windows for blocks that are touched all the time, long ones for those that are touched now and then.
[[nodiscard]] std::uint64_t window_length_ns(std::uint64_t draw) {
    constexpr std::uint64_t lengths_ms[] = {4, 4, 4, 4, 16, 16, 64};
    return lengths_ms[draw % std::size(lengths_ms)] * sampler_ms;
}

}

access_sampler::access_sampler(std::string file, std::uint64_t recording)
    : file_(std::move(file)), recording_(recording) {}

access_sampler::~access_sampler() { stop(); }

std::string access_sampler::try_out() {
    const watchpoints::probe found = watchpoints::try_out();
    hit_ns_ = found.hit_ns;
    return found.error == 0 ? std::string() : watchpoint_error(found.error) + ".";
}

void access_sampler::start() {
    // Signals are for the thread that hands them on to the program.
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { run(); });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void access_sampler::stop() {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        is_stopped_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

/// Returns   false when it is time to stop.
bool access_sampler::wait(std::uint64_t time_ns) {
    std::unique_lock lock(mutex_);
    return !changed_.wait_for(lock, std::chrono::nanoseconds(time_ns), [&] { return is_stopped_; });
}

void access_sampler::find_processes() {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::path file(file_);
    const std::string begin = file.filename().string() + ".";
    for (const fs::directory_entry& each : fs::directory_iterator(file.parent_path(), error)) {
        const std::string name = each.path().filename().string(), path = each.path().string();
        if (!name.starts_with(begin) || !name.ends_with(".raw")) continue;
        if (seen_.contains(path)) continue;
        const auto running =
            std::count_if(processes_.begin(), processes_.end(), [](const auto& known) { return !known->is_over(); });
        if (static_cast<std::size_t>(running) >= max_processes) return;
        trace_format::file_header header{};
        if (!read_header(path, header) || header.recording != recording_) continue;
        auto found = sampled_process::open(path, header);
        // The process makes its list a moment after the header.
        constexpr std::uint64_t patience_ns = 2000 * sampler_ms;
        const bool is_new = platform::monotonic_ns() < header.first_ns + patience_ns;
        if (found != nullptr && !found->has_list() && is_new) continue;
        seen_.insert(path);
        if (found != nullptr) processes_.push_back(std::move(found));
    }
}

/// One window of each process. Returns   how many hits it had.
std::uint64_t access_sampler::sample(std::uint64_t length_ns) {
    bool is_watching = false;
    for (const auto& each : processes_) is_watching = each->begin_window() || is_watching;
    if (!is_watching) return 0;
    static_cast<void>(wait(length_ns));
    std::uint64_t hits = 0;
    for (const auto& each : processes_) hits += each->end_window(hit_ns_);
    return hits;
}

std::uint64_t access_sampler::processor_ns() const {
    std::uint64_t all = 0;
    for (const auto& each : processes_) all += each->processor_ns();
    return all;
}

/// A hit, and the begin and end of a window, cost the program time. It may be so much of its own time, which is little
/// where it waits, or other programs run beside it. `processor_ns_before`: of the processes, before the window.
/// Returns   false when it is time to stop.
bool access_sampler::pause(std::uint64_t hits, std::uint64_t processor_ns_before) {
    constexpr std::uint64_t part = 64; // of the time
    constexpr std::uint64_t step_ns = 2 * sampler_ms, longest_ns = 200 * sampler_ms;
    constexpr std::uint64_t calls_of_window = 4; // as long as so many hits: each interrupts the thread
    const std::uint64_t wanted_ns = (hits + calls_of_window) * hit_ns_ * part;
    const std::uint64_t begin_ns = platform::monotonic_ns();
    do {
        if (!wait(step_ns)) return false;
        const std::uint64_t now_ns = processor_ns();
        if (now_ns - std::min(now_ns, processor_ns_before) >= wanted_ns) break;
    } while (platform::monotonic_ns() - begin_ns < longest_ns);
    return true;
}

void access_sampler::run() {
    constexpr std::uint64_t search_first_ns = 5 * sampler_ms, search_later_ns = 200 * sampler_ms;
    std::mt19937_64 random{std::random_device{}()};
    std::uint64_t next_search_ns = 0;
    do {
        const std::uint64_t now_ns = platform::monotonic_ns();
        if (now_ns >= next_search_ns) {
            find_processes();
            next_search_ns = now_ns + (processes_.empty() ? search_first_ns : search_later_ns);
        }
        const std::uint64_t before_ns = processor_ns();
        const std::uint64_t hits = sample(window_length_ns(random()));
        if (!pause(hits, before_ns)) break;
    } while (true);
    for (const auto& each : processes_) each->close();
}

std::vector<std::string> access_sampler::payloads_of(const std::string& raw_file) const {
    for (const auto& each : processes_)
        if (each->path() == raw_file) return each->payloads();
    return {};
}

std::string access_sampler::problem_of(const std::string& raw_file) const {
    for (const auto& each : processes_)
        if (each->path() == raw_file) return each->problem();
    return fmt::format("the process had ended before it was found, or {} others were watched already.", max_processes);
}

}
