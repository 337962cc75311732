// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// A class is an owner tag: the heap gives each tag pages of its own, as in the advised drop-in.

#include "observe/replay/separation/separation_replay.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include <tenure/base/options.hpp>
#include <tenure/base/tag.hpp>
#include <tenure/heap/heap.hpp>

#include "bench/harness/machine/memory.hpp"
#include "bench/harness/page_array.hpp"
#include "bench/harness/worker/interrupt.hpp"
#include "observe/replay/run/player.hpp"
#include "observe/replay/run/replay_limits.hpp"
#include "observe/replay/separation/site_figures.hpp"

namespace tenure::lab {

namespace {

constexpr std::size_t memory_readings = 100;
constexpr std::size_t most_children = 4;
constexpr std::size_t piece_operations = 4096;
constexpr std::uint64_t longest_purge_delay_ms = 86'400'000;
constexpr int no_memory_code = 3;
constexpr std::uint64_t separation_operation_bytes = 24; ///< of the file, which is in memory

void touch_as(touch_policy policy, void* block, std::size_t begin, std::size_t end) {
    switch (policy) {
    case touch_policy::none: return;
    case touch_policy::pages: return touch<touch_policy::pages>(block, begin, end);
    case touch_policy::ends: return touch<touch_policy::ends>(block, begin, end);
    case touch_policy::whole: return touch<touch_policy::whole>(block, begin, end);
    }
}

/// The tags of the classes. Registered before memory is read for the first time.
std::array<std::uint16_t, max_separated_classes + 1> class_tags() {
    std::array<std::uint16_t, max_separated_classes + 1> made{};
    for (std::size_t i = 1; i < made.size(); ++i) made[i] = tag::named(fmt::format("class {}", i)).id();
    return made;
}

double median_of(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// Of the figures at `first` and each `step` behind it.
separated_memory medians_of(std::span<const separated_memory> all, std::size_t first, std::size_t step) {
    const auto median = [&](double separated_memory::*figure) {
        std::vector<double> values;
        for (std::size_t i = first; i < all.size(); i += step) values.push_back(all[i].*figure);
        return median_of(std::move(values));
    };
    return {median(&separated_memory::peak), median(&separated_memory::mean), median(&separated_memory::trimmed),
            median(&separated_memory::trimmed_peak)};
}

}

std::string why_too_large_to_learn(const trace& recorded, std::uint64_t available_bytes) {
    constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
    const auto resizes = std::count_if(recorded.events.begin(), recorded.events.end(),
                                       [](const trace_event& each) { return each.call == trace_call::resize; });
    // A resize is two operations. The plan is released before the walks over the trace begin.
    const std::uint64_t operations = recorded.events.size() + static_cast<std::uint64_t>(resizes);
    const std::uint64_t needed = operations * separation_operation_bytes +
                                 std::max(operations * sizeof(plan_op), recorded.blocks * walk_block_bytes);
    if (needed <= available_bytes) return {};
    return fmt::format("learning from {} events needs {} MiB more, and this machine has {} MiB available: use a larger "
                       "one, or a part of the trace (tenure trace cut)",
                       recorded.events.size(), needed / mebibyte, available_bytes / mebibyte);
}

separation_replay::separation_replay(const trace& recorded, separation_replay_settings settings) : settings_(settings) {
    error_ = why_too_large_to_learn(recorded, available_memory_bytes());
    if (!error_.empty()) return;
    const replay_plan plan = make_plan(recorded);
    error_ = plan.ok() ? why_too_large(plan) : plan.error;
    if (error_.empty() && plan.threads.front().count == 0) error_ = "the trace has no calls";
    if (!error_.empty()) return;
    peak_bytes_ = plan.peak_bytes;
    slot_count_ = plan.slot_count;
    find_places(plan);
    write_operations(recorded, plan);
}

separation_replay::~separation_replay() {
    if (file_ >= 0) ::close(file_);
}

void separation_replay::write_operations(const trace& recorded, const replay_plan& plan) {
    static_assert(sizeof(operation) == separation_operation_bytes);
    file_ = ::memfd_create("tenure separation", MFD_CLOEXEC);
    std::vector<operation> piece;
    const auto write_piece = [&] {
        const std::size_t bytes = piece.size() * sizeof(operation);
        if (error_.empty() && ::write(file_, piece.data(), bytes) != static_cast<ssize_t>(bytes))
            error_ = fmt::format("cannot write {} operations for a replay: {}", plan.ops.size(), std::strerror(errno));
        piece.clear();
    };
    // Each event is one operation, but for marks; what is between them is about the next one.
    auto event = recorded.events.begin();
    for (std::size_t i = 0; i < plan.threads.front().count; ++i) {
        const plan_op& op = plan.ops[i];
        const bool is_of_event = op.call != plan_call::written;
        while (is_of_event && event->call == trace_call::mark) ++event;
        const bool has_stack = is_allocating(op.call) || op.call == plan_call::resize;
        piece.push_back({op, has_stack && event->stack < recorded.stacks.size() ? event->stack : 0, 0});
        if (is_of_event) ++event;
        if (piece.size() == piece_operations) write_piece();
    }
    write_piece();
}

void separation_replay::find_places(const replay_plan& plan) {
    const std::size_t count = plan.threads.front().count;
    const auto first = plan.ops.begin();
    const auto events =
        static_cast<std::size_t>(std::count_if(first, first + static_cast<std::ptrdiff_t>(count),
                                               [](const plan_op& each) { return each.call != plan_call::written; }));
    // Every event where the trace has fewer than places.
    const std::size_t wanted = std::min(events, memory_readings);
    std::size_t event = 0;
    std::vector<std::uint64_t> bytes(plan.slot_count + 1); // in use, by slot
    double live = 0, sum = 0;
    std::size_t next = 1;
    for (std::size_t i = 0; i < count; ++i) {
        const plan_op& op = plan.ops[i];
        if (is_allocating(op.call) || op.call == plan_call::resize || is_freeing(op.call)) {
            const double now = is_freeing(op.call) ? 0.0 : static_cast<double>(op.bytes);
            live += now - static_cast<double>(bytes[op.slot]);
            bytes[op.slot] = static_cast<std::uint64_t>(now);
        }
        if (op.call == plan_call::written) continue;
        ++event;
        if (next > wanted || event != events * next / wanted) continue;
        ++next;
        places_.push_back(i + 1);
        sum += live;
    }
    mean_live_ = sum / static_cast<double>(std::max<std::size_t>(places_.size(), 1));
    const std::size_t peak = std::clamp<std::size_t>(plan.peak_op, 1, count);
    const auto at = std::lower_bound(places_.begin(), places_.end(), peak);
    peak_place_ = static_cast<std::size_t>(at - places_.begin());
    places_.insert(at, peak);
}

std::size_t separation_replay::most_at_once() const {
    const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
    constexpr std::size_t beside = std::size_t{64} << 20; // what a heap and this process's pages add
    const std::size_t each = static_cast<std::size_t>(peak_bytes_) * 2 + slot_count_ * 16 + beside;
    return std::max<std::size_t>(1, std::min({processors, most_children, available_memory_bytes() / each}));
}

std::vector<separated_memory> separation_replay::measure(std::span<const std::vector<std::uint8_t>> classes,
                                                         which_memory which, std::size_t times) {
    std::vector<separated_memory> found(classes.size() * times);
    std::vector<job> jobs;
    for (std::size_t i = 0; i < found.size() && error_.empty(); ++i) {
        const std::vector<std::uint8_t>& one = classes[i % classes.size()];
        jobs.push_back({&one, &found[i], true});
        if (which == which_memory::all) jobs.push_back({&one, &found[i], false});
    }
    const std::size_t at_once = most_at_once();
    std::vector<child> running;
    std::size_t next = 0;
    while (next < jobs.size() || !running.empty()) {
        while (error_.empty() && !interrupted() && next < jobs.size() && running.size() < at_once)
            running.push_back(start(jobs[next++]));
        if (running.empty()) break;
        // The oldest first: replays of one trace take about the same time.
        if (!collect(running.front())) next = jobs.size();
        running.erase(running.begin());
    }
    std::vector<separated_memory> made;
    if (!error_.empty() || interrupted()) return made;
    for (std::size_t i = 0; i < classes.size(); ++i) made.push_back(medians_of(found, i, classes.size()));
    return made;
}

separation_replay::child separation_replay::start(const job& work) {
    ++replays_;
    child made;
    made.work = work;
    made.started = std::chrono::steady_clock::now();
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        error_ = fmt::format("cannot start a replay: {}", std::strerror(errno));
        return made;
    }
    const pid_t parent = ::getpid();
    made.process = ::fork();
    if (made.process == 0) {
        ::setpgid(0, 0); // Ctrl-C on the terminal reaches only the parent, which then ends this process
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent) ::_exit(125);
        const child_reply found = play(work);
        if (found.mean < 0) ::_exit(no_memory_code);
        ::_exit(::write(ends[1], &found, sizeof found) == sizeof found ? 0 : 1);
    }
    if (made.process < 0) error_ = fmt::format("cannot start a replay: {}", std::strerror(errno));
    ::close(ends[1]);
    made.pipe = ends[0];
    return made;
}

/// Returns   whether the replay was whole.
bool separation_replay::collect(child& from) {
    if (from.process < 0) {
        if (from.pipe >= 0) ::close(from.pipe);
        return false;
    }
    const auto deadline = from.started + settings_.timeout;
    const sigset_t signals = waiting_signals();
    pollfd watched{from.pipe, POLLIN, 0};
    bool is_ready = false, is_late = false;
    while (!is_ready && !is_late && error_.empty() && !interrupted()) {
        const auto left =
            std::chrono::duration_cast<std::chrono::nanoseconds>(deadline - std::chrono::steady_clock::now()).count();
        // One that has ended while others were waited for is not late.
        const std::int64_t waited = std::max<std::int64_t>(left, 0);
        const timespec wait{static_cast<time_t>(waited / 1'000'000'000), static_cast<long>(waited % 1'000'000'000)};
        is_ready = ::ppoll(&watched, 1, &wait, &signals) > 0;
        is_late = !is_ready && left <= 0;
    }
    child_reply found{};
    const bool is_whole = is_ready && ::read(from.pipe, &found, sizeof found) == sizeof found;
    if (!is_ready) ::kill(from.process, SIGKILL);
    ::close(from.pipe);
    int status = 0;
    while (::waitpid(from.process, &status, 0) < 0 && errno == EINTR) {}
    if (is_whole) {
        separated_memory& to = *from.work.to;
        (from.work.trims ? to.trimmed : to.mean) = found.mean;
        (from.work.trims ? to.trimmed_peak : to.peak) = found.peak;
        return true;
    }
    if (!error_.empty() || interrupted()) return false;
    if (is_late)
        error_ = fmt::format("a replay did not end within {} s", settings_.timeout.count() / 1000);
    else if (WIFEXITED(status) && WEXITSTATUS(status) == no_memory_code)
        error_ = "a replay had no memory for the program's blocks";
    else if (WIFSIGNALED(status))
        error_ = fmt::format("a replay was ended by signal {}", WTERMSIG(status));
    else
        error_ = "a replay ended before its end";
    return false;
}

/// Allocates or resizes. Returns   nullptr when the heap had no memory.
void* separation_replay::play_one(const operation& each, void* block, std::uint16_t owner) const {
    const auto bytes = static_cast<std::size_t>(each.call.bytes);
    if (each.call.call == plan_call::resize)
        return detail::process_reallocate_tagged(owner, block, std::max<std::size_t>(bytes, 1));
    const std::size_t alignment = std::max(std::size_t{1} << each.call.alignment_log2, default_alignment);
    const auto fill = each.call.call == plan_call::zeroed ? detail::fill::zero : detail::fill::none;
    return detail::process_allocate_tagged(owner, bytes, alignment, fill);
}

/// In the child. Returns   a mean below zero when the heap had no memory.
separation_replay::child_reply separation_replay::play(const job& work) const {
    const auto tags = class_tags();
    const page_array<void*> held(slot_count_ + 1);
    const page_array<operation> piece(piece_operations);
    const std::vector<std::uint8_t>& classes = *work.classes;
    heap& memory = heap::process();
    // A replay is faster than the program, and other programs make it slower: what the clock returns to the system
    // would be chance.
    set_option(option::heap_purge_delay_ms, longest_purge_delay_ms);
    // The first calls of both need pages of their own, which are not the program's.
    memory.trim();
    static_cast<void>(read_memory());
    const double base = static_cast<double>(read_memory().resident);
    double peak = 0, sum = 0;
    std::uint64_t written = 0;
    std::size_t done = 0;
    for (std::size_t place = 0; place < places_.size(); ++place) {
        while (done < places_[place]) {
            const std::size_t count = std::min(piece_operations, places_[place] - done);
            const std::size_t wanted = count * sizeof(operation);
            if (::pread(file_, piece.data(), wanted, static_cast<off_t>(done * sizeof(operation))) !=
                static_cast<ssize_t>(wanted))
                return {0, -1};
            done += count;
            for (const operation& each : piece.all().first(count)) {
                void*& block = held[each.call.slot];
                if (each.call.call == plan_call::written) {
                    written = each.call.bytes;
                } else if (is_freeing(each.call.call)) {
                    memory.deallocate(block);
                    block = nullptr;
                } else if (is_allocating(each.call.call) || each.call.call == plan_call::resize) {
                    block = play_one(each, block, tags[classes.empty() ? 0 : classes[each.stack]]);
                    if (block == nullptr) return {0, -1};
                    touch_as(settings_.touch, block, written, static_cast<std::size_t>(each.call.bytes));
                    written = 0;
                }
            }
        }
        if (work.trims) memory.trim();
        const double now = static_cast<double>(read_memory().resident) - base;
        peak = std::max(peak, now);
        if (place != peak_place_) sum += now;
    }
    return {peak, std::max(0.0, sum / static_cast<double>(places_.size() - 1))};
}

}
