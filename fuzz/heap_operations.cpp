// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A heap with a limit, over a source that fails at some request: any sequence of operations, with sweeps that return
// free memory between them, keeps every block intact.

#include <tenure/base/counting_source.hpp>
#include <tenure/base/failing_source.hpp>
#include <tenure/heap/heap.hpp>

#include "operations.hpp"

namespace {

using fuzz::mebibyte;

constexpr std::size_t max_bytes = 40 * mebibyte;

[[nodiscard]] std::size_t alignment_of(std::uint8_t byte) { return std::size_t{1} << byte % 18; }

void allocate(fuzz::input& from, tenure::heap& tested, std::vector<fuzz::held>& alive, std::uint8_t stamp,
              tenure::fill how) {
    const std::size_t bytes = from.size(max_bytes);
    const std::size_t alignment = alignment_of(from.byte());
    if (!fuzz::may_hold(alive, bytes)) return;
    auto* const block = static_cast<unsigned char*>(tested.allocate(bytes, alignment, how));
    if (block == nullptr) return;
    fuzz::require(tenure::is_aligned(block, alignment), "a block is aligned");
    fuzz::require(tested.usable_size(block) >= bytes, "a block is large enough");
    fuzz::require(tested.owns(block), "a heap owns its blocks");
    fuzz::require(how != tenure::fill::zero || fuzz::is_zero(block, bytes), "zero is zero");
    alive.push_back({block, bytes, alignment, stamp});
    fuzz::write(alive.back());
}

void deallocate_sized(tenure::heap& tested, const fuzz::held& block) {
    const std::size_t bytes = block.was_resized ? tested.usable_size(block.at) : block.bytes;
    tested.deallocate(block.at, bytes, block.alignment);
}

enum class change : std::uint8_t { resize, reallocate, reallocate_aligned };

void change_size(fuzz::input& from, tenure::heap& tested, std::vector<fuzz::held>& alive, change how) {
    fuzz::held& block = alive[from.byte() % alive.size()];
    const std::size_t bytes = from.size(max_bytes);
    const std::size_t alignment =
        how == change::reallocate_aligned ? alignment_of(from.byte()) : tenure::default_alignment;
    if (!fuzz::may_hold(alive, bytes)) return;
    if (how == change::resize) {
        if (!tested.resize(block.at, bytes)) return;
    } else {
        void* const moved = how == change::reallocate ? tested.reallocate(block.at, bytes)
                                                      : tested.reallocate(block.at, bytes, alignment);
        if (moved == nullptr) return;
        block.at = static_cast<unsigned char*>(moved);
        block.alignment = alignment;
        fuzz::require(tenure::is_aligned(moved, alignment), "a block is aligned when its size changes");
    }
    fuzz::require(tested.usable_size(block.at) >= bytes, "a block is large enough when its size changes");
    fuzz::require(fuzz::holds(block, bytes), "a block keeps its contents when its size changes");
    block.bytes = bytes;
    block.was_resized = how == change::resize;
    fuzz::write(block);
}

/// As the background thread, but now.
void sweep(tenure::heap& tested, std::uint8_t how, std::uint64_t& now_ns) {
    auto& core = const_cast<tenure::detail::heap_core&>(tenure::detail::core_of(tested));
    now_ns += core.sweep_every_ns() + 1;
    (void)core.sweep({.is_thorough = (how & 1) != 0, .is_urgent = (how & 2) != 0}, now_ns);
}

void run(fuzz::input& from, tenure::heap& tested) {
    std::vector<fuzz::held> alive;
    std::uint8_t stamp = 0;
    std::uint64_t now_ns = std::uint64_t{1} << 60; // later than any call that reads the clock
    while (!from.empty()) {
        const std::uint8_t operation = from.byte() % 16;
        if (operation < 6) {
            allocate(from, tested, alive, ++stamp, operation == 0 ? tenure::fill::zero : tenure::fill::none);
        } else if (operation < 11 && !alive.empty()) {
            const fuzz::held block = fuzz::take(alive, from.byte() | std::size_t{from.byte()} << 8);
            fuzz::require(fuzz::holds(block, block.bytes), "a block keeps its contents");
            operation % 2 == 0 ? deallocate_sized(tested, block) : tested.deallocate(block.at);
        } else if (operation < 14 && !alive.empty()) {
            change_size(from, tested, alive, static_cast<change>(operation - 11));
        } else if (operation == 14) {
            tested.trim();
        } else if (const std::uint8_t how = from.byte(); how < 8) {
            tested.clear();
            alive.clear();
        } else {
            sweep(tested, how, now_ns);
        }
        fuzz::require(tested.stats().live_count == alive.size(), "the count of blocks is true");
    }
    fuzz::require(tested.valid(), "the heap is valid");
    std::size_t walked = 0;
    tested.walk([&](void*, std::size_t) { ++walked; });
    fuzz::require(walked == alive.size(), "a walk sees every block");
    for (const fuzz::held& block : alive) {
        fuzz::require(fuzz::holds(block, block.bytes), "a block keeps its contents to the end");
        tested.deallocate(block.at);
    }
    tested.trim();
    fuzz::require(tested.stats().reserved_bytes == 0, "everything goes back");
}

}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
    fuzz::input from(bytes, count);
    tenure::counting_source counted(tenure::page_source::process());
    {
        const std::uint8_t allowed = from.byte();
        tenure::failing_source failing(counted, allowed < 200 ? 1'000'000 : allowed - 200);
        const std::uint8_t limit = from.byte();
        tenure::heap tested({.limit_bytes = limit < 128 ? tenure::max_object_bytes : limit * mebibyte}, failing);
        run(from, tested);
    }
    fuzz::require(counted.live_blocks() == 0, "the source has everything back");
    return 0;
}
