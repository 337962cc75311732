// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Two threads of our own that each take the next page, in parallel.

#include <gnu/libc-version.h>

#include <atomic>
#include <thread>

#include "bench/experiments/parallel/parallel_counted.hpp"
#include "bench/experiments/parallel/parallel_workload.hpp"
#include "bench/experiments/shared/handover.hpp"
#include "bench/experiments/shared/type_name.hpp"
#include "bench/harness/machine/build_info.hpp"
#include "bench/harness/machine/cpus.hpp"

namespace tenure::lab {

namespace {

/// The second thread sleeps while the first works alone, and is awake, on a processor of its own, when a loop is timed.
class thread_pair {
public:
    thread_pair() : other_([this] { serve(); }) { pin_thread(0); }
    ~thread_pair() {
        call(ending);
        other_.join();
    }
    thread_pair(const thread_pair&) = delete;
    thread_pair& operator=(const thread_pair&) = delete;

    void get_ready() {
        call(awake);
        for (unsigned spins = 0; state_.load() != ready; ++spins) wait_a_little(spins);
    }

    /// Requires  get_ready().
    template<class Body>
    void operator()(std::size_t count, const Body& body) const {
        body_ = [](const void* context, std::size_t page) { (*static_cast<const Body*>(context))(page); };
        context_ = &body;
        count_ = count;
        next_.store(0);
        state_.store(working);
        take_pages();
        for (unsigned spins = 0; state_.load() != asleep; ++spins) wait_a_little(spins);
    }

private:
    enum state : int { asleep, awake, ready, working, ending };

    void call(state wanted) {
        state_.store(wanted);
        state_.notify_one();
    }
    void take_pages() const {
        for (std::size_t page = 0; (page = next_.fetch_add(1, std::memory_order_relaxed)) < count_;)
            body_(context_, page);
    }
    void serve() {
        pin_thread(1);
        while (true) {
            state_.wait(asleep);
            if (state_.load() == ending) return;
            state_.store(ready);
            for (unsigned spins = 0; state_.load() == ready; ++spins) wait_a_little(spins);
            take_pages();
            state_.store(asleep);
        }
    }

    mutable std::atomic<int> state_{asleep};
    mutable std::atomic<std::size_t> next_{0};
    mutable void (*body_)(const void*, std::size_t) = nullptr;
    mutable const void* context_ = nullptr;
    mutable std::size_t count_ = 0;
    std::thread other_;
};

template<class Format>
void run_threads(const task& asked) {
    if (asked.part == parallel_counted) return count_parallel<Format, thread_pair>(asked);
    thread_pair crew;
    run_parallel_with<Format>(asked, crew);
}

std::string_view left_out(const parameters&, std::size_t part) {
    return part == parallel_counted ? why_not_watched() : std::string_view{};
}

template<class Format>
constexpr contestant row(std::size_t index) {
    const parallel_row& told = parallel_rows[index];
    return {.name = told.name,
            .how = route::inlined,
            .role = told.role,
            .peer = told.peer,
            .kind = told.kind,
            .type = type_name<Format>(),
            .note = told.note,
            .parts = 0b111,
            .run = run_threads<Format>,
            .left_out = left_out};
}

template<class Format>
constexpr contestant planted(std::string_view name, std::string_view note) {
    return {.name = name,
            .how = route::inlined,
            .role = contestant_role::reference,
            .type = type_name<Format>(),
            .note = note,
            .parts = 0b100,
            .run = count_parallel<Format, thread_pair>,
            .left_out = left_out};
}

constexpr std::array<contestant, parallel_rows.size() + 2> all{
    row<printf_format>(0),
    row<to_chars_format>(1),
    row<fmt_format>(2),
    row<compiled_fmt_format>(3),
    row<our_format>(4),
    row<copy_format>(5),
    planted<planted_malloc_format>("planted malloc", "ours, with a malloc and a free in each record"),
    planted<planted_wait_format>("planted wait", "ours, under one lock for all")};

}

std::span<const contestant> threads_in_parallel() { return all; }

library_peer c_library_peer() { return {parallel_rows[0].peer, {}, ::gnu_get_libc_version(), true, {}}; }
library_peer to_chars_peer() { return {parallel_rows[1].peer, {}, TENURE_LAB_TEXT(_GLIBCXX_RELEASE), true, {}}; }
library_peer fmt_peer() { return {parallel_rows[2].peer, "libfmt-dev", {}, true, {}}; }

}
