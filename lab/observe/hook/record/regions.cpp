// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The tree of regions that a thread is in, how long it stays, and the kernel's figures for the stay.

#include "observe/hook/record/regions.hpp"

#include <algorithm>
#include <cstring>

namespace tenure::lab::hook {

namespace {

// The kernel is asked once per period: 4 µs of 800 µs, or 0.5 %.
constexpr std::uint64_t period_ticks = 2'000'000;
// A stay that began with a question and is at least this long ends with another.
constexpr std::uint64_t long_stay_ticks = 125'000;
// Stays with shorter pauses between them share one entry of the timeline.
constexpr std::uint64_t first_pause_ticks = 4096;

/// Makes room in a full timeline by merging stays in one region with short pauses between them. Totals are kept
/// elsewhere.
void thin_intervals(thread_area& area) noexcept {
    for (std::uint64_t pause = first_pause_ticks; area.intervals > max_intervals / 2; pause *= 2) {
        for (std::uint32_t index = 0; index < area.nodes; ++index) area.node[index].last_interval = 0;
        std::uint32_t kept = 0;
        for (std::uint32_t index = 0; index < area.intervals; ++index) {
            const interval_record each = area.interval[index];
            std::uint64_t& last_of_node = area.node[each.node].last_interval;
            interval_record* const last = last_of_node == 0 ? nullptr : &area.interval[last_of_node - 1];
            if (last != nullptr && each.first - last->last <= pause) {
                last->last = each.last;
            } else {
                area.interval[kept] = each;
                last_of_node = ++kept;
            }
        }
        area.intervals = kept;
    }
}

void list_interval(thread_area& area, std::uint32_t node, std::uint64_t begin, std::uint64_t end) noexcept {
    std::uint64_t& last_of_node = area.node[node].last_interval;
    if (last_of_node != 0) {
        interval_record& last = area.interval[last_of_node - 1];
        if (begin - last.last <= first_pause_ticks) {
            last.last = end;
            return;
        }
    }
    if (area.intervals == max_intervals) thin_intervals(area);
    area.interval[area.intervals] = {begin, end, node, 0};
    area.node[node].last_interval = area.intervals + 1;
    __atomic_store_n(&area.intervals, area.intervals + 1, __ATOMIC_RELEASE);
}

/// Returns the node of `region` inside `parent`; `parent` itself when the tree is full.
[[nodiscard]] std::uint32_t node_inside(thread_area& area, std::uint32_t parent, std::uint32_t region) noexcept {
    for (std::uint32_t index = 1; index < area.nodes; ++index) {
        if (area.node[index].region == region && area.node[index].parent == parent) return index;
    }
    if (area.nodes == max_nodes) {
        ++area.lost_nodes;
        return parent;
    }
    node_record& made = area.node[area.nodes];
    made.parent = parent;
    made.region = region;
    const bool is_scope = head_of_process()->region[region].kind == region_kind::no_wait;
    made.is_no_wait = is_scope ? 1 : area.node[parent].is_no_wait;
    __atomic_store_n(&area.nodes, area.nodes + 1, __ATOMIC_RELEASE);
    return area.nodes - 1;
}

[[nodiscard]] bool is_inside(const thread_area& area, std::uint32_t node, std::uint32_t region) noexcept {
    for (; node != 0; node = area.node[node].parent) {
        if (area.node[node].region == region) return true;
    }
    return false;
}

/// Adds the figures of a period to the node, in proportion to the time inside. The thread was nearly always inside.
void add_figures(node_record& node, const kernel_figures& now, std::uint64_t period) noexcept {
    const auto part = [&](std::uint64_t end, std::uint64_t begin) noexcept {
        if (end < begin) return std::uint64_t{0}; // the kernel's answers are not taken at the same moment
        if (node.period_inside >= period) return end - begin;
        return static_cast<std::uint64_t>(static_cast<double>(end - begin) * static_cast<double>(node.period_inside) /
                                          static_cast<double>(period));
    };
    kernel_figures& sum = node.asked;
    const kernel_figures& then = node.period;
    sum.processor_ns += part(now.processor_ns, then.processor_ns);
    if (now.has_queue != 0 && then.has_queue != 0) sum.queue_ns += part(now.queue_ns, then.queue_ns);
    sum.small_faults += part(now.small_faults, then.small_faults);
    sum.large_faults += part(now.large_faults, then.large_faults);
    sum.voluntary += part(now.voluntary, then.voluntary);
    sum.involuntary += part(now.involuntary, then.involuntary);
    sum.user_us += part(now.user_us, then.user_us);
    sum.system_us += part(now.system_us, then.system_us);
    node.asked_ticks += node.period_inside;
}

void begin_period(node_record& node, const kernel_figures& now) noexcept {
    node.period = now;
    node.period_inside = 0;
    node.period_begin = node.last_asked = ticks();
}

TENURE_NOINLINE void ask_at_begin(node_record& node) noexcept {
    kernel_figures now;
    ask_kernel(now);
    remember_figures(now);
    begin_period(node, now);
}

/// `is_whole`: this is the end of the only stay in the period.
TENURE_NOINLINE void ask_at_end(node_record& node, bool is_whole) noexcept {
    kernel_figures now;
    ask_kernel(now);
    remember_figures(now);
    const std::uint64_t period = is_whole ? node.period_inside : ticks() - node.period_begin;
    if (node.period_inside * 10 >= period * 9) {
        add_figures(node, now, period);
        begin_period(node, now);
    } else { // too much time outside: the next period begins with a later stay
        node.last_asked = ticks();
        node.period_begin = 0;
    }
}

/// At the begin of a stay: drops a period that is no longer useful, and begins a new one when it is time.
void look_at_period(node_record& node, std::uint64_t now) noexcept {
    // Figures from the end of the last stay are useless when much else has happened since.
    const bool is_stale = node.period_inside == 0 && now - node.period_begin > long_stay_ticks;
    if (node.period_begin != 0 && !is_stale && now - node.period_begin <= 2 * period_ticks) return;
    node.period_begin = 0;
    if (now - node.last_asked > period_ticks) ask_at_begin(node);
}

/// The number of bytes of a name that fit into `room` without cutting a UTF-8 character.
[[nodiscard]] std::size_t cut(const char* name, std::size_t bytes, std::size_t room) noexcept {
    if (name == nullptr || bytes <= room) return name == nullptr ? 0 : bytes;
    constexpr unsigned char continues = 0x80, mask = 0xC0;
    std::size_t end = room;
    while (end > 0 && (static_cast<unsigned char>(name[end]) & mask) == continues) --end;
    return end;
}

[[nodiscard]] std::uint64_t hash_of(region_kind kind, std::uintptr_t key, const char* name,
                                    std::size_t bytes) noexcept {
    std::uint64_t hash = static_cast<std::uint64_t>(kind) * 0x9E37'79B9'7F4A'7C15 ^ key;
    for (std::size_t index = 0; index < bytes; ++index) {
        hash = (hash ^ static_cast<unsigned char>(name[index])) * 0x0000'0100'0000'01B3;
    }
    return hash ^ (hash >> 29U);
}

}

std::uint32_t region_of(region_kind kind, std::uintptr_t key, std::uintptr_t code, const char* name,
                        std::size_t name_bytes) noexcept {
    process_head* const process = head_of_process();
    if (process == nullptr) return no_region;
    const std::size_t length =
        cut(name, name_bytes, kind == region_kind::mark ? max_mark_bytes : sizeof process->region[0].name - 1);
    const std::uint64_t first = hash_of(kind, key, name, length);
    for (std::uint32_t step = 0; step < max_regions; ++step) {
        const auto index = static_cast<std::uint32_t>((first + step) % max_regions);
        region_record& region = process->region[index];
        std::uint32_t taken = __atomic_load_n(&region.taken, __ATOMIC_ACQUIRE);
        if (taken == 0 &&
            __atomic_compare_exchange_n(&region.taken, &taken, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
            region.kind = kind;
            region.key = key;
            region.code = code == 0 ? 0 : keep_address(code);
            region.name_bytes = static_cast<std::uint32_t>(length);
            if (length > 0) std::memcpy(region.name, name, length);
            __atomic_store_n(&region.taken, 2, __ATOMIC_RELEASE);
            return index;
        }
        while (__atomic_load_n(&region.taken, __ATOMIC_ACQUIRE) == 1) __builtin_ia32_pause(); // nearly done
        if (region.kind == kind && region.key == key && region.name_bytes == length &&
            (length == 0 || std::memcmp(region.name, name, length) == 0)) {
            return index;
        }
    }
    __atomic_fetch_add(&process->lost_regions, 1, __ATOMIC_RELAXED);
    return no_region;
}

// A signal handler may enter and leave regions in the middle of enter() and leave(). It uses entries of `open` above
// the one that is being written, because depth is updated first.
void enter(std::uint32_t region, std::uint64_t since) noexcept {
    thread_state& thread = this_thread;
    const std::uint32_t active = thread.active, depth = thread.depth;
    thread.active = 0; // do not record the hook's own calls
    thread.depth = depth + 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    thread_area* const area = region == no_region ? nullptr : area_of_thread();
    if (depth < max_open) {
        open_region& open = thread.open[depth];
        open.region = region;
        open.kind = region == no_region ? region_kind::none : head_of_process()->region[region].kind;
        open.node = thread.node;
        open.is_counted = area != nullptr && !is_inside(*area, thread.node, region);
        if (open.is_counted) {
            const std::uint32_t node = node_inside(*area, thread.node, region);
            open.is_counted = node != thread.node;
            thread.node = node;
            look_at_period(area->node[node], ticks());
            open.begin = ticks();
            node_record& record = area->node[node];
            ++record.entries;
            record.open_since = open.begin;
            if (since != 0 && open.begin > since) record.late_ticks += open.begin - since;
            area->latest = open.begin;
        }
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    thread.active = active + 1;
}

void leave() noexcept {
    thread_state& thread = this_thread;
    if (thread.depth == 0) return;
    const std::uint32_t active = thread.active, depth = thread.depth - 1;
    thread.active = 0;
    thread_area* const area = thread.area;
    if (depth < max_open) {
        const open_region& open = thread.open[depth];
        if (open.is_counted && area != nullptr) {
            const std::uint64_t now = ticks();
            node_record& record = area->node[thread.node];
            const std::uint64_t spent = now - open.begin;
            record.inside_ticks += spent;
            record.open_since = 0;
            if (spent > record.longest_ticks) record.longest_ticks = spent;
            if (record.period_begin != 0) {
                const std::uint64_t since = std::max(open.begin, record.period_begin);
                record.period_inside += now > since ? now - since : 0;
                // Little else has happened between the question and the stay, so the answer is the stay's.
                const std::uint64_t before = open.begin > record.period_begin ? open.begin - record.period_begin : 0;
                const bool is_whole = record.period_inside == spent && spent >= long_stay_ticks && before * 20 <= spent;
                if (is_whole || now - record.period_begin >= period_ticks) ask_at_end(record, is_whole);
            }
            list_interval(*area, thread.node, open.begin, now);
            area->latest = now;
            area->waiting_since = 0; // a jump has left the wait
        }
        thread.node = open.node;
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    thread.depth = depth;
    thread.active = active > 0 ? active - 1 : 0;
}

void leave_at(std::uint32_t depth) noexcept {
    thread_state& thread = this_thread;
    if (thread.depth > max_open) return leave(); // regions past max_open are not stored
    std::uint32_t reopened[max_open];
    std::uint32_t count = 0;
    while (thread.depth > depth + 1) {
        const std::uint32_t inner = thread.depth - 1;
        reopened[count++] = thread.open[inner].region;
        leave();
    }
    if (thread.depth == depth + 1) leave();
    while (count > 0) {
        enter(reopened[--count], 0);
        if (thread.area != nullptr && thread.open[thread.depth - 1].is_counted) {
            --thread.area->node[thread.node].entries; // not a new stay
        }
    }
}

void ask_meanwhile(thread_area& area, std::uint64_t now) noexcept {
    constexpr std::uint64_t seldom = 100 * period_ticks;
    for (std::uint32_t index = 0; index < std::min(this_thread.depth, max_open); ++index) {
        const open_region& open = this_thread.open[index];
        const std::uint32_t inner =
            index + 1 < std::min(this_thread.depth, max_open) ? this_thread.open[index + 1].node : this_thread.node;
        node_record& node = area.node[inner];
        if (!open.is_counted || node.period_begin == 0 || now - node.period_begin < seldom) continue;
        node.period_inside += now - std::max(open.begin, node.period_begin);
        ask_at_end(node, false);
    }
}

bool enter_if_outside(std::uint32_t region) noexcept {
    const thread_area* const area = this_thread.area;
    if (region == no_region || (area != nullptr && is_inside(*area, this_thread.node, region))) return false;
    enter(region, 0);
    return true;
}

void leave_if(region_kind kind) noexcept {
    const std::uint32_t depth = this_thread.depth;
    if (depth == 0 || (depth <= max_open && this_thread.open[depth - 1].kind != kind)) return;
    leave();
}

void note_opened(const opened_region& opened) noexcept {
    thread_area* const area = opened.region == no_region ? nullptr : area_of_thread();
    if (area == nullptr || is_inside(*area, this_thread.node, opened.region)) return;
    node_record& node = area->node[node_inside(*area, this_thread.node, opened.region)];
    node.open_instance = opened.begin;
}

void note_closed(const opened_region& opened) noexcept {
    thread_area* const area = opened.region == no_region ? nullptr : area_of_thread();
    if (area == nullptr || is_inside(*area, this_thread.node, opened.region)) return;
    const std::uint64_t now = ticks(), spent = now - opened.begin;
    node_record& node = area->node[node_inside(*area, this_thread.node, opened.region)];
    node.open_instance = 0;
    ++node.instances;
    node.span_ticks += spent;
    node.total_ticks += spent * opened.threads;
    if (opened.threads > node.max_threads) node.max_threads = opened.threads;
    area->latest = now;
}

void note_idle(std::uint64_t begin, std::uint64_t end) noexcept {
    if (this_thread.area == nullptr) return;
    this_thread.area->node[this_thread.node].idle_ticks += end - begin;
    this_thread.area->latest = end;
}

}
