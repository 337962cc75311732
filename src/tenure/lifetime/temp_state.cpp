// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/lifetime/temp_state.hpp>

#include <cstddef>
#include <new>

#include <tenure/base/check.hpp>
#include <tenure/base/options.hpp>
#include <tenure/lifetime/detail/temp_origin.hpp>
#include <tenure/lifetime/detail/thread_record.hpp>

namespace tenure::inline TENURE_ABI {

using detail::temp_stacks;
using detail::this_thread;
using detail::thread_record;

temp_state::temp_state(std::size_t budget_bytes) noexcept {
    static_assert(sizeof(temp_stacks) <= space_bytes && alignof(temp_stacks) <= alignof(std::max_align_t));
    auto* const made = ::new (static_cast<void*>(space_)) temp_stacks;
    for (detail::temp_record* each : {&made->first_record, &made->second_record}) {
        each->wanted_budget_bytes = budget_bytes;
        each->passthrough = passthrough_enabled(part::temp);
        if constexpr (checks::caller) detail::mark_stack_of_state(*each);
    }
}

temp_state::~temp_state() {
    if constexpr (checks::caller) {
        if (stacks().user != nullptr)
            report_misuse("a temp_state was destroyed while a thread uses it", this,
                          "Switch to another state first: temp_state::switch_to(nullptr).");
    }
    if (is_current()) switch_to(nullptr);
    detail::release_stacks(stacks());
}

temp_stacks& temp_state::stacks() noexcept {
    return *std::launder(static_cast<temp_stacks*>(static_cast<void*>(space_)));
}

temp_state* temp_state::state_of(temp_stacks& stacks) noexcept {
    return std::launder(static_cast<temp_state*>(static_cast<void*>(&stacks))); // space_ is the only member
}

temp_state* temp_state::switch_to(temp_state* next) noexcept {
    thread_record* const record = this_thread().record;
    // Without a call, so that no register is saved.
    if (checks::caller || record == nullptr || detail::this_thread_tag().id != 0) [[unlikely]]
        return switch_slow(next);
    temp_stacks& before = record->stacks();
    temp_stacks& wanted = next != nullptr ? next->stacks() : record->own_stacks;
    if (&before != &wanted) detail::switch_untagged_stacks(*record, wanted);
    return &before == &record->own_stacks ? nullptr : state_of(before);
}

temp_state* temp_state::switch_slow(temp_state* next) noexcept {
    thread_record* const record = detail::record_of_this_thread();
    if (record == nullptr) return nullptr;
    temp_stacks& before = record->stacks();
    temp_stacks& wanted = next != nullptr ? next->stacks() : record->own_stacks;
    if constexpr (checks::caller) {
        if (wanted.user != nullptr && wanted.user != record) {
            report_misuse("a thread switched to a temp_state that another thread uses", next,
                          "Switch the other thread to its own Temp first, when the job waits.");
            return &before == &record->own_stacks ? nullptr : state_of(before);
        }
        before.user = nullptr;
        if (next != nullptr) wanted.user = record;
    }
    detail::switch_stacks(*record, wanted);
    return &before == &record->own_stacks ? nullptr : state_of(before);
}

void temp_state_scope::report_failure() noexcept {
    if (this_thread().record != nullptr) return; // switch_to() has reported it
    report(report_kind::notice, "A thread could not switch to a temp_state: the system has no memory for the thread's "
                                "records. Its Temp has none either; ask temp_state_scope::is_switched().");
}

temp_state* temp_state::current() noexcept {
    const thread_record* const record = this_thread().record;
    if (record == nullptr || this_thread().stacks == &record->own_stacks) return nullptr;
    return state_of(record->stacks());
}

}
