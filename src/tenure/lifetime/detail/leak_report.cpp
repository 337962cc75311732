// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/lifetime/detail/leak_report.hpp>

#include <algorithm>
#include <atomic>

#include <tenure/base/host.hpp>
#include <tenure/base/options.hpp>
#include <tenure/base/report.hpp>
#include <tenure/engine/leak_check.hpp>
#include <tenure/lifetime/detail/job_counters.hpp>
#include <tenure/lifetime/detail/job_walk.hpp>
#include <tenure/lifetime/detail/thread_record.hpp>

namespace tenure::inline TENURE_ABI {

namespace {

std::atomic<temp_job_leak_handler> leak_handler{nullptr}; // released and acquired with what the handler reads

void report_leak(const temp_job_leak& leak) noexcept {
    detail::job_seen.leaked_count.fetch_add(1, std::memory_order_relaxed);
    if (const temp_job_leak_handler handler = leak_handler.load(std::memory_order_acquire); handler != nullptr)
        return handler(leak);
    report_text text;
    text.text("TempJob block ").address(leak.address).text(" of ").number(leak.bytes).text(" bytes, owner ");
    text.text(leak.owner.name()).text(", is still alive after ").number(leak.age_frames);
    text.text(" frames. Free it within ").number(option_value(option::temp_job_frames));
    text.text(" frames, or allocate it as lifetime::persistent.");
    if (leak.owner.id() == 0) text.text(" A tag_scope around the allocation adds the owner's name to this report.");
    report(report_kind::leak, text.view());
    if (leak.stack_count != 0) host::write_stack(leak.stack, leak.stack_count);
}

/// Every block that is live when the program ends, whatever its age.
void list_live(detail::held_list& to) noexcept {
    if (!detail::are_job_locks_free(to.patience())) return to.add_busy("list of", " TempJob's blocks");
    temp_job::for_each_live(
        [](void* list, const temp_job_leak& block) {
            static_cast<detail::held_list*>(list)->add(
                {"TempJob, owner ", block.owner.name(), 1, block.bytes, block.stack, block.stack_count});
        },
        &to);
}

constinit detail::leak_lister lister{&list_live};
TENURE_AT_LOAD(enlist_temp_job) { lister.enlist(); }

}

void detail::found_leaks::add(const temp_job_leak& leak) noexcept {
    entry& place = entries_[count_++];
    place.leak = leak;
    if (leak.stack_count == 0) return;
    std::copy_n(leak.stack, leak.stack_count, place.stack);
    place.leak.stack = place.stack;
}

void detail::found_leaks::report_all() noexcept {
    for (std::size_t index = 0; index < count_; ++index) report_leak(entries_[index].leak);
    count_ = 0;
}

temp_job_leak detail::describe(std::uintptr_t bytes_at, std::uint64_t word, std::size_t bytes, std::uint64_t age_frames,
                               copied_stack& copy) noexcept {
    temp_job_leak leak;
    leak.address = pointer_at(bytes_at);
    leak.bytes = bytes;
    leak.age_frames = age_frames;
    leak.owner = tag::from_id(static_cast<std::uint16_t>(word >> temp_job_word::tag_shift));
    if constexpr (checks::caller) {
        const auto& prefix = *static_cast<const checked_prefix*>(pointer_at(bytes_at - temp_job::prefix_bytes));
        leak.stack = copy.frames;
        for (; leak.stack_count < stack_capacity; ++leak.stack_count) {
            void* const frame = pointer_at(platform::read_hidden(prefix.stack + leak.stack_count));
            if (frame == nullptr) break;
            copy.frames[leak.stack_count] = frame;
        }
    }
    return leak;
}

temp_job_leak_handler temp_job::set_leak_handler(temp_job_leak_handler handler) noexcept {
    return leak_handler.exchange(handler, std::memory_order_acq_rel);
}

}
