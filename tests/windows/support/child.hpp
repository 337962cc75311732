// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// support/child.hpp for Windows: there is no fork, and std::atomic::wait of mingw's library can lose a wake-up.

#include <atomic>
#include <chrono>
#include <climits>
#include <functional>
#include <thread>

namespace support {

/// There is no child.
inline int answer_of_child(const std::function<int()>&, unsigned = 20) { return INT_MIN; }

/// A thread that runs `work`, then stays alive with its thread-local state until it is destroyed.
class waiting_thread {
public:
    explicit waiting_thread(const std::function<void()>& work)
        : thread_([this, work] {
              work();
              advance(worked);
              wait_for(over);
          }) {
        wait_for(worked);
    }
    ~waiting_thread() {
        advance(over);
        thread_.join();
    }
    waiting_thread(const waiting_thread&) = delete;
    waiting_thread& operator=(const waiting_thread&) = delete;

private:
    static constexpr int begun = 0, worked = 1, over = 2;
    void advance(int stage) { stage_ = stage; }
    void wait_for(int stage) const {
        while (stage_ < stage) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    std::atomic<int> stage_{begun};
    std::thread thread_;
};

}
