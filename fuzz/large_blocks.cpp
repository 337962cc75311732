// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Large blocks in small segments: lists, bits and records agree after each step.

#include <cstdint>

#include <tenure/base/counting_source.hpp>
#include <tenure/heap/detail/large_blocks.hpp>
#include <tenure/platform/page_source.hpp>

#include "operations.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
    using namespace tenure::detail;
    fuzz::input from(bytes, count);
    tenure::counting_source counted(tenure::page_source::process());
    {
        constexpr std::size_t segment_bytes = std::size_t{1} << 20;
        heap_memory memory(counted, segment_bytes);
        large_blocks tested(memory);
        std::vector<fuzz::held> alive;
        std::uint8_t stamp = 0;
        while (!from.empty()) {
            const std::uint8_t operation = from.byte() % 8;
            if (operation < 3) {
                const std::size_t size = from.size(segment_bytes) + 1;
                const std::size_t alignment = std::size_t{1} << from.byte() % 20;
                if (!fuzz::may_hold(alive, size)) continue;
                contents found{};
                auto* const block = static_cast<unsigned char*>(tested.allocate(size, alignment, found));
                if (block == nullptr) continue;
                fuzz::require(tenure::is_aligned(block, alignment), "a block is aligned");
                fuzz::require(found != contents::zero || fuzz::is_zero(block, size), "zero is zero");
                alive.push_back({block, size, alignment, ++stamp});
                fuzz::write(alive.back());
            } else if (operation < 5 && !alive.empty()) {
                const fuzz::held block = fuzz::take(alive, from.byte());
                fuzz::require(fuzz::holds(block, block.bytes), "a block keeps its contents");
                tested.deallocate(block.at);
            } else if (operation == 5 && !alive.empty()) {
                fuzz::held& block = alive[from.byte() % alive.size()];
                const std::size_t size = from.size(segment_bytes) + 1;
                if (!fuzz::may_hold(alive, size) || !tested.resize(block.at, size)) continue;
                fuzz::require(fuzz::holds(block, size), "a block keeps its contents when its size changes");
                block.bytes = size;
                fuzz::write(block);
            } else if (operation == 6) {
                const std::uint8_t how = from.byte();
                sweep_result result;
                auto place = tested.begin_sweep();
                while (tested.sweep_some(place, {(how & 1) != 0, (how & 2) != 0}, result)) {}
            } else if (from.byte() < 32) {
                tested.trim();
            }
            fuzz::require(tested.valid(), "the records agree");
            fuzz::require(tested.live_count() == alive.size(), "the count of blocks is true");
        }
        for (const fuzz::held& block : alive) {
            fuzz::require(fuzz::holds(block, block.bytes), "a block keeps its contents to the end");
            tested.deallocate(block.at);
        }
        tested.trim();
        fuzz::require(tested.segment_count() == 0, "everything is joined again");
    }
    fuzz::require(counted.live_blocks() == 0, "the source has everything back");
    return 0;
}
