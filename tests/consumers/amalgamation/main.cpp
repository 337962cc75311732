// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A program of the single header alone. Its code is in code.cpp; second.cpp uses it too.

#include "tenure_pools.hpp"

#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

bool is_in_temp_of_this_thread(const void* block); // second.cpp
long sum_of_pool(tenure::pool<long>& numbers);
int misuses_found();

namespace {

bool pools() {
    tenure::pool<long> numbers;
    std::vector<long*> made;
    for (long number = 0; number < 100'000; ++number) {
        long* const one = numbers.construct(number);
        if (one == nullptr) return false;
        made.push_back(one);
    }
    for (std::size_t index = 0; index < made.size(); index += 2) numbers.destroy(made[index]);
    const bool good = numbers.size() == 50'000 && sum_of_pool(numbers) == 2'500'000'000 && numbers.valid();
    numbers.clear();
    tenure::block_pool blocks(96, 32);
    void* const block = blocks.allocate();
    const bool is_aligned = block != nullptr && tenure::is_aligned(block, 32) && blocks.owns(block);
    blocks.deallocate(block);
    return good && is_aligned && numbers.empty() && blocks.size() == 0;
}

bool arenas() {
    tenure::arena scratch;
    const auto start = scratch.mark();
    std::vector<int, tenure::stl_allocator<int, tenure::arena>> numbers(scratch);
    for (int number = 0; number < 10'000; ++number) numbers.push_back(number);
    const bool good = scratch.owns(numbers.data()) && numbers.back() == 9'999;
    numbers = std::vector<int, tenure::stl_allocator<int, tenure::arena>>(scratch);
    scratch.rewind(start);
    return good && scratch.stats().live_bytes == 0 && scratch.valid();
}

bool full_buffers() {
    alignas(64) static unsigned char buffer[64 * 1024];
    tenure::static_buffer_source source(buffer, sizeof buffer);
    tenure::arena scratch(1024, source);
    int count = 0;
    while (count < 1000 && scratch.allocate(1000) != nullptr) ++count;
    return count > 10 && count < 64 && scratch.valid();
}

/// A block past the budget too, which takes chunks.
bool temp_of(std::size_t bytes) {
    const tenure::temp_scope scope;
    void* block = nullptr;
    for (std::size_t done = 0; done < bytes; done += 4096) {
        block = tenure::temp::allocate(4096);
        if (block == nullptr) return false;
        std::memset(block, 7, 4096);
    }
    return is_in_temp_of_this_thread(block) && tenure::temp::valid();
}

bool temps() {
    const std::size_t before = tenure::temp::stats().used_bytes;
    bool in_thread = false;
    const bool here = temp_of(100'000) && temp_of(20 << 20);
    std::thread other([&] { in_thread = temp_of(100'000) && temp_of(20 << 20); });
    other.join();
    for (int round = 0; round < 20; ++round) std::thread([] { static_cast<void>(temp_of(10'000)); }).join();
    return here && in_thread && tenure::temp::stats().used_bytes == before && tenure::temp::stats().overflow_count != 0;
}

}

int main() {
    int failures = 0;
    const auto expect = [&](bool good, const char* what) {
        if (good) return;
        std::fprintf(stderr, "amalgamation: %s failed\n", what);
        ++failures;
    };
    // In passthrough blocks come from malloc, which is not full and has no guards.
    const bool is_passed = tenure::passthrough_enabled(tenure::part::arena);
    expect(pools(), "pools");
    expect(arenas() || is_passed, "arenas");
    expect(full_buffers() || is_passed, "full buffers");
    expect(temps() || is_passed, "temp");
    expect(misuses_found() == (tenure::checks::caller ? 3 : 0) || is_passed, "misuse");
    return failures;
}
