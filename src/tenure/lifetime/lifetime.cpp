// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/lifetime/lifetime.hpp>

#include <string_view>

#include <tenure/base/check.hpp>
#include <tenure/base/frame_clock.hpp>
#include <tenure/base/observed.hpp>
#include <tenure/engine/block_owner.hpp>
#include <tenure/lifetime/detail/chunk_cache.hpp>
#include <tenure/lifetime/detail/direct_blocks.hpp>
#include <tenure/lifetime/detail/job_walk.hpp>
#include <tenure/lifetime/detail/thread_record.hpp>

namespace tenure::inline TENURE_ABI {

void next_frame() noexcept {
    detail::end_job_frame(frame_clock::advance());
    detail::empty_temp(detail::temp_end::frame);
    detail::tell(detail::observed::frame_end);
}

bool warm_up(std::size_t bytes, lifetime held) noexcept {
    switch (held) {
    case lifetime::temp: return temp::warm_up(bytes);
    case lifetime::temp_job: return temp_job::warm_up(bytes);
    case lifetime::persistent: break;
    }
    void* const block = detail::process_allocate(1, 1);
    detail::process_deallocate(block);
    return block != nullptr;
}

namespace {

/// The part whose block this is; empty if it is neither Temp nor TempJob.
std::string_view name_owner(const void* block) noexcept {
    if (temp::owns(block)) return "Temp";
    return detail::chunk_begins.contains(block) || detail::is_direct(address_of(block)) ? "TempJob" : "";
}

TENURE_AT_LOAD(tell_heap) { detail::set_name_owner(&name_owner); }

}

bool detail::check_persistent(void* block) noexcept {
    const std::string_view owner = block != nullptr ? name_owner(block) : std::string_view{};
    if (owner.empty()) return true;
    report_misuse(owner == "Temp" ? "a block of Temp was freed as persistent"
                                  : "a block of TempJob was freed as persistent",
                  block, "Free it with the lifetime that it was allocated with.");
    return false;
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
    const detail::tagged_usage persistent = detail::core_of(heap::process()).usage_of_tag(owner.id());
    answer.found.persistent_count = persistent.live_count;
    answer.found.persistent_bytes = persistent.live_bytes;
    return answer.found;
}

}
