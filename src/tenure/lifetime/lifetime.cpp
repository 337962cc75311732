// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/lifetime/lifetime.hpp>

#include <algorithm>
#include <cstdlib>

#include <tenure/base/check.hpp>
#include <tenure/base/frame_clock.hpp>
#include <tenure/lifetime/chunk_supply.hpp>
#include <tenure/lifetime/direct_blocks.hpp>
#include <tenure/lifetime/job_walk.hpp>
#include <tenure/lifetime/thread_record.hpp>

namespace tenure::inline TENURE_ABI {

void next_frame() noexcept {
    detail::end_job_frame(frame_clock::advance());
    temp::reset();
}

void* detail::allocate_persistent(std::size_t bytes, std::size_t alignment) noexcept {
    constexpr std::size_t most = max_object_bytes / 4;
    if (bytes > most || alignment > most || !is_power_of_two(alignment)) return nullptr;
    std::size_t const actual = std::max(alignment, default_alignment);
    return std::aligned_alloc(actual, align_up(std::max<std::size_t>(bytes, 1), actual));
}

void detail::deallocate_persistent(void* block) noexcept {
    if constexpr (checks::caller) {
        bool const of_temp = block != nullptr && temp::owns(block);
        if (of_temp || (block != nullptr && (chunk_begins.contains(block) || is_direct(address_of(block))))) {
            report_misuse(of_temp ? "a block of Temp was freed as persistent"
                                  : "a block of TempJob was freed as persistent",
                          block, "Free it with the lifetime that it was allocated with.");
            return;
        }
    }
    std::free(block); // NOLINT(cppcoreguidelines-no-malloc): the counterpart of aligned_alloc
}

tag_usage usage_of(tag owner) noexcept {
    struct sum {
        std::uint16_t id;
        tag_usage found;
    } answer{owner.id(), {}};
    answer.found.temp_bytes = detail::tagged_temp_bytes(owner.id());
    temp_job::for_each_live(
        [](void* context, const temp_job_leak& block) {
            auto& to = *static_cast<sum*>(context);
            if (block.owner.id() != to.id) return;
            ++to.found.temp_job_count;
            to.found.temp_job_bytes += block.bytes;
        },
        &answer);
    return answer.found;
}

}
