// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/access/access_sampler.hpp"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <tenure/platform/clock.hpp>

#include "observe/access/raw_files.hpp"
#include "observe/access/sampled_process.hpp"
#include "observe/access/watchpoints.hpp"

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

std::string access_sampler::start() {
    // Signals are for the thread that hands them on to the program.
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    std::string problem;
    try {
        thread_ = std::thread([this] { run(); });
    } catch (const std::system_error& error) {
        problem = fmt::format("a thread could not be started: {}.", error.what());
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return problem;
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

/// Returns   whether there was one, or one that will be ready a moment later.
bool access_sampler::find_processes() {
    bool has_found = false;
    const auto is_known = [&](const std::string& path) { return seen_.contains(path); };
    visit_raw_files(file_, recording_, is_known, [&](const std::string& path, const trace_format::file_header& header) {
        const auto running =
            std::count_if(processes_.begin(), processes_.end(), [](const auto& known) { return !known->is_over(); });
        if (static_cast<std::size_t>(running) >= max_processes) return;
        has_found = true;
        auto found = sampled_process::open(path, header);
        // The process makes its list a moment after the header.
        constexpr std::uint64_t patience_ns = 2000 * sampler_ms;
        const bool is_new = platform::monotonic_ns() < header.first_ns + patience_ns;
        if (found != nullptr && !found->has_list() && !found->is_refused() && is_new) return;
        seen_.insert(path);
        if (found != nullptr) processes_.push_back(std::move(found));
    });
    return has_found;
}

/// Looks for processes if it is time to.
void access_sampler::find_new() {
    const std::uint64_t now_ns = platform::monotonic_ns();
    if (now_ns < next_search_ns_) return;
    const bool has_found = find_processes();
    next_search_ns_ = platform::monotonic_ns() + searches_.next_ns(has_found);
}

/// One window of each process. Returns   how many hits it had; nothing: there was nothing to watch.
std::optional<std::uint64_t> access_sampler::sample(std::uint64_t length_ns) {
    bool is_watching = false;
    for (const auto& each : processes_) is_watching = each->begin_window() || is_watching;
    if (!is_watching) return std::nullopt;
    static_cast<void>(wait(length_ns));
    std::uint64_t hits = 0;
    for (const auto& each : processes_) hits += each->end_window(hit_ns_);
    return hits;
}

void access_sampler::read_clocks() {
    std::vector<std::uint64_t> clocks_ns;
    for (const auto& each : processes_) clocks_ns.push_back(each->processor_ns());
    ran_.add(clocks_ns);
}

/// A hit, and the begin and end of a window, cost the program time. It may be so much of its own time, which is little
/// where it waits, or other programs run beside it. Returns   false when it is time to stop.
bool access_sampler::pause(std::uint64_t hits) {
    constexpr std::uint64_t part = 64; // of the time
    constexpr std::uint64_t step_ns = 2 * sampler_ms, longest_ns = 200 * sampler_ms;
    constexpr std::uint64_t calls_of_window = 4; // as long as so many hits: each interrupts the thread
    const std::uint64_t wanted_ns = (hits + calls_of_window) * hit_ns_ * part;
    const std::uint64_t begin_ns = platform::monotonic_ns();
    do {
        if (!wait(step_ns)) return false;
        find_new();
        read_clocks();
    } while (ran_.total_ns() < wanted_ns && platform::monotonic_ns() - begin_ns < longest_ns);
    return true;
}

void access_sampler::run() {
    constexpr std::uint64_t idle_ns = 2 * sampler_ms; // without anything to watch
    std::mt19937_64 random{std::random_device{}()};
    for (bool is_running = true; is_running;) {
        find_new();
        ran_ = {};
        read_clocks();
        const std::optional<std::uint64_t> hits = sample(window_length_ns(random()));
        is_running = hits ? pause(*hits) : wait(processes_.empty() ? search_interval::shortest_ns : idle_ns);
    }
    for (const auto& each : processes_) each->finish();
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
