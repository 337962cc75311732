// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A second thread for fuzzers. It works while the first one waits, so that a run depends on its input only.

#include <functional>
#include <semaphore>
#include <thread>
#include <utility>

namespace fuzz {

class second_thread {
public:
    second_thread() { start(); }
    ~second_thread() { stop(); }
    second_thread(const second_thread&) = delete;
    second_thread& operator=(const second_thread&) = delete;

    /// Runs `work` in the second thread and waits until it is done.
    void run(std::function<void()> work) {
        work_ = std::move(work);
        asked_.release();
        done_.acquire();
    }
    /// Ends the thread, with what that does to its caches, and starts another.
    void restart() {
        stop();
        start();
    }

private:
    void start() {
        thread_ = std::thread([this] {
            for (asked_.acquire(); work_; asked_.acquire()) {
                work_();
                done_.release();
            }
        });
    }
    void stop() {
        work_ = nullptr;
        asked_.release();
        thread_.join();
    }

    std::function<void()> work_; ///< nothing: the thread ends
    std::binary_semaphore asked_{0}, done_{0};
    std::thread thread_;
};

}
