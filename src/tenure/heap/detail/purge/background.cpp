// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/purge/background.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include <tenure/base/no_alloc.hpp>
#include <tenure/base/no_wait.hpp>
#include <tenure/base/options.hpp>
#include <tenure/heap/detail/heap_core.hpp>
#include <tenure/heap/detail/purge/refusals.hpp>
#include <tenure/heap/detail/purge/urgency.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/heap/heap_profile.hpp>
#include <tenure/platform/background.hpp>
#include <tenure/platform/clock.hpp>
#include <tenure/platform/mutex.hpp>
#include <tenure/platform/output_file.hpp>
#include <tenure/platform/pressure.hpp>
#include <tenure/platform/process.hpp>
#include <tenure/platform/sanitizer.hpp>

namespace tenure::inline TENURE_ABI::detail {

// Acquired, released, sequentially consistent: see the header.
constinit std::atomic<background_state> background{background_state::none};

namespace {

// The thread ends after this many sweeps in a row that found nothing to do.
constexpr int idle_sweeps = 2;
constexpr std::size_t little_bytes = std::size_t{1} << 20;
constexpr std::uint64_t longest_sleep_ns = 1'000'000'000;

/// Held while the thread looks at heaps. Taken before every other lock except that of forks.
constinit platform::mutex at_work;
constinit urgency urgent_rounds{}; // used by the thread alone: consecutive threads are joined

// Written by the holder of background_state::running.
constinit refusals refused_starts{};
constinit std::atomic<std::uint64_t> retry_at_ns{0}; // relaxed: background_state::refused is released after it

struct round {
    sweep_scope scope;
    std::uint64_t now_ns;
    std::uint64_t sleep_ns = longest_sleep_ns;
    std::size_t returned_bytes = 0;
    bool is_busy = false; ///< whether a heap has memory that will soon be old enough
};

void sweep_core(void* context, heap_core& core) noexcept {
    auto& now = *static_cast<round*>(context);
    if (!core.is_tended() || platform::is_background_stopped()) return;
    now.sleep_ns = std::min(now.sleep_ns, core.sweep_every_ns());
    if (now.scope.is_urgent) core.shrink_caches();
    const sweep_result result = core.sweep(now.scope, now.now_ns);
    now.returned_bytes += result.returned_bytes;
    now.is_busy |= result.young_bytes > little_bytes;
}

[[nodiscard]] std::size_t taken_again_bytes() noexcept {
    std::size_t bytes = 0;
    visit_cores(
        [](void* sum, heap_core& core) noexcept { *static_cast<std::size_t*>(sum) += core.memory().thrash_bytes(); },
        &bytes);
    return bytes;
}

[[nodiscard]] round sweep_heaps() noexcept {
    const std::uint64_t now_ns = platform::monotonic_ns(); // a coarse one may call the round too early
    const bool is_short = platform::is_memory_short();
    const platform::lock_guard lock(at_work);
    round now{{true, urgent_rounds.begins(is_short, now_ns, is_short ? taken_again_bytes() : 0)}, now_ns};
    visit_cores(&sweep_core, &now);
    if (now.scope.is_urgent) urgent_rounds.ends(now.returned_bytes, taken_again_bytes());
    return now;
}

/// Announces the end of the thread; from now on calls can ask for another. What became free after the last sweep, while
/// nobody could ask, keeps this one.
[[nodiscard]] bool may_end() noexcept {
    const platform::lock_guard lock(at_work);
    // Before the look at what was freed: heap_memory::note_freed(). So it is for a profile that began meanwhile.
    background.store(background_state::none, std::memory_order_seq_cst);
    bool is_worth_it = heap_profile_events::has_intervals();
    visit_cores(
        [](void* worth, heap_core& core) noexcept {
            *static_cast<bool*>(worth) |= core.is_tended() && core.memory().is_worth_sweeping();
        },
        &is_worth_it);
    background_state expected = background_state::none;
    return !is_worth_it || !background.compare_exchange_strong(expected, background_state::running);
}

[[nodiscard]] std::uint64_t first_sleep_ns() noexcept {
    const platform::lock_guard lock(at_work);
    std::uint64_t shortest_ns = longest_sleep_ns;
    visit_cores(
        [](void* shortest, heap_core& core) noexcept {
            auto& least = *static_cast<std::uint64_t*>(shortest);
            if (core.is_tended()) least = std::min(least, core.sweep_every_ns());
        },
        &shortest_ns);
    return shortest_ns;
}

/// Saves the heap profile if an interval is over. Without a lock: saving takes its own.
/// Returns   how long the thread may sleep then.
[[nodiscard]] std::uint64_t end_interval(std::uint64_t sleep_ns) noexcept {
    constexpr std::uint64_t ns_per_ms = 1'000'000;
    if (!heap_profile_events::has_intervals()) return sleep_ns;
    const std::uint64_t left_ms = heap_profile_events::end_interval(platform::unix_ms());
    return left_ms < sleep_ns / ns_per_ms ? (left_ms + 1) * ns_per_ms : sleep_ns;
}

/// Sweeps until there is nothing left to do.
void tend_heaps() noexcept {
    refused_starts.forget(); // here, because the thread may end before its starter goes on
    std::uint64_t sleep_ns = first_sleep_ns();
    do {
        for (int idle = 0; idle < idle_sweeps || heap_profile_events::has_intervals();) {
            if (!platform::sleep_in_background(end_interval(sleep_ns))) return; // and nothing can start another
            const round done = sweep_heaps();
            sleep_ns = done.sleep_ns;
            idle = done.returned_bytes > little_bytes / 16 || done.is_busy ? 0 : idle + 1;
        }
    } while (!may_end());
}

/// The state after an attempt to start the thread that failed.
[[nodiscard]] background_state state_after(platform::background_start start) noexcept {
    if (start != platform::background_start::refused) return background_state::impossible;
    retry_at_ns.store(platform::coarse_ns() + refused_starts.next_wait_ns(), std::memory_order_relaxed);
    return background_state::refused;
}

/// Whether the process is large enough to have free memory that is worth a thread. What became free was counted by its
/// addresses: a program that frees a large buffer which it hardly used has nothing to return. The start and the end of
/// a thread take a sixth of the time of a short program like sort.
[[nodiscard]] bool has_memory_to_return() noexcept {
    {
        const platform::lock_guard lock(at_work);
        visit_cores([](void*, heap_core& core) noexcept { core.forget_freed(); }, nullptr);
    }
    // Read after the counts have begun anew, so that memory which becomes free meanwhile asks again.
    const std::size_t resident = platform::resident_bytes();
    return resident == 0 || resident >= swept_from_bytes; // zero: the system does not say
}

/// Returns   false, after announcing that there is no thread, if one is not worth its start.
[[nodiscard]] bool is_worth_a_thread() noexcept {
    while (!has_memory_to_return() && !heap_profile_events::has_intervals()) {
        if (may_end()) return false;
    }
    return true;
}

/// Requires  background_state::running is the caller's.
void start_thread() noexcept {
    const platform::background_start start = platform::start_background(&tend_heaps);
    // A thread that was started may have ended already, and has then written another state.
    if (start != platform::background_start::started) background.store(state_after(start), std::memory_order_release);
}

}

bool may_retry_background() noexcept { return platform::coarse_ns() >= retry_at_ns.load(std::memory_order_relaxed); }

void start_background() noexcept {
    // A promise of the calling thread not to allocate or wait holds for us too; another call will start the thread.
    if (no_alloc_scope::is_active() || no_wait_scope::is_active()) return;
    background_state expected = background_state::wanted;
    // Acquires what the previous thread has written.
    if (!background.compare_exchange_strong(expected, background_state::running, std::memory_order_acquire)) return;
    const int saved = errno;
    if (option_value(option::heap_background) == 0) {
        background.store(background_state::impossible, std::memory_order_release);
    } else if (is_worth_a_thread()) {
        start_thread();
    }
    errno = saved;
}

bool try_pause_background() noexcept { return at_work.try_lock(); }
void go_on_in_background() noexcept { at_work.unlock(); }

void forget_background() noexcept {
    at_work.abandon();
    platform::forget_background();
    if (platform::is_under_thread_sanitizer()) return background.store(background_state::impossible);
    if (!is_background_running()) return;
    const bool is_wanted = heap_profile_events::has_intervals();
    background.store(is_wanted ? background_state::wanted : background_state::none, std::memory_order_relaxed);
}

}
