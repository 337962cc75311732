// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Threads of our own that each take the next page, in parallel.

#include <atomic>
#include <cstddef>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/experiments/parallel/parallel_counted.hpp"
#include "bench/experiments/parallel/parallel_workload.hpp"
#include "bench/experiments/shared/handover.hpp"
#include "bench/harness/machine/cpus.hpp"

namespace tenure::lab {

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

[[nodiscard]] inline std::string_view left_out_of_parallel(const parameters&, std::size_t part) {
    return part == parallel_counted ? why_not_watched() : std::string_view{};
}

}
