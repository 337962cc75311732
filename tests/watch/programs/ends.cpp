// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// A thread that allocates, in a program that ends in an unusual way: abort, kill, exit (without destructors), exec,
/// fork (the child allocates as well), deadlock (and killed in it), by the first argument.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

namespace {

constexpr int allocations = 1234;

__attribute__((noinline)) void allocate_some() {
    for (int index = 0; index < allocations; ++index) {
        void* volatile block = std::malloc(100);
        std::free(block);
    }
}

void end(const char* how, char** arguments) {
    if (std::strcmp(how, "abort") == 0) std::abort();
    if (std::strcmp(how, "kill") == 0) kill(getpid(), SIGKILL);
    if (std::strcmp(how, "exit") == 0) _exit(7);
    if (std::strcmp(how, "exec") == 0) {
        execl(arguments[0], arguments[0], "after", static_cast<char*>(nullptr));
        _exit(9);
    }
}

}

int main(int, char** arguments) {
    const char* const how = arguments[1];
    if (std::strcmp(how, "fork") == 0) {
        std::thread([] { allocate_some(); }).join();
        const pid_t child = fork();
        if (child == 0) {
            std::thread([] { allocate_some(); }).join();
            _exit(0);
        }
        int status = 1;
        waitpid(child, &status, 0);
        return status == 0 ? 0 : 1;
    }
    if (std::strcmp(how, "deadlock") == 0) {
        static std::mutex lock;
        lock.lock();
        std::thread([] {
            allocate_some();
            lock.lock();
        }).detach();
        usleep(100'000);
        kill(getpid(), SIGTERM);
    }
    // The thread is inside its region when the process ends.
    std::thread([how, arguments] {
        allocate_some();
        end(how, arguments);
    }).join();
}
