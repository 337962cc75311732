// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Counts calls in the thread's own table: one entry for each combination of call, stack and region.

#include "observe/hook/record/recorder.hpp"

#include <algorithm>

#include "observe/hook/record/regions.hpp"
#include "observe/hook/record/stacks.hpp"

namespace tenure::lab::hook {

constinit settings chosen;
constinit thread_local thread_state this_thread{};

namespace {

constexpr auto shared_sites = static_cast<std::uint32_t>(call_count); // at the table's end, one for each call

/// The node that a call counts for. A permitted call does not count for a no-allocation or no-wait scope, but for the
/// region around it.
[[nodiscard]] std::uint32_t node_of_call(const thread_area& area) noexcept {
    std::uint32_t node = this_thread.node;
    if (this_thread.allowed == 0) return node;
    const process_head* const process = head_of_process();
    std::uint32_t outside = node; // outside every such scope on the path, including those with a mark inside
    for (; node != 0; node = area.node[node].parent) {
        const region_kind kind = process->region[area.node[node].region].kind;
        if (kind == region_kind::no_alloc || kind == region_kind::no_wait) outside = area.node[node].parent;
    }
    return outside;
}

[[nodiscard]] inline std::uint32_t what_of(call which, std::uint32_t node) noexcept {
    return (this_thread.generation << 24U) | (node << 8U) | static_cast<std::uint32_t>(which);
}

[[nodiscard]] site_record& shared_site(thread_area& area, call which) noexcept {
    return area.site[max_sites - shared_sites + static_cast<std::uint32_t>(which)];
}

/// Keeps the hook from recording its own calls.
class silence {
public:
    silence() noexcept : active_(this_thread.active) { this_thread.active = 0; }
    ~silence() { this_thread.active = active_; }
    silence(const silence&) = delete;
    silence& operator=(const silence&) = delete;

private:
    std::uint32_t active_;
};

void begin_site(site_record& site, call which, std::uint32_t node, std::uint32_t stack) noexcept {
    site.stack = stack;
    site.node = static_cast<std::uint16_t>(node);
    site.call = static_cast<std::uint8_t>(which);
    __atomic_store_n(&site.is_taken, std::uint8_t{1}, __ATOMIC_RELEASE);
}

/// Returns the entry of a call, stack and region. When the table is full, returns the call's shared entry, which has no
/// stack and no region.
[[nodiscard]] site_record& place_site(thread_area& area, call which, std::uint32_t node, std::uint32_t stack) noexcept {
    std::uint16_t* const row = site_row(area, which, node, stack);
    if (row != nullptr && *row != 0) return area.site[*row - 1U];
    if (row != nullptr && area.sites < max_sites - shared_sites) {
        site_record& site = area.site[area.sites];
        begin_site(site, which, node, stack);
        __atomic_store_n(&area.sites, area.sites + 1, __ATOMIC_RELEASE);
        *row = static_cast<std::uint16_t>(area.sites);
        return site;
    }
    ++area.lost_sites;
    site_record& site = shared_site(area, which);
    if (site.is_taken == 0) begin_site(site, which, 0, 0);
    return site;
}

/// Finds the entry of a call whose stack is new or was forgotten. Returns   nullptr when the thread has no area.
TENURE_NOINLINE site_record* find_site(call which, place from) noexcept {
    const silence quiet;
    thread_area* const area = area_of_thread();
    if (area == nullptr) return nullptr;
    const std::uint32_t node = node_of_call(*area), what = what_of(which, node);
    if (site_record* const known = known_site(*area, from, what)) return known;
    kernel_figures before, after;
    ask_kernel_quickly(before);
    bool is_exact = false;
    const std::uint32_t stack = stack_of(*area, from, is_exact);
    site_record& site = place_site(*area, which, node, stack);
    if (is_exact) know_site(from, what, stack, site);
    ask_kernel_quickly(after);
    this_thread.own_faults += after.small_faults - before.small_faults; // page faults of the hook's own tables
    return &site;
}

[[nodiscard]] inline site_record* site_of(call which, place from) noexcept {
    const thread_state& thread = this_thread;
    if (thread.area != nullptr && thread.allowed == 0) [[likely]] {
        site_record* const known = known_site(*thread.area, from, what_of(which, thread.node));
        if (known != nullptr) [[likely]]
            return known;
    }
    return find_site(which, from);
}

void count(site_record& site, std::uint64_t spent, std::uint64_t bytes) noexcept {
    ++site.count;
    site.bytes += bytes;
    site.ticks += spent;
    if (spent > site.longest_ticks) site.longest_ticks = spent;
}

/// Makes room in a full list by dropping the shorter waits.
void thin_waits(thread_area& area) noexcept {
    constexpr std::uint64_t first_threshold = 1024;
    while (area.waits > max_waits / 2) {
        area.wait_threshold_ticks = std::max(first_threshold, 2 * area.wait_threshold_ticks);
        std::uint32_t kept = 0;
        for (std::uint32_t index = 0; index < area.waits; ++index) {
            if (area.wait[index].ticks >= area.wait_threshold_ticks) area.wait[kept++] = area.wait[index];
        }
        area.thinned_waits += area.waits - kept;
        area.waits = kept;
    }
}

void list_wait(thread_area& area, const site_record& site, std::uint64_t begin, std::uint64_t spent,
               std::uint32_t holder) noexcept {
    if (spent < area.wait_threshold_ticks) {
        ++area.thinned_waits;
        return;
    }
    if (area.waits == max_waits) thin_waits(area);
    area.wait[area.waits] = {begin, spent, static_cast<std::uint32_t>(&site - area.site), holder};
    __atomic_store_n(&area.waits, area.waits + 1, __ATOMIC_RELEASE);
}

void count_wait(thread_area& area, site_record& site, std::uint64_t begin, std::uint64_t spent,
                std::uint32_t holder) noexcept {
    ++site.waits;
    site.wait_ticks += spent;
    if (spent > site.longest_wait_ticks) site.longest_wait_ticks = spent;
    this_thread.waited += spent;
    list_wait(area, site, begin, spent, holder);
}

/// Time since the last remember_moment() in which the thread neither ran nor was in a recorded wait.
[[nodiscard]] std::uint64_t time_away() noexcept {
    const std::uint64_t then = this_thread.known_ticks, ran_then = this_thread.known_processor_ns;
    const std::uint64_t waited = this_thread.waited - this_thread.known_waited;
    remember_moment();
    const std::uint64_t ran = (this_thread.known_processor_ns - ran_then) * chosen.ticks_per_us / 1000;
    const std::uint64_t wall = this_thread.known_ticks - then, seen = ran + waited;
    return then == 0 || wall <= seen ? 0 : wall - seen;
}

/// Whether the thread slept in this call, knowing that it slept since the last remember_moment(). If it did, the time
/// away is at most the call's time. A sleep elsewhere, in a system call that the hook does not see, makes it longer. So
/// does preemption; then the hook claims nothing.
[[nodiscard]] bool was_here(std::uint64_t away, std::uint64_t spent) noexcept {
    return away >= spent / 2 && away <= spent + spent / 4;
}

/// Examines a slow call that is not known to wait: did the thread sleep, or did it touch new pages?
TENURE_NOINLINE void look_into(thread_area& area, site_record& site, std::uint64_t begin,
                               std::uint64_t spent) noexcept {
    const silence quiet;
    kernel_figures now;
    ask_kernel_quickly(now);
    const bool has_slept = now.voluntary > this_thread.voluntary;
    const std::uint64_t faults = now.small_faults + now.large_faults;
    const std::uint64_t touched = faults - std::min(this_thread.faults, faults);
    const bool was_interrupted = now.involuntary > this_thread.involuntary;
    remember_figures(now);
    const std::uint64_t away = time_away();
    if (has_slept && was_here(away, spent) && !was_interrupted) {
        count_wait(area, site, begin, spent, 0);
        this_thread.known_waited = this_thread.waited;
        return;
    }
    ++site.slow;
    site.slow_ticks += spent;
    site.slow_faults += touched;
    if (!was_interrupted) return;
    ++site.interrupted;
    site.interrupted_ticks += std::min(away, spent);
}

}

void remember_moment() noexcept {
    this_thread.known_ticks = ticks();
    this_thread.known_processor_ns = processor_ns();
    this_thread.known_waited = this_thread.waited;
}

void note_unseen_entry() noexcept {
    if (process_head* const process = head_of_process()) {
        __atomic_fetch_add(&process->lost_entries, 1, __ATOMIC_RELAXED);
    }
}

void note_cancelled() noexcept {
    const silence quiet;
    thread_area* const area = this_thread.area;
    if (area == nullptr || area->waiting_since == 0 || area->waiting_call >= call_count) return;
    site_record& site = place_site(*area, static_cast<call>(area->waiting_call), area->waiting_node, 0);
    const std::uint64_t begin = area->waiting_since, spent = ticks() - begin;
    area->waiting_since = 0;
    count(site, spent, 0);
    count_wait(*area, site, begin, spent, 0);
}

void note_call(call which, place from, std::uint64_t begin, std::uint64_t end, std::uint64_t bytes) noexcept {
    site_record* const site = site_of(which, from);
    if (site == nullptr) return;
    const std::uint64_t spent = end - begin;
    count(*site, spent, bytes);
    thread_area& area = *this_thread.area;
    area.latest = end;
    area.waiting_since = 0; // a jump has left the wait
    if (spent >= chosen.slow_ticks) [[unlikely]]
        look_into(area, *site, begin, spent);
}

TENURE_NOINLINE void note_promised_lock(call which, const place& from) noexcept {
    node_record& node = this_thread.area->node[node_of_call(*this_thread.area)];
    ++node.quick_locks;
    if (node.is_no_wait == 0) return;
    const std::uint64_t now = ticks();
    note_call(which, from, now, now, 0);
}

void note_wait(call which, place from, std::uint64_t begin, std::uint64_t end, const void* object,
               std::uint32_t holder) noexcept {
    const silence quiet;
    site_record* const site = site_of(which, from);
    if (site == nullptr) return;
    thread_area& area = *this_thread.area;
    const std::uint64_t spent = end - begin;
    count(*site, spent, 0);
    area.waiting_since = 0;
    if (object != nullptr && site->waits == 0) site->object = keep_address(reinterpret_cast<std::uintptr_t>(object));
    count_wait(area, *site, begin, spent, holder);
    if (spent >= chosen.ticks_per_us) { // long enough to have slept
        kernel_figures now;             // a later call must not be blamed for this sleep
        ask_kernel_quickly(now);
        remember_figures(now);
        remember_moment();
        ask_meanwhile(area, end);
    }
    area.latest = end;
}

void note_input(call which, place from, std::uint64_t begin, std::uint64_t end) noexcept {
    note_no_wait();
    if (end - begin >= chosen.slow_ticks) {
        kernel_figures now;
        ask_kernel_quickly(now);
        if (now.voluntary > this_thread.voluntary) return note_wait(which, from, begin, end, nullptr, 0);
    }
    note_call(which, from, begin, end, 0);
}

void note_null_free(call which, place from, std::uint64_t begin, std::uint64_t end) noexcept {
    site_record* const site = site_of(which, from);
    if (site == nullptr) return;
    count(*site, end - begin, 0);
    ++site->null_frees;
    this_thread.area->latest = end;
}

}
