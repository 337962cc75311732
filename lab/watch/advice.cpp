// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "watch/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "watch/blame.hpp"
#include "watch/findings.hpp"

namespace tenure::lab {

namespace {

using hook::call_group;

constexpr double noticeable = 0.02; // of a region's time: below it nothing is worth a change

std::string blamed(const watched_site& site) {
    if (site.stack.empty()) return "an unknown place";
    const named_frame& frame = site.stack[site.blamed];
    std::string const place = shown_place(frame);
    return place.empty() ? readable(shown(frame)) : fmt::format("{} ({})", readable(shown(frame)), place);
}

const watched_site* dearest(const watched_region& region, bool (*is_of_kind)(const watched_site&)) {
    const watched_site* found = nullptr;
    for (const watched_site& each : region.sites) {
        if (is_of_kind(each) && (found == nullptr || cost_of(each) > cost_of(*found))) found = &each;
    }
    return found;
}

/// What a thread waits for decides what there is to do.
std::string advice_for_wait(hook::call call) {
    switch (call) {
    case hook::call::pthread_join:
    case hook::call::pthread_timedjoin_np:
    case hook::call::pthread_clockjoin_np:
    case hook::call::thrd_join: return "It waits for threads that have work left: give it a share of it.";
    case hook::call::pthread_cond_wait:
    case hook::call::pthread_cond_timedwait:
    case hook::call::pthread_cond_clockwait:
    case hook::call::cnd_wait:
    case hook::call::cnd_timedwait:
    case hook::call::sem_wait:
    case hook::call::sem_timedwait:
    case hook::call::sem_clockwait:
        return "It waits to be told: for work, if it serves a queue, which is no loss; otherwise hand the work over in "
               "larger pieces, or earlier.";
    case hook::call::pthread_barrier_wait:
        return "The threads wait for the slowest: make their pieces of work more even.";
    case hook::call::futex:
        return "It is a lock that is not of the C library, or waits to be told (atomic::wait, latch, semaphore): hold "
               "the lock shorter, or hand the work over earlier.";
    case hook::call::guard_acquire: return "One thread makes a static of a function, the others wait: make it before.";
    default:
        return "Give each thread its own copy of what the lock guards and join the copies at the end, or hold it "
               "shorter.";
    }
}

}

std::string advice_for(const watched_site& site) {
    call_group const group = hook::info(site.call).group;
    switch (group) {
    case call_group::allocation:
    case call_group::release:
        if (site.is_tenures) {
            return "It is memory of Tenure's: take it before the region begins, or give the thread a temp_scope.";
        }
        return site.waits > 0
                   ? "Take the memory before the region begins, or from something of the thread's own: temp_scope "
                     "(lifetime/temp.hpp), a pool, or an arena; the drop-in malloc (tenure run) has no lock that "
                     "threads share on this way."
                   : "Take the memory before the region begins: temp_scope (lifetime/temp.hpp) for what dies within "
                     "it, pool (pool/pool.hpp) for objects of one type, an arena for the rest.";
    case call_group::mapping:
        return "Each such call holds the address space for all threads: keep the memory (heap_purge_delay_ms, "
               "arena::clear) "
               "instead of mapping it anew.";
    case call_group::format:
        return "Format with text_writer (text/text_writer.hpp), which allocates nothing and takes no lock.";
    case call_group::stream:
        return "All threads share the file's lock: let each write to memory of its own and write that out once, as "
               "paged_writer (text/paged_writer.hpp) does.";
    case call_group::library:
        return "The C library has one lock for all threads there: call it before the region, or use a function that "
               "keeps no state.";
    case call_group::sleep: return "The thread gives its time away by itself.";
    case call_group::input: return "Read and write outside of the region, or from a thread that does nothing else.";
    case call_group::runtime:
        return "The threads wait for each other: make the pieces of work more even, or fewer of them wait.";
    case call_group::lock: return advice_for_wait(site.call);
    case call_group::control: break;
    }
    return {};
}

namespace {

/// Of a promise not to allocate: who broke it, whatever that cost.
std::string broken_promise(const watched_region& region) {
    if (region.kind != hook::region_kind::no_alloc) return {};
    const watched_site* const first =
        dearest(region, [](const watched_site& each) { return hook::info(each.call).group == call_group::allocation; });
    if (first == nullptr) return {};
    return fmt::format("The promise not to allocate is broken {}, most of all in {}.",
                       region.allocations == 1 ? "once" : fmt::format("{} times", region.allocations), blamed(*first));
}

}

std::string advice_for(const watched_region& region) {
    if (std::string const broken = broken_promise(region); !broken.empty()) return broken;
    const region_time& time = region.time;
    if (time.total_ns <= 0) return {};
    std::array<std::pair<double, int>, 6> parts{{{time.waiting_ns, 0},
                                                 {time.allocation_ns + time.mapping_ns, 1},
                                                 {time.faults_ns, 2},
                                                 {time.idle_ns, 3},
                                                 {time.queued_ns, 4},
                                                 {time.unexplained_ns, 5}}};
    auto const& [most, kind] = *std::max_element(parts.begin(), parts.end());
    double const share = most / time.total_ns;
    if (share < noticeable)
        return "Nothing here is lost to allocation, waiting or the kernel: what is left is the program's own work.";
    std::string const percent = fmt::format("{:.0f} %", 100 * share);
    switch (kind) {
    case 0: {
        const watched_site* const site = dearest(region, [](const watched_site& each) { return each.waits > 0; });
        if (site == nullptr) break;
        return fmt::format("{} of the time is waiting; most of it in {}. {}", percent, blamed(*site),
                           advice_for(*site));
    }
    case 1: {
        const watched_site* const site = dearest(region, [](const watched_site& each) {
            call_group const group = hook::info(each.call).group;
            return group == call_group::allocation || group == call_group::release || group == call_group::mapping;
        });
        if (site == nullptr) break;
        return fmt::format("{} of the time is allocation; most of it in {}. {}", percent, blamed(*site),
                           advice_for(*site));
    }
    case 2:
        return fmt::format("{} of the time is page faults: memory that is touched for the first time. Touch it before "
                           "the region begins, keep it for the next time, or ask for huge pages.",
                           percent);
    case 3:
        return fmt::format("{} of the time threads have nothing to do{}: the work is spread unevenly, or the region is "
                           "too short for its threads. Smaller pieces, handed out as threads come free, would even it "
                           "out.",
                           percent,
                           time.waiting_ns + time.allocation_ns + time.mapping_ns < noticeable * time.total_ns
                               ? ", neither allocation nor a lock is to blame"
                               : "");
    case 4:
        return fmt::format(
            "{} of the time threads could run and have no processor: there are more of them, or of other "
            "programs', than processors.",
            percent);
    case 5:
        return fmt::format(
            "{} of the time threads sleep outside of every call that is stood in for (--list): in other functions "
            "of the C library, in system calls without it, or for paging. `strace -f -c` or `perf trace -s` would "
            "name them.",
            percent);
    default: break;
    }
    return {};
}

}
