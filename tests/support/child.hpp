// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Child processes of fork() and their results, and threads that live on while the process forks.

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdlib>
#include <functional>
#include <thread>

namespace support {

/// Runs `work` in a child process.
/// Returns   its result, 0 to 255; the negative number of the signal that ended it (SIGALRM when it hung); INT_MIN when
/// there was no child.
inline int answer_of_child(const std::function<int()>& work, unsigned seconds = 20) {
    const ::pid_t child = ::fork();
    if (child == 0) {
        ::alarm(seconds);
        ::_exit(work());
    }
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child) return INT_MIN;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// A thread that runs `work`, then stays alive with its thread-local state until it is destroyed.
class waiting_thread {
public:
    explicit waiting_thread(const std::function<void()>& work)
        : thread_([this, work] {
              work();
              advance(worked);
              stage_.wait(worked);
          }) {
        stage_.wait(begun);
    }
    ~waiting_thread() {
        advance(over);
        thread_.join();
    }
    waiting_thread(const waiting_thread&) = delete;
    waiting_thread& operator=(const waiting_thread&) = delete;

private:
    static constexpr int begun = 0, worked = 1, over = 2;
    void advance(int stage) {
        stage_ = stage;
        stage_.notify_all();
    }
    std::atomic<int> stage_{begun};
    std::thread thread_;
};

}
