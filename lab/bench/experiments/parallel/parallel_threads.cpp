// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Threads of our own that each take the next page, in parallel.

#include <gnu/libc-version.h>

#include <atomic>
#include <thread>
#include <vector>

#include "bench/experiments/parallel/parallel_counted.hpp"
#include "bench/experiments/parallel/parallel_workload.hpp"
#include "bench/experiments/shared/handover.hpp"
#include "bench/experiments/shared/type_name.hpp"
#include "bench/harness/machine/build_info.hpp"
#include "bench/harness/machine/cpus.hpp"

namespace tenure::lab {

namespace {

/// The other threads sleep while the first works alone, and are awake, on processors of their own, when a loop is
/// timed.
class thread_crew {
public:
    explicit thread_crew(std::size_t threads) : others_(threads - 1) {
        pin_thread(0);
        for (std::size_t index = 0; index < others_.size(); ++index) {
            others_[index].thread = std::thread([this, index] { serve(others_[index], index + 1); });
        }
    }
    ~thread_crew() {
        for (other& each : others_) {
            each.call(ending);
            each.thread.join();
        }
    }
    thread_crew(const thread_crew&) = delete;
    thread_crew& operator=(const thread_crew&) = delete;

    void get_ready() {
        for (other& each : others_) each.call(awake);
        for (other& each : others_) {
            for (unsigned spins = 0; each.now.load() != ready; ++spins) wait_a_little(spins);
        }
    }

    /// Requires  get_ready().
    template<class Body>
    void operator()(std::size_t count, const Body& body) const {
        body_ = [](const void* context, std::size_t page) { (*static_cast<const Body*>(context))(page); };
        context_ = &body;
        count_ = count;
        next_.store(0);
        for (const other& each : others_) each.now.store(working);
        take_pages();
        for (const other& each : others_) {
            for (unsigned spins = 0; each.now.load() != asleep; ++spins) wait_a_little(spins);
        }
    }

private:
    enum state : int { asleep, awake, ready, working, ending };

    struct alignas(128) other {
        mutable std::atomic<int> now{asleep};
        std::thread thread;

        void call(state wanted) {
            now.store(wanted);
            now.notify_one();
        }
    };

    void take_pages() const {
        for (std::size_t page = 0; (page = next_.fetch_add(1, std::memory_order_relaxed)) < count_;)
            body_(context_, page);
    }
    void serve(other& self, std::size_t index) {
        pin_thread(index);
        while (true) {
            self.now.wait(asleep);
            if (self.now.load() == ending) return;
            self.now.store(ready);
            for (unsigned spins = 0; self.now.load() == ready; ++spins) wait_a_little(spins);
            take_pages();
            self.now.store(asleep);
        }
    }

    mutable std::atomic<std::size_t> next_{0};
    mutable void (*body_)(const void*, std::size_t) = nullptr;
    mutable const void* context_ = nullptr;
    mutable std::size_t count_ = 0;
    std::vector<other> others_;
};

template<class Format>
void run_threads(const task& asked) {
    if (asked.part == parallel_counted) return count_parallel<Format, thread_crew>(asked);
    thread_crew crew(asked.options.size("threads"));
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
            .run = count_parallel<Format, thread_crew>,
            .left_out = left_out};
}

constexpr std::array<contestant, parallel_rows.size() + 2> all{
    row<printf_format>(0),
    row<to_chars_format>(1),
    row<fmt_format>(2),
    row<compiled_fmt_format>(3),
    row<tn_snprintf_format>(4),
    row<our_format>(5),
    row<copy_format>(6),
    planted<planted_malloc_format>("planted malloc", "ours, with a malloc and a free in each record"),
    planted<planted_wait_format>("planted wait", "ours, under one lock for all")};

}

std::span<const contestant> threads_in_parallel() { return all; }

library_peer c_library_peer() { return {parallel_rows[0].peer, {}, ::gnu_get_libc_version(), true, {}}; }
library_peer to_chars_peer() { return {parallel_rows[1].peer, {}, TENURE_LAB_TEXT(_GLIBCXX_RELEASE), true, {}}; }
library_peer fmt_peer() { return {parallel_rows[2].peer, "libfmt-dev", {}, true, {}}; }

}
