// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A program that knows nothing of profiles: it holds some memory, loads and frees more once, and answers requests.

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

std::vector<void*> held; // until the end

[[gnu::noinline]] void hold_sessions(int count) {
    for (int each = 0; each < count; ++each) {
        held.push_back(std::malloc(500));
        std::memset(held.back(), 1, 500);
    }
}

[[gnu::noinline]] void load_once() {
    constexpr std::size_t bytes = std::size_t{64} << 20;
    void* volatile block = std::malloc(bytes);
    static_cast<char*>(block)[0] = 1;
    std::free(block);
}

[[gnu::noinline]] void answer_requests(int count) {
    for (int each = 0; each < count; ++each) {
        void* volatile block = std::malloc(100);
        std::free(block);
    }
}

/// Until it is killed.
[[gnu::noinline]] void keep_allocating() {
    for (std::size_t each = 0;; ++each) {
        held[each % held.size()] = std::malloc(30'000 + each % 100 * 1000);
        std::free(held[(each + 1) % held.size()]);
        held[(each + 1) % held.size()] = nullptr;
    }
}

}

int main(int argc, char** argv) {
    hold_sessions(argc > 1 ? 80'000 : 40'000);
    const std::string word = argc > 1 ? argv[1] : "";
    if (word == "ended") ::raise(SIGTERM);
    if (word == "parent") { // who hands it on
        ::kill(::getppid(), SIGTERM);
        while (true) ::pause();
    }
    if (argc > 2) keep_allocating();
    load_once();
    answer_requests(400'000);
    std::puts("the program's own output");
    std::fflush(stdout);
    return 3;
}
