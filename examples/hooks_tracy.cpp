// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Hooks for Tracy: a zone for each slow call, and each block in Tracy's memory view.

#include <cstdio>

#include <tracy/Tracy.hpp>
#include <tracy/TracyC.h>

#include <tenure/base/hooks.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/lifetime/lifetime.hpp>

namespace {

/// A zone begins in one hook and ends in another, so each thread keeps its open zones on a stack.
struct open_zones {
    static constexpr int max_depth = 16;
    TracyCZoneCtx zones[max_depth];
    int depth = 0;
};
thread_local open_zones open;
thread_local int zone_count = 0;

void call_begin(std::string_view what, std::size_t bytes, void*) noexcept {
    if (open.depth++ >= open_zones::max_depth) return;
    TracyCZoneN(zone, "slow allocation", 1);
    TracyCZoneName(zone, what.data(), what.size());
    TracyCZoneValue(zone, bytes);
    open.zones[open.depth - 1] = zone;
    ++zone_count;
}

void call_end(std::string_view, void*) noexcept {
    if (--open.depth < open_zones::max_depth) TracyCZoneEnd(open.zones[open.depth]);
}

void block_begin(const void* block, std::size_t bytes, void*) noexcept { TracyAlloc(block, bytes); }
void block_end(const void* block, void*) noexcept { TracyFree(block); }

/// With the last two, threads allocate from heaps without a cache, and every call is a slow one. Leave them out to see
/// the slow calls of the allocators as they are.
constexpr tenure::allocation_hooks hooks{call_begin, call_end, block_begin, block_end, nullptr};

}

int main() {
    tenure::set_hooks(&hooks); // before the first allocation: Tracy accepts no free of a block that it does not know
    for (int frame = 0; frame < 3; ++frame) {
        for (int count = 0; count < 10; ++count)
            if (tenure::allocate(100, tenure::lifetime::temp) == nullptr) return 1;
        void* const level = tenure::heap::process().allocate(std::size_t{8} << 20);
        tenure::heap::process().deallocate(level);
        tenure::next_frame();
        FrameMark;
    }
    tenure::set_hooks(nullptr);
    std::printf("%d zones\n", zone_count);
    return open.depth == 0 && zone_count > 0 ? 0 : 1;
}
