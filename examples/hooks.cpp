// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A program's own hooks: the slow allocations of a frame, with their part and time.

#include <chrono>
#include <cstdio>

#include <tenure/base/hooks.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/lifetime/lifetime.hpp>

namespace {

using clock_type = std::chrono::steady_clock;

/// Slow calls nest: a stack of their begins, without allocation. With Tracy, begin and end a zone here instead
/// (TracyCZoneBeginN and TracyCZoneEnd, whose context belongs on the same stack).
struct open_calls {
    clock_type::time_point begins[16];
    int depth = 0;
    int count = 0;
};
thread_local open_calls calls;

void begin(std::string_view, std::size_t, void*) noexcept {
    if (calls.depth < 16) calls.begins[calls.depth] = clock_type::now();
    ++calls.depth;
}

void end(std::string_view what, void*) noexcept {
    if (--calls.depth >= 16) return;
    ++calls.count;
    const std::chrono::duration<double, std::micro> took = clock_type::now() - calls.begins[calls.depth];
    std::printf("allocation %.*s: %.1f us\n", static_cast<int>(what.size()), what.data(), took.count());
}

constexpr tenure::allocation_hooks hooks{begin, end, nullptr, nullptr, nullptr};

}

int main() {
    tenure::set_hooks(&hooks);
    for (int frame = 0; frame < 3; ++frame) {
        for (int count = 0; count < 1000; ++count) // only the first ones are slow
            if (tenure::allocate(100, tenure::lifetime::temp) == nullptr) return 1;
        void* const level = tenure::heap::process().allocate(std::size_t{8} << 20);
        tenure::heap::process().deallocate(level);
        tenure::next_frame();
    }
    tenure::set_hooks(nullptr);
    return calls.depth == 0 && calls.count > 0 ? 0 : 1;
}
