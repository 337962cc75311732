// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/watch/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "observe/watch/blame.hpp"
#include "observe/watch/findings.hpp"

namespace tenure::lab {

namespace {

using hook::call_group;

constexpr double noticeable = 0.02; // share of a region's time; smaller losses are not worth a change

std::string blamed(const watched_site& site) {
    if (site.stack.empty()) return "an unknown place";
    const named_frame& frame = site.stack[site.blamed];
    const std::string place = shown_place(frame);
    return place.empty() ? readable(shown(frame)) : fmt::format("{} ({})", readable(shown(frame)), place);
}

const watched_site* dearest(const watched_region& region, bool (*is_of_kind)(const watched_site&)) {
    const watched_site* found = nullptr;
    for (const watched_site& each : region.sites) {
        if (is_of_kind(each) && (found == nullptr || cost_of(each) > cost_of(*found))) found = &each;
    }
    return found;
}

/// The kind of wait decides the advice.
std::string advice_for_wait(hook::call call) {
    switch (call) {
    case hook::call::pthread_join:
    case hook::call::pthread_timedjoin_np:
    case hook::call::pthread_clockjoin_np:
    case hook::call::thrd_join: return "It waits for threads that still have work: give it a share of that work.";
    case hook::call::pthread_cond_wait:
    case hook::call::pthread_cond_timedwait:
    case hook::call::pthread_cond_clockwait:
    case hook::call::cnd_wait:
    case hook::call::cnd_timedwait:
    case hook::call::sem_wait:
    case hook::call::sem_timedwait:
    case hook::call::sem_clockwait:
        return "It waits for a signal. If it serves a queue, waiting for work is no loss; otherwise hand the work over "
               "in larger pieces, or earlier.";
    case hook::call::pthread_barrier_wait: return "The threads wait for the slowest one: divide the work more evenly.";
    case hook::call::futex:
        return "It is a lock from outside the C library, or a wait for a signal (atomic::wait, latch, semaphore): hold "
               "the lock for a shorter time, or hand the work over earlier.";
    case hook::call::guard_acquire:
        return "One thread initialises a static variable of a function and the others wait: initialise it earlier.";
    default:
        return "Give each thread its own copy of the data that the lock guards and merge the copies at the end, or "
               "hold the lock for a shorter time.";
    }
}

}

std::string advice_for(const watched_site& site) {
    const call_group group = hook::info(site.call).group;
    switch (group) {
    case call_group::allocation:
    case call_group::release:
        if (site.is_tenures) {
            return "This is memory from Tenure: allocate it before the region begins, or give the thread a temp_scope.";
        }
        return site.waits > 0
                   ? "Allocate the memory before the region begins, or from an allocator that only this thread uses: "
                     "temp_scope (lifetime/temp.hpp), a pool, or an arena. The drop-in malloc (tenure run) has no lock "
                     "that threads share on this path."
                   : "Allocate the memory before the region begins: temp_scope (lifetime/temp.hpp) for data that dies "
                     "within the region, pool (pool/pool.hpp) for objects of one type, an arena for the rest.";
    case call_group::mapping:
        return "Each such call locks the address space for all threads: keep the memory (heap_purge_delay_ms, "
               "arena::clear) instead of mapping it again.";
    case call_group::format:
        return "Format with text_writer (text/text_writer.hpp), which allocates nothing and takes no lock.";
    case call_group::stream:
        return "All threads share the file's lock: let each thread write to its own memory and write that out once, as "
               "paged_writer (text/paged_writer.hpp) does.";
    case call_group::library:
        return "The C library uses one lock for all threads here: call the function before the region begins, or use "
               "one that keeps no state.";
    case call_group::sleep: return "The thread sleeps or yields at its own request.";
    case call_group::input: return "Read and write outside of the region, or on a thread that does nothing else.";
    case call_group::runtime:
        return "The threads wait for each other: divide the work more evenly, or let fewer threads wait.";
    case call_group::lock: return advice_for_wait(site.call);
    case call_group::control: break;
    }
    return {};
}

namespace {

/// For a no-wait scope: what was done in it, and the place that cost most, or counts most when none cost anything.
std::string broken_wait_promise(const watched_region& region) {
    const watched_site* first = nullptr;
    std::uint64_t mappings = 0, locks = 0;
    for (const watched_site& each : region.sites) { // sorted
        if (!breaks_no_wait(each)) continue;
        if (first == nullptr) first = &each;
        const call_group group = hook::info(each.call).group;
        if (group == call_group::mapping) mappings += each.count;
        if (group != call_group::allocation && group != call_group::release && group != call_group::mapping)
            locks += is_lock(each) ? each.count : each.waits;
    }
    if (first == nullptr) return {};
    std::string broken;
    const auto add = [&broken](std::uint64_t count, std::string_view one, std::string_view several) {
        if (count == 0) return;
        broken += fmt::format("{}{} {}", broken.empty() ? "" : ", ", count, count == 1 ? one : several);
    };
    add(region.allocations, "allocation", "allocations");
    add(region.releases, "free", "frees");
    add(mappings, "mapping", "mappings");
    add(locks, "lock or wait", "locks or waits");
    return fmt::format("The promise not to wait is broken by {}; the most expensive place is {}.", broken,
                       blamed(*first));
}

/// For a no-allocation scope: the place that allocated, whatever it cost.
std::string broken_promise(const watched_region& region) {
    if (region.kind == hook::region_kind::no_wait) return broken_wait_promise(region);
    if (region.kind != hook::region_kind::no_alloc) return {};
    const watched_site* const first =
        dearest(region, [](const watched_site& each) { return hook::info(each.call).group == call_group::allocation; });
    if (first == nullptr) return {};
    return fmt::format("The promise not to allocate is broken {}; the most expensive place is {}.",
                       region.allocations == 1 ? "once" : fmt::format("{} times", region.allocations), blamed(*first));
}

}

std::string advice_for(const watched_region& region) {
    if (const std::string broken = broken_promise(region); !broken.empty()) return broken;
    const region_time& time = region.time;
    if (time.total_ns <= 0) return {};
    std::array<std::pair<double, int>, 6> parts{{{time.waiting_ns, 0},
                                                 {time.allocation_ns + time.mapping_ns, 1},
                                                 {time.faults_ns, 2},
                                                 {time.idle_ns, 3},
                                                 {time.queued_ns, 4},
                                                 {time.unexplained_ns, 5}}};
    const auto& [most, kind] = *std::max_element(parts.begin(), parts.end());
    const double share = most / time.total_ns;
    if (share < noticeable)
        return "No time is lost to allocation, waiting or the kernel: the rest is the program's own work.";
    const std::string percent = fmt::format("{:.0f} %", 100 * share);
    switch (kind) {
    case 0: {
        const watched_site* const site = dearest(region, [](const watched_site& each) { return each.waits > 0; });
        if (site == nullptr) break;
        return fmt::format("{} of the time is waiting; most of it in {}. {}", percent, blamed(*site),
                           advice_for(*site));
    }
    case 1: {
        const watched_site* const site = dearest(region, [](const watched_site& each) {
            const call_group group = hook::info(each.call).group;
            return group == call_group::allocation || group == call_group::release || group == call_group::mapping;
        });
        if (site == nullptr) break;
        return fmt::format("{} of the time is allocation; most of it in {}. {}", percent, blamed(*site),
                           advice_for(*site));
    }
    case 2:
        return fmt::format("{} of the time is page faults: memory is touched for the first time. Touch it before the "
                           "region begins, keep it for the next time, or ask for huge pages.",
                           percent);
    case 3:
        return fmt::format(
            "{} of the time threads have nothing to do{}: the work is divided unevenly, or the region is too short for "
            "its threads. Divide the work into smaller pieces and assign them as threads become free.",
            percent,
            time.waiting_ns + time.allocation_ns + time.mapping_ns < noticeable * time.total_ns
                ? ", and neither allocation nor a lock is the cause"
                : "");
    case 4:
        return fmt::format("{} of the time threads could run but have no processor: this program and others have more "
                           "running threads than there are processors.",
                           percent);
    case 5:
        return fmt::format(
            "{} of the time threads sleep outside of every intercepted call (--list): in other functions of the C "
            "library, in direct system calls, or because of paging. `strace -f -c` or `perf trace -s` can name them.",
            percent);
    default: break;
    }
    return {};
}

}
