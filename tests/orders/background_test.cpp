// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// src/tenure/heap/detail/purge/background.cpp and the counts of heap_memory.hpp, explored: the thread that returns free
// memory ends when it has found nothing to do, and a free that comes meanwhile must either keep it or ask for another.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <string_view>

#include <tenure/base/align.hpp>
#include <tenure/base/bits.hpp>
#include <tenure/base/block_source.hpp>
#include <tenure/base/host.hpp>
#include <tenure/base/no_alloc.hpp>
#include <tenure/base/no_wait.hpp>
#include <tenure/base/options.hpp>
#include <tenure/base/report.hpp>
#include <tenure/base/status.hpp>
#include <tenure/base/tag.hpp>

#define TENURE_EXPLORED explored_background
#include "orders/explored.hpp"
#include "orders/explored_lock.hpp"
#include "orders/needs.hpp"
#include "orders/sources.hpp"

#include <tenure/heap/detail/purge/background.cpp>

namespace {

struct any_source final : tenure::block_source {
    void* acquire(std::size_t, std::size_t) noexcept override { return nullptr; }
    void release(void*, std::size_t) noexcept override {}
    [[nodiscard]] tenure::sharing threads() const noexcept override { return tenure::sharing::any_thread; }
};

using orders::run;
using tenure::TENURE_EXPLORED::detail::background_state;
using tenure::TENURE_EXPLORED::detail::heap_core;

/// A heap whose free memory is one number under one lock.
struct heap_state {
    alignas(heap_core) unsigned char bytes[sizeof(heap_core)]{};
    tenure::platform::mutex shard;
    orders::plain<std::size_t> unswept;
    bool has_started[orders::max_threads]{}; ///< by the thread that did
    orders::plain<int> starts; ///< stands for own_thread_state::is_joinable in platform/posix/background.cpp

    heap_core& core() { return *static_cast<heap_core*>(static_cast<void*>(bytes)); }
};
heap_state* heap_now = nullptr;
any_source source_of_all;

}

namespace tenure::inline TENURE_ABI {

namespace platform {
bool is_background_stopped() noexcept { return false; }
bool sleep_in_background(std::uint64_t) noexcept { return true; }
void forget_background() noexcept {}
std::uint64_t monotonic_ns() noexcept { return 0; }
std::uint64_t coarse_ns() noexcept { return 0; }
std::uint64_t unix_ms() noexcept { return 0; }
std::size_t resident_bytes() noexcept { return 0; }
bool is_memory_short(const pressure_files&) noexcept { return false; }
bool is_under_thread_sanitizer() noexcept { return false; }
void mutex::abandon() noexcept {}
background_start start_background(void (*)() noexcept) noexcept {
    heap_now->starts.set(heap_now->starts.get("is_joinable") + 1, "is_joinable");
    heap_now->has_started[orders::this_thread()] = true;
    return background_start::started;
}
}

bool detail::heap_profile_events::has_intervals() noexcept { return false; }
std::uint64_t detail::heap_profile_events::end_interval(std::uint64_t) noexcept { return UINT64_MAX; }

namespace detail {

void visit_cores(void (*visit)(void*, heap_core&) noexcept, void* context) noexcept {
    visit(context, heap_now->core());
}
sweep_result heap_core::sweep(sweep_scope, std::uint64_t) noexcept {
    memory_.begin_sweep();
    const platform::lock_guard lock(heap_now->shard);
    sweep_result result;
    result.returned_bytes = heap_now->unswept.get("free memory");
    heap_now->unswept.set(0, "free memory");
    return result;
}
// Its first statement; the rest is about time.
void heap_core::purge_expired(std::uint64_t) noexcept {
    if (can_want_background() && memory_.is_worth_sweeping() && is_tended()) [[unlikely]]
        want_background();
}

}

}

namespace {

[[nodiscard]] heap_state& make_heap(run& r, background_state state) {
    heap_state& s = r.make<heap_state>();
    heap_now = &s;
    ::new (const_cast<void*>(static_cast<const void*>(&s.core().memory())))
        tenure::TENURE_EXPLORED::detail::heap_memory(source_of_all);
    s.core().set_tended(true);
    tenure::TENURE_EXPLORED::detail::background.store(state);
    ::new (&tenure::TENURE_EXPLORED::detail::at_work) tenure::platform::mutex;
    tenure::TENURE_EXPLORED::detail::refused_starts = {};
    tenure::TENURE_EXPLORED::detail::urgent_rounds = {};
    return s;
}

void free_memory(heap_state& s) {
    {
        const tenure::platform::lock_guard lock(s.shard);
        s.unswept.set(s.unswept.get("free memory") + tenure::TENURE_EXPLORED::detail::swept_from_bytes, "free memory");
        const_cast<tenure::TENURE_EXPLORED::detail::heap_memory&>(s.core().memory())
            .note_freed(tenure::TENURE_EXPLORED::detail::swept_from_bytes);
    }
    s.core().purge_expired(0);
}

void require_care(heap_state& s) {
    const background_state last = tenure::TENURE_EXPLORED::detail::background.last();
    orders::require(s.unswept.get() == 0 || last == background_state::wanted || last == background_state::running,
                    "free memory that nobody returns");
}

// Frees while the thread ends.
void freed_at_the_end(run& r) {
    heap_state& s = make_heap(r, background_state::running);
    r.thread([] { tenure::TENURE_EXPLORED::detail::tend_heaps(); });
    r.thread([&s] { free_memory(s); });
    r.at_end([&s] { require_care(s); });
}

// One thread starts it and runs as it; then others ask for the next one, and start it: the next starter finds what the
// one before has written.
void started_again(run& r) {
    heap_state& s = make_heap(r, background_state::wanted);
    r.thread([&s] {
        tenure::TENURE_EXPLORED::detail::start_background();
        if (s.has_started[0]) tenure::TENURE_EXPLORED::detail::tend_heaps();
    });
    r.thread([&s] { free_memory(s); });
    r.thread([] {
        if (tenure::TENURE_EXPLORED::detail::is_background_wanted())
            tenure::TENURE_EXPLORED::detail::start_background();
    });
    r.at_end([&s] { require_care(s); });
}

TEST(background_orders, memory_that_becomes_free_while_the_thread_ends_is_returned) {
    orders::expect_needs({freed_at_the_end},
                         {
                             "detail::can_want_background load: seq_cst -> acquire",
                             "heap_memory::is_worth_sweeping load: seq_cst -> acquire",
                             "heap_memory::note_freed fetch_add: seq_cst -> acq_rel",
                             "mutex::try_lock compare_exchange: acquire -> relaxed",
                             "mutex::unlock exchange: release -> relaxed",
                             "{anonymous}::may_end store: seq_cst -> release",
                         },
                         {
                             // Its value decides; nothing else is read from who changed it.
                             "{anonymous}::may_end compare_exchange: seq_cst -> acq_rel",
                             "{anonymous}::may_end failed compare_exchange: seq_cst -> acquire",
                         });
}

TEST(background_orders, the_copy_of_purge_expired_is_that_of_the_source) {
    orders::expect_in_source("heap/detail/heap_core.cpp",
                             {"if (can_want_background() && memory_.is_worth_sweeping() && is_tended()) [[unlikely]] "
                              "want_background();"});
}
TEST(background_orders, a_start_follows_the_end_of_the_thread_before) { orders::expect_pass({started_again}); }

}
