// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/observed.hpp>

#include <atomic>
#include <cstddef>

#include <tenure/base/check.hpp>
#include <tenure/base/host.hpp>
#include <tenure/base/observer.hpp>

namespace tenure::inline TENURE_ABI::detail {

TENURE_DEFINE_THREAD_LOCAL(thread_scopes, this_thread_scopes)

namespace {

// Each thread reads it once; observed threads read it at every scope. Threads that look it up concurrently find the
// same observer.
// The flag is released after the observer. Each thread acquires both once; its later loads are relaxed.
constinit std::atomic<const tenure_observer_table*> observer{nullptr};
constinit std::atomic<bool> was_looked_for{false};

[[nodiscard]] hearing look_for_observer() noexcept {
    if (!was_looked_for.load(std::memory_order_acquire)) {
        const tenure_observer_table* const found = host::process_observer();
        const bool is_known =
            found != nullptr && found->version == tenure_observer_version && found->size >= tenure_observer_first_bytes;
        observer.store(is_known ? found : nullptr, std::memory_order_release);
        was_looked_for.store(true, std::memory_order_release);
    }
    return observer.load(std::memory_order_acquire) != nullptr ? hearing::somebody : hearing::nobody;
}

void call(void (*function)()) noexcept {
    if (function != nullptr) function();
}
void call(void (*function)(const char*, std::size_t), std::string_view name) noexcept {
    if (function != nullptr) function(name.data(), name.size());
}

/// Observers of the first size know no no_wait_scope. They receive it as a no_alloc_scope, which it is as well.
void call_no_wait(const tenure_observer_table& to, observed what) noexcept {
    const bool is_begin = what == observed::no_wait_begin;
    if (to.size >= offsetof(tenure_observer_table, frame_end))
        return call(is_begin ? to.no_wait_begin : to.no_wait_end);
    call(is_begin ? to.no_alloc_begin : to.no_alloc_end);
}

}

void tell_observer(observed what, std::string_view name) noexcept {
    hearing& heard = this_thread_scopes().heard;
    if (heard == hearing::unknown) heard = look_for_observer();
    if (heard == hearing::nobody) return;
    const tenure_observer_table& to = *observer.load(std::memory_order_relaxed);
    switch (what) {
    case observed::region_begin: return call(to.region_begin, name);
    case observed::region_end: return call(to.region_end);
    case observed::no_alloc_begin: return call(to.no_alloc_begin);
    case observed::no_alloc_end: return call(to.no_alloc_end);
    case observed::allow_alloc_begin: return call(to.allow_alloc_begin);
    case observed::allow_alloc_end: return call(to.allow_alloc_end);
    case observed::mark: return call(to.mark, name);
    case observed::no_wait_begin:
    case observed::no_wait_end: return call_no_wait(to, what);
    case observed::frame_end:
        if (to.size >= sizeof to) call(to.frame_end);
        return;
    }
}

void report_unbalanced(observed what) noexcept {
    if constexpr (checks::caller) {
        std::string_view said = "a region ended on a thread that has no open region";
        if (what == observed::no_alloc_end) said = "a no-allocation scope ended on a thread that has none open";
        if (what == observed::allow_alloc_end) said = "an allow-allocation scope ended on a thread that has none open";
        if (what == observed::no_wait_end) said = "a no-wait scope ended on a thread that has none open";
        report_misuse(said, nullptr, "End each scope once, on the thread that began it.");
    }
}

}
