// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Temp for scratch memory of a function, TempJob for results of a job, and the report of a leaked block.

#include <cstdio>
#include <span>
#include <thread>

#include <tenure/lifetime/chunked_list.hpp>
#include <tenure/lifetime/lifetime.hpp>

namespace {

/// No explicit free: the end of the scope frees all blocks.
bool scratch_of_a_function() {
    const tenure::temp_scope scope;
    auto* const text = static_cast<char*>(tenure::allocate(32, tenure::lifetime::temp));
    if (text == nullptr) return false;
    std::snprintf(text, 32, "%d of %d", 3, 10);
    std::printf("scratch: %s\n", text);
    return true;
}

/// Temp is a stack: blocks freed with their size, newest first, are reused immediately.
bool reversed_frees() {
    const tenure::temp_scope scope;
    void* const first = tenure::allocate(100, tenure::lifetime::temp);
    void* const second = tenure::allocate(100, tenure::lifetime::temp);
    tenure::deallocate(second, 100, tenure::lifetime::temp);
    tenure::deallocate(first, 100, tenure::lifetime::temp);
    void* const again = tenure::allocate(200, tenure::lifetime::temp);
    std::printf("same address: %s\n", first == again ? "yes" : "no");
    return first != nullptr && again != nullptr;
}

/// One thread allocates and ends. Another thread reads and frees.
bool result_of_a_job() {
    int* result = nullptr;
    std::thread worker([&result] {
        result = static_cast<int*>(tenure::allocate(sizeof(int), tenure::lifetime::temp_job));
        if (result != nullptr) *result = 42;
        tenure::reset_temp(); // a worker resets its own Temp at the end of each job
    });
    worker.join();
    if (result == nullptr) return false;
    std::printf("result of the job: %d\n", *result);
    tenure::deallocate(result, tenure::lifetime::temp_job);
    return true;
}

/// A list in Temp: it grows without moving an element, and the end of the scope frees it.
bool list_in_temp() {
    const tenure::temp_scope scope;
    tenure::chunked_list<int> visible(tenure::lifetime::temp);
    for (int index = 0; index < 5000; ++index)
        if (visible.emplace_back(index) == nullptr) return false;
    long sum = 0;
    visible.for_each_chunk([&sum](std::span<int> chunk) {
        for (const int each : chunk) sum += each;
    });
    std::printf("sum of %zu: %ld\n", visible.size(), sum);
    return sum == 12497500;
}

int leaks_heard = 0;

void hear_of_leak(const tenure::temp_job_leak& leak) noexcept {
    ++leaks_heard;
    std::printf("leak: %zu bytes of %.*s, %u frames old\n", leak.bytes, static_cast<int>(leak.owner.name().size()),
                leak.owner.name().data(), static_cast<unsigned>(leak.age_frames));
}

/// A block that outlives its frames is reported once. It stays valid, and a late free is allowed.
bool forgotten_block() {
    tenure::temp_job::set_leak_handler(hear_of_leak);
    void* forgotten = nullptr;
    {
        const tenure::tag_scope owner("path finding");
        forgotten = tenure::allocate(1024, tenure::lifetime::temp_job);
    }
    for (int frame = 0; frame < 6; ++frame) tenure::next_frame();
    tenure::deallocate(forgotten, tenure::lifetime::temp_job);
    tenure::temp_job::set_leak_handler(nullptr); // restores the report on standard error
    return leaks_heard == 1;
}

}

int main() {
    const bool good =
        scratch_of_a_function() && reversed_frees() && result_of_a_job() && list_in_temp() && forgotten_block();
    return good ? 0 : 1;
}
