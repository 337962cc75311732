// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "tenure_pools.hpp"

namespace {

int misuses = 0;

void count_misuse(tenure::report_kind kind, std::string_view) noexcept {
    if (kind == tenure::report_kind::misuse) ++misuses;
}

}

bool is_in_temp_of_this_thread(const void* block) { return tenure::temp::owns(block); }

long sum_of_pool(tenure::pool<long>& numbers) {
    long sum = 0;
    for (const long each : numbers) sum += each;
    return sum;
}

/// Checked builds report a double free, a pointer inside a block and a write past the end.
int misuses_found() {
    if constexpr (!tenure::checks::caller) return 0;
    tenure::set_report_handler(&count_misuse);
    int found = 0;
    {
        tenure::block_pool blocks(48);
        void* const first = blocks.allocate();
        void* const second = blocks.allocate();
        static_cast<volatile unsigned char*>(second)[48] = 1;
        blocks.deallocate(first);
        blocks.deallocate(first);
        blocks.deallocate(static_cast<unsigned char*>(second) + 8);
        blocks.deallocate(second);
        found = misuses; // its end reports the overrun again
    }
    tenure::set_report_handler(nullptr);
    return found;
}
