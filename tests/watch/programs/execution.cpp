// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// std::for_each with a parallel policy, which is TBB's: a lock in each piece, and an allocation.

#include <algorithm>
#include <cstdlib>
#include <execution>
#include <mutex>
#include <numeric>
#include <vector>

namespace {

std::mutex pieces_lock;
std::uint64_t sum = 0;

__attribute__((noinline)) void piece(int number) {
    void* volatile block = std::malloc(200);
    std::free(block);
    const std::lock_guard guard(pieces_lock);
    for (int step = 0; step < 2000; ++step) __asm__ volatile("" ::: "memory");
    sum += std::uint64_t(number);
}

}

int main() {
    std::vector<int> numbers(20'000);
    std::iota(numbers.begin(), numbers.end(), 0);
    for (int round = 0; round < 3; ++round) std::for_each(std::execution::par, numbers.begin(), numbers.end(), piece);
    return sum == 3ULL * 20'000 * 19'999 / 2 ? 0 : 1;
}
