// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Touches its blocks in ways that are known, for `tenure record --access`. Its first word says how, its second one for
// how many milliseconds:
//   pairs    visits keys, each with its value, and at other times singles; never the archives
//   sparse   does so with four times as many of each
//   threads  does so on three threads that begin and end all the time
//   closes   closes all descriptors that it did not open, then does so
//   fork     has a child that does so, and does so itself
//   exec     does so for a moment, and then becomes itself with "pairs"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t key_bytes = 48, value_bytes = 72, single_bytes = 56, archive_bytes = 1000;

volatile std::uint64_t accessed_sum = 0;

[[gnu::noinline]] std::uint64_t* make_key() { return static_cast<std::uint64_t*>(std::calloc(1, key_bytes)); }
[[gnu::noinline]] std::uint64_t* make_value() { return static_cast<std::uint64_t*>(std::calloc(1, value_bytes)); }
[[gnu::noinline]] std::uint64_t* make_single() { return static_cast<std::uint64_t*>(std::calloc(1, single_bytes)); }
[[gnu::noinline]] std::uint64_t* make_archive() { return static_cast<std::uint64_t*>(std::calloc(1, archive_bytes)); }

/// Reads and writes every word.
void touch(std::uint64_t* block, std::size_t bytes) {
    std::uint64_t sum = accessed_sum;
    for (std::size_t index = 0; index < bytes / 8; ++index) {
        volatile std::uint64_t& word = block[index];
        word = word + 1;
        sum += word;
    }
    accessed_sum = sum;
}

class visited_blocks {
public:
    explicit visited_blocks(std::size_t count) {
        for (std::size_t index = 0; index < count; ++index) {
            keys_.push_back(make_key());
            archives_.push_back(make_archive());
            singles_.push_back(make_single());
            archives_.push_back(make_archive());
            values_.push_back(make_value());
            archives_.push_back(make_archive());
        }
    }
    ~visited_blocks() {
        for (const auto* const list : {&keys_, &values_, &singles_, &archives_})
            for (std::uint64_t* const each : *list) std::free(each);
    }
    visited_blocks(const visited_blocks&) = delete;
    visited_blocks& operator=(const visited_blocks&) = delete;

    void visit(std::chrono::steady_clock::time_point end) const {
        while (std::chrono::steady_clock::now() < end) {
            for (std::size_t index = 0; index < keys_.size(); ++index) {
                touch(keys_[index], key_bytes);
                touch(values_[index], value_bytes);
            }
            for (std::uint64_t* const each : singles_) touch(each, single_bytes);
        }
    }

private:
    std::vector<std::uint64_t*> keys_, values_, singles_, archives_;
};

constexpr std::size_t usual_count = 10'000;
constexpr std::size_t sparse_count = 40'000; // a pass takes milliseconds: few accesses are near by chance

void visit_pairs(std::chrono::milliseconds time, std::size_t count = usual_count) {
    const visited_blocks all(count);
    all.visit(std::chrono::steady_clock::now() + time);
}

void visit_on_threads(std::chrono::milliseconds time) {
    constexpr std::chrono::milliseconds life{20};
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
        std::vector<std::thread> threads;
        for (int index = 0; index < 3; ++index) threads.emplace_back([&] { visit_pairs(life, 1000); });
        for (std::thread& each : threads) each.join();
    }
}

}

int main(int count, char** words) {
    if (count < 3) return 2;
    const std::chrono::milliseconds time{std::atoi(words[2])};
    if (std::strcmp(words[1], "sparse") == 0) {
        visit_pairs(time, sparse_count);
    } else if (std::strcmp(words[1], "threads") == 0) {
        visit_on_threads(time);
    } else if (std::strcmp(words[1], "exec") == 0) {
        visit_pairs(time / 4);
        char pairs[] = "pairs";
        char* const next[] = {words[0], pairs, words[2], nullptr};
        ::execv("/proc/self/exe", next);
        return 1;
    } else {
        if (std::strcmp(words[1], "closes") == 0)
            for (int file = 3; file < 4096; ++file) ::close(file);
        const pid_t child = std::strcmp(words[1], "fork") == 0 ? ::fork() : -1;
        visit_pairs(time);
        if (child == 0) ::_exit(0);
        int status = 0;
        if (child > 0 && (::waitpid(child, &status, 0) != child || status != 0)) return 1;
    }
    return 0;
}
