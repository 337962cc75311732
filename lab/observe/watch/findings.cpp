// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Adds up recordings. A region's own time comes from the nodes of that region; the calls in it come from those nodes
/// and all nodes below them.

#include "observe/watch/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <string_view>
#include <tuple>

#include "observe/watch/advice.hpp"
#include "observe/watch/blame.hpp"
#include "report/letters.hpp"

namespace tenure::lab {

namespace {

using hook::call_group;
using hook::region_kind;

// With a smaller share of a region's time sampled, the kernel's figures are not scaled to the whole.
constexpr double enough_asked = 0.1;

bool is_allocation(call_group group) { return group == call_group::allocation || group == call_group::release; }
bool is_wait_group(call_group group) {
    return group == call_group::lock || group == call_group::sleep || group == call_group::input ||
           group == call_group::runtime;
}

/// A text from a recording. The program wrote it and it goes to terminals, so it is made printable.
template<std::size_t Room>
std::string text_of(const char (&text)[Room]) {
    return printable({text, ::strnlen(text, Room)});
}
std::string name_of(const hook::region_record& region) { return text_of(region.name); }

/// Whether threads enter and leave the region independently, so that its begin is not recorded.
bool is_crowd(region_kind kind) {
    return kind == region_kind::thread || kind == region_kind::mark || kind == region_kind::process;
}

struct stay {
    std::uint64_t first, last;
};

/// Adds up the periods in which at least one thread was inside. `total_ticks` multiplies each period by its maximum
/// number of threads.
struct crowd {
    double total_ticks = 0, span_ticks = 0;
    std::uint64_t instances = 0, most = 0;
};
crowd crowd_of(const std::vector<stay>& stays) {
    std::vector<std::pair<std::uint64_t, int>> turns;
    for (const stay& each : stays) {
        if (each.last <= each.first) continue; // without length: its end would sort before its begin
        turns.emplace_back(each.first, 1);
        turns.emplace_back(each.last, -1);
    }
    std::sort(turns.begin(), turns.end());
    crowd found;
    std::uint64_t inside = 0, most = 0, begin = 0;
    for (const auto& [at, change] : turns) {
        if (inside == 0) begin = at;
        inside = change > 0 ? inside + 1 : inside - 1;
        most = std::max(most, inside);
        if (inside > 0) continue;
        found.span_ticks += static_cast<double>(at - begin);
        found.total_ticks += static_cast<double>(at - begin) * static_cast<double>(most);
        ++found.instances;
        found.most = std::max(found.most, most);
        most = 0;
    }
    return found;
}

class region_sum {
public:
    region_sum(const recording& from, std::uint32_t region, symbols& names)
        : from_(from), region_(region), names_(names) {}

    watched_region add_up() {
        const hook::region_record& record = from_.process().region[region_];
        out_.kind = record.kind;
        out_.process = from_.process().process;
        name(record);
        for (const hook::thread_area* thread : from_.threads()) add_thread(*thread);
        finish();
        return std::move(out_);
    }

private:
    using site_key = std::tuple<std::uint8_t, std::vector<std::uint64_t>>;

    void name(const hook::region_record& record) {
        const std::string given = name_of(record);
        out_.name = given;
        if (record.code != 0) {
            const recording::placed at = from_.place_of(record.code);
            const std::vector<named_frame>& frames = names_.at(at.module, at.offset, false);
            if (given.empty()) out_.name = readable(shown(frames.back()));
            const bool is_library = frames.back().file.find("/include/c++/") != std::string::npos; // from std::thread
            if (!is_library) out_.place = shown_place(frames.back());
        }
        if (out_.name.empty()) out_.name = word_of(record.kind);
    }
    /// Finds the thread's nodes of this region, and the nodes that are of this region or below one.
    void find_nodes(const hook::thread_area& thread, std::vector<char>& is_region, std::vector<char>& is_below) const {
        const std::size_t nodes = recording::nodes(thread).size();
        is_region.assign(nodes, 0);
        is_below.assign(nodes, 0);
        for (std::uint32_t index = 1; index < nodes; ++index) {
            const std::uint32_t parent = std::min(thread.node[index].parent, index - 1);
            is_region[index] = thread.node[index].region == region_ ? 1 : 0;
            is_below[index] = is_region[index] != 0 || is_below[parent] != 0 ? 1 : 0;
        }
    }

    void add_thread(const hook::thread_area& thread) {
        std::vector<char> is_region, is_below;
        find_nodes(thread, is_region, is_below);
        if (std::find(is_region.begin(), is_region.end(), 1) == is_region.end()) return;
        timeline_thread line;
        line.thread = thread.thread;
        line.name = text_of(thread.name);
        line.thinned = thread.thinned_waits;
        double inside = 0;
        std::uint64_t entries = 0;
        const auto nodes = static_cast<std::uint32_t>(is_region.size()); // the process may still run and add nodes
        for (std::uint32_t index = 1; index < nodes; ++index) {
            if (is_region[index] == 0) continue;
            inside += add_node(thread, thread.node[index], line);
            entries += thread.node[index].entries;
        }
        for (const hook::interval_record& each : recording::intervals(thread)) {
            if (each.node >= nodes || is_region[each.node] == 0 || each.last < each.first) continue;
            stays_.push_back({begin_of(thread, each.first), each.last});
            line.stays.push_back({at(each.first), at(each.last)});
        }
        if (entries > 0) {
            const bool is_first = out_.threads == 0;
            out_.threads += 1 + thread.reused;
            out_.min_inside_ns = is_first ? inside : std::min(out_.min_inside_ns, inside);
            out_.max_inside_ns = std::max(out_.max_inside_ns, inside);
        }
        add_sites(thread, is_below, line);
        add_unfinished(thread, is_below, line);
        if (entries > 0) out_.timeline.push_back(std::move(line));
    }

    /// A region of threads with one routine begins when the first thread is requested: one thread may have ended before
    /// the next one starts to run.
    [[nodiscard]] std::uint64_t begin_of(const hook::thread_area& thread, std::uint64_t first) const {
        const bool is_whole_thread = out_.kind == region_kind::thread && thread.created != 0 && thread.reused == 0;
        return is_whole_thread ? std::min(thread.created, first) : first;
    }

    /// Returns   the time that the thread was inside, in ns.
    double add_node(const hook::thread_area& thread, const hook::node_record& node, timeline_thread& line) {
        const std::uint64_t end = thread.last != 0 ? thread.last : from_.last_ticks();
        std::uint64_t inside = node.inside_ticks;
        if (node.open_since != 0 && end > node.open_since) { // it was inside when the process ended
            inside += end - node.open_since;
            stays_.push_back({begin_of(thread, node.open_since), end});
            line.stays.push_back({at(node.open_since), at(end)});
            out_.is_open = true;
        }
        const std::uint64_t idle = std::min(node.idle_ticks, inside);
        out_.entries += node.entries;
        out_.quick_locks += node.quick_locks;
        out_.instances += node.instances;
        out_.max_at_once = std::max(out_.max_at_once, node.max_threads);
        out_.span_ns += from_.ns(node.span_ticks);
        opened_ns_ += from_.ns(node.total_ticks);
        if (node.open_instance != 0 && end > node.open_instance) {
            const double open = from_.ns(end - node.open_instance);
            out_.span_ns += open;
            opened_ns_ += open * static_cast<double>(std::max<std::uint64_t>(node.max_threads, 1));
        }
        inside_ns_ += from_.ns(inside - idle);
        out_.late_ns += from_.ns(node.late_ticks);
        out_.longest_ns = std::max(out_.longest_ns, from_.ns(node.longest_ticks));
        asked_ns_ += from_.ns(node.asked_ticks);
        kernel_account& kernel = out_.kernel;
        kernel.processor_ns += static_cast<double>(node.asked.processor_ns);
        kernel.queue_ns += static_cast<double>(node.asked.queue_ns);
        kernel.user_ns += 1000.0 * static_cast<double>(node.asked.user_us);
        kernel.system_ns += 1000.0 * static_cast<double>(node.asked.system_us);
        kernel.small_faults += static_cast<double>(node.asked.small_faults);
        kernel.large_faults += static_cast<double>(node.asked.large_faults);
        kernel.voluntary += static_cast<double>(node.asked.voluntary);
        kernel.involuntary += static_cast<double>(node.asked.involuntary);
        return from_.ns(inside - idle);
    }

    void add_sites(const hook::thread_area& thread, const std::vector<char>& is_below, timeline_thread& line) {
        std::map<std::uint32_t, std::size_t> place; // index in the thread's table -> index in ours
        const auto table = recording::sites(thread);
        for (std::uint32_t index = 0; index < table.size(); ++index) { // shared entries have no region
            const hook::site_record site = table[index];               // the process may still run and change it
            if (site.is_taken == 0 || site.call >= hook::call_count || site.node >= is_below.size()) continue;
            if (is_below[site.node] == 0) continue;
            place[index] = add_site(thread, site);
        }
        for (const hook::wait_record& wait : recording::waits(thread)) {
            const auto found = place.find(wait.site);
            if (found == place.end()) continue;
            line.waits.push_back({at(wait.first), at(wait.first + wait.ticks), found->second});
            if (wait.holder != 0) ++out_.stacks[found->second].holders[wait.holder];
        }
    }

    /// Adds a wait that had not ended when the process ended.
    void add_unfinished(const hook::thread_area& thread, const std::vector<char>& is_below, timeline_thread& line) {
        const std::uint64_t end = from_.last_ticks();
        if (thread.last != 0 || thread.waiting_since == 0 || thread.waiting_since >= end) return;
        const std::uint32_t call = thread.waiting_call, node = thread.waiting_node;
        if (call >= hook::call_count || node >= is_below.size() || is_below[node] == 0) return;
        hook::site_record site{};
        site.call = static_cast<std::uint8_t>(call);
        site.count = site.waits = 1;
        site.ticks = site.wait_ticks = site.longest_ticks = site.longest_wait_ticks = end - thread.waiting_since;
        if (thread.waiting_for != 0) site.object = from_.frame_of(thread.waiting_for);
        const std::size_t place = add_site(thread, site, {from_.frame_of(thread.waiting_caller)});
        line.waits.push_back({at(thread.waiting_since), at(end), place});
    }

    std::size_t add_site(const hook::thread_area& thread, const hook::site_record& site) {
        return add_site(thread, site, from_.frames(thread, site.stack));
    }

    std::size_t add_site(const hook::thread_area& thread, const hook::site_record& site,
                         const std::vector<std::uint64_t>& frames) {
        const auto [entry, is_new] = by_key_.try_emplace({site.call, frames}, out_.stacks.size());
        if (is_new) {
            watched_site made;
            made.call = static_cast<hook::call>(site.call);
            made.is_wait = is_wait_group(hook::info(made.call).group);
            for (const std::uint64_t frame : frames) {
                const recording::placed at = from_.place_of(frame);
                if (at.module.find("/libtenure_watch") != std::string_view::npos) continue; // the hook's own
                const std::vector<named_frame>& named =
                    at.module.empty() ? names_.made_at_run_time(from_.process().process, at.offset)
                                      : names_.at(at.module, at.offset, true);
                made.stack.insert(made.stack.end(), named.begin(), named.end());
            }
            made.blamed = blamed_frame(made.stack);
            made.is_tenures = is_of_tenure(made.stack);
            out_.stacks.push_back(std::move(made));
        }
        watched_site& to = out_.stacks[entry->second];
        add_figures(figures_of(thread, site), to);
        if (site.object != 0 && to.object.empty()) name_object(site.object, to);
        return entry->second;
    }

    /// The figures of one entry of a thread's table, without its stack.
    [[nodiscard]] watched_site figures_of(const hook::thread_area& thread, const hook::site_record& site) const {
        watched_site made;
        made.threads.insert(thread.thread);
        made.has_more_threads = thread.reused > 0;
        made.count = site.count;
        made.bytes = site.bytes;
        made.null_frees = site.null_frees;
        made.ns = from_.ns(site.ticks);
        made.longest_ns = from_.ns(site.longest_ticks);
        made.waits = site.waits;
        made.wait_ns = from_.ns(site.wait_ticks);
        made.longest_wait_ns = from_.ns(site.longest_wait_ticks);
        made.slow = site.slow;
        made.slow_ns = from_.ns(site.slow_ticks);
        made.slow_faults = site.slow_faults;
        made.interrupted = site.interrupted;
        made.interrupted_ns = from_.ns(site.interrupted_ticks);
        return made;
    }

    /// Adds the threads, counts and times of `from`; the stack, the object and the holders stay as they are.
    static void add_figures(const watched_site& from, watched_site& to) {
        to.threads.insert(from.threads.begin(), from.threads.end());
        to.has_more_threads |= from.has_more_threads;
        to.count += from.count;
        to.bytes += from.bytes;
        to.null_frees += from.null_frees;
        to.ns += from.ns;
        to.longest_ns = std::max(to.longest_ns, from.longest_ns);
        to.waits += from.waits;
        to.wait_ns += from.wait_ns;
        to.longest_wait_ns = std::max(to.longest_wait_ns, from.longest_wait_ns);
        to.slow += from.slow;
        to.slow_ns += from.slow_ns;
        to.slow_faults += from.slow_faults;
        to.interrupted += from.interrupted;
        to.interrupted_ns += from.interrupted_ns;
    }

    void name_object(std::uint64_t object, watched_site& to) {
        const recording::placed at = from_.place_of(object);
        if (!at.module.empty()) to.object = names_.variable(at.module, at.offset);
        if (to.object.empty() && !at.module.empty()) {
            const std::string file = std::filesystem::path(at.module).filename().string();
            to.object = fmt::format("{}+{:#x}", printable(file), at.offset);
        }
        if (to.object.empty()) to.object = fmt::format("{:#x}", at.offset);
    }

    void count_sites() {
        for (const watched_site& each : out_.stacks) {
            const call_group group = hook::info(each.call).group;
            out_.calls += each.count;
            out_.null_frees += each.null_frees;
            out_.waits += each.waits;
            if (group == call_group::allocation) {
                out_.allocations += each.count;
                out_.allocated_bytes += each.bytes;
            }
            if (group == call_group::release) out_.releases += each.count;
            out_.time.waiting_ns += each.wait_ns;
            const double without_waits = std::max(0.0, each.ns - each.wait_ns - each.interrupted_ns);
            if (is_allocation(group)) out_.time.allocation_ns += without_waits;
            if (group == call_group::mapping) out_.time.mapping_ns += without_waits;
        }
    }

    void scale_kernel() {
        kernel_account& kernel = out_.kernel;
        kernel.asked_share = inside_ns_ > 0 ? std::min(1.0, asked_ns_ / inside_ns_) : 0;
        const double scale = asked_ns_ > 0 ? std::max(1.0, inside_ns_ / asked_ns_) : 0;
        for (double* each : {&kernel.processor_ns, &kernel.queue_ns, &kernel.user_ns, &kernel.system_ns,
                             &kernel.small_faults, &kernel.large_faults, &kernel.voluntary, &kernel.involuntary}) {
            *each *= scale;
        }
        // The clocks are not read at the same moment, and the kernel's share is counted in its own ticks.
        kernel.processor_ns = std::min(kernel.processor_ns, inside_ns_);
        kernel.system_ns = std::min(kernel.system_ns, kernel.processor_ns);
    }

    void finish() {
        region_time& time = out_.time;
        const crowd found = crowd_of(stays_);
        if (is_crowd(out_.kind)) {
            time.total_ns = found.total_ticks * from_.ns_per_tick();
            out_.span_ns = found.span_ticks * from_.ns_per_tick();
            out_.instances = found.instances;
            out_.max_at_once = found.most;
        } else if (out_.kind == region_kind::openmp || out_.kind == region_kind::tbb) {
            time.total_ns = opened_ns_;
        } else { // calls of a function, stays in a scope: each thread counts separately
            time.total_ns = inside_ns_;
            out_.span_ns = found.span_ticks * from_.ns_per_tick();
            out_.instances = out_.entries;
            out_.max_at_once = found.most;
        }
        // Nested regions may be open at once, for longer in total than the process ran.
        out_.span_ns = std::min(out_.span_ns, from_.span_ns());
        const bool has_exited = from_.process().end != hook::process_end::none_seen;
        if (has_exited && (out_.kind == region_kind::process || out_.kind == region_kind::tbb)) out_.is_open = false;
        time.total_ns = std::max(time.total_ns, inside_ns_);
        time.idle_ns = time.total_ns - inside_ns_;
        count_sites();
        scale_kernel();
        kernel_account& kernel = out_.kernel;
        time.waiting_ns = std::min(time.waiting_ns, inside_ns_);
        if (kernel.asked_share >= enough_asked) {
            const double off = std::max(0.0, inside_ns_ - kernel.processor_ns);
            const double unseen = std::max(0.0, off - time.waiting_ns);
            time.queued_ns = std::min(unseen, kernel.queue_ns);
            time.unexplained_ns = unseen - time.queued_ns;
        }
        double rest = inside_ns_ - time.waiting_ns - time.queued_ns - time.unexplained_ns;
        const auto take = [&rest](double& part) {
            part = std::clamp(part, 0.0, std::max(0.0, rest));
            rest -= part;
        };
        take(time.allocation_ns);
        take(time.mapping_ns);
        if (kernel.asked_share < enough_asked) kernel = {.asked_share = kernel.asked_share};
        time.faults_ns = kernel.small_faults * static_cast<double>(from_.process().fault_ns);
        if (kernel.system_ns > 0) time.faults_ns = std::max(time.faults_ns, fault_share_of_system());
        take(time.faults_ns);
        time.running_ns = std::max(0.0, rest);
        sort_sites();
        out_.advice = advice_for(out_);
    }

    /// When two threads touch pages of one mapping, a page costs more than one thread alone measured. The time in the
    /// kernel that no other call explains is then the better estimate.
    [[nodiscard]] double fault_share_of_system() const {
        constexpr double noticeable = 1000;
        const kernel_account& kernel = out_.kernel;
        if (kernel.small_faults < noticeable) return 0;
        const double others = out_.time.mapping_ns + out_.time.waiting_ns * 0.5;
        return std::max(0.0, kernel.system_ns - others);
    }

    void sort_sites() {
        std::map<std::string, std::size_t> places;
        std::vector<std::size_t> place_of(out_.stacks.size());
        for (std::size_t index = 0; index < out_.stacks.size(); ++index) {
            const watched_site& each = out_.stacks[index];
            const auto [entry, is_new] = places.try_emplace(place_key(each), out_.sites.size());
            place_of[index] = entry->second;
            if (is_new) {
                out_.sites.push_back(each);
            } else {
                merge(each, out_.sites[entry->second]);
            }
        }
        const std::vector<std::size_t> where = sort_by_cost(out_.sites);
        for (timeline_thread& line : out_.timeline) {
            for (timeline_wait& each : line.waits) each.site = where[place_of[each.site]];
        }
        sort_by_cost(out_.stacks);
    }

    /// Returns   the new index of each site.
    static std::vector<std::size_t> sort_by_cost(std::vector<watched_site>& sites) {
        std::vector<std::size_t> order(sites.size()), where(sites.size());
        for (std::size_t index = 0; index < order.size(); ++index) order[index] = index;
        std::stable_sort(order.begin(), order.end(), [&sites](std::size_t left, std::size_t right) {
            const double cost_left = cost_of(sites[left]), cost_right = cost_of(sites[right]);
            return cost_left != cost_right ? cost_left > cost_right : sites[left].count > sites[right].count;
        });
        std::vector<watched_site> sorted;
        for (std::size_t index = 0; index < order.size(); ++index) {
            where[order[index]] = index;
            sorted.push_back(std::move(sites[order[index]]));
        }
        sites = std::move(sorted);
        return where;
    }

    static std::string place_key(const watched_site& site) {
        std::string key = fmt::format("{} {} ", hook::info(site.call).name, site.object);
        if (site.stack.empty()) return key;
        const named_frame& frame = site.stack[site.blamed];
        return key + shown(frame) + " " + shown_place(frame);
    }

    static void merge(const watched_site& from, watched_site& to) {
        if (cost_of(from) > cost_of(to)) {
            to.stack = from.stack;
            to.blamed = from.blamed;
        }
        add_figures(from, to);
        for (const auto& [thread, times] : from.holders) to.holders[thread] += times;
    }

    [[nodiscard]] double at(std::uint64_t ticks) const {
        const std::uint64_t begin = from_.process().first_ticks;
        return ticks > begin ? from_.ns(ticks - begin) : 0;
    }

    const recording& from_;
    std::uint32_t region_;
    symbols& names_;
    watched_region out_;
    std::map<site_key, std::size_t> by_key_;
    std::vector<stay> stays_;
    double inside_ns_ = 0, opened_ns_ = 0, asked_ns_ = 0;
};

watched_process process_of(const recording& from) {
    const hook::process_head& head = from.process();
    watched_process made;
    made.process = head.process;
    made.parent = head.parent;
    made.is_child = head.is_child != 0;
    made.has_own_malloc = head.own_malloc != 0;
    made.program = text_of(head.program);
    made.command = text_of(head.command);
    made.end = head.end;
    made.span_ns = from.span_ns();
    made.threads = 0;
    for (const hook::thread_area* thread : from.threads()) made.threads += 1 + thread->reused;
    made.lost_threads = head.lost_threads;
    made.signal = static_cast<int>(head.end_signal);
    made.has_exit_code = head.has_end_code != 0;
    made.exit_code = static_cast<int>(head.end_code);
    made.refusal = static_cast<int>(head.refusal);
    made.lost_entries = head.lost_entries;
    made.fault_ns = static_cast<double>(head.fault_ns);
    for (const hook::thread_area* thread : from.threads()) {
        made.lost_stacks += thread->lost_stacks;
        made.lost_sites += thread->lost_sites;
        made.lost_nodes += thread->lost_nodes;
        made.unwound += thread->misses;
    }
    return made;
}

void add_moments(const recording& from, findings& found) {
    const hook::process_head& head = from.process();
    const std::uint64_t count = std::min<std::uint64_t>(head.moments, hook::max_moments);
    found.lost_moments += head.moments - count;
    for (std::uint64_t index = 0; index < count; ++index) {
        const hook::moment_record& each = head.moment[index];
        if (each.ticks < head.first_ticks || each.region >= hook::max_regions) continue; // incomplete
        found.moments.push_back(
            {head.process, each.thread, from.ns(each.ticks - head.first_ticks), name_of(head.region[each.region])});
    }
}

void add_notices(const recording& from, std::vector<std::string>& notices) {
    const hook::process_head& head = from.process();
    for (std::uint32_t index = 0; index < std::min(head.notices, hook::max_notices); ++index) {
        notices.push_back(text_of(head.notice[index]));
    }
    if (head.lost_regions != 0) {
        notices.push_back(fmt::format("{} stays are in regions that were not recorded: the maximum is {} regions",
                                      head.lost_regions, hook::max_regions));
    }
    if (head.lost_entries != 0) {
        notices.push_back(fmt::format(
            "{} calls of a watched function were not recorded: too many at once, or two stacks share an entry",
            head.lost_entries));
    }
    if (head.own_malloc != 0) {
        notices.push_back(fmt::format("{} has a malloc of its own: its allocations are not seen, its waits are",
                                      printable(std::filesystem::path(from.program()).filename().string())));
    }
}

}

namespace {

/// A process without a recorded end that has a later recording executed another program.
void find_exec(std::vector<watched_process>& processes) {
    for (std::size_t index = 0; index < processes.size(); ++index) {
        watched_process& each = processes[index];
        if (each.end != hook::process_end::none_seen) continue;
        const bool goes_on =
            std::any_of(processes.begin() + static_cast<std::ptrdiff_t>(index) + 1, processes.end(),
                        [&each](const watched_process& later) { return later.process == each.process; });
        if (goes_on) each.end = hook::process_end::exec;
    }
}

}

findings explain(const std::vector<std::unique_ptr<recording>>& recordings, symbols& names) {
    findings found;
    for (const auto& each : recordings) {
        found.processes.push_back(process_of(*each));
        add_notices(*each, found.notices);
        add_moments(*each, found);
        std::set<std::uint32_t> regions;
        for (const hook::thread_area* thread : each->threads()) {
            for (const hook::node_record& node : recording::nodes(*thread).subspan(1)) {
                if (node.region < hook::max_regions) regions.insert(node.region);
            }
        }
        for (const std::uint32_t region : regions) {
            watched_region added = region_sum(*each, region, names).add_up();
            added.recording = found.processes.size() - 1;
            if (added.entries > 0 || added.instances > 0) found.regions.push_back(std::move(added));
        }
    }
    find_exec(found.processes);
    std::stable_sort(found.regions.begin(), found.regions.end(),
                     [](const auto& left, const auto& right) { return left.time.total_ns > right.time.total_ns; });
    return found;
}

double allocation_share(const watched_region& region) {
    const region_time& time = region.time;
    return time.total_ns > 0 ? (time.allocation_ns + time.mapping_ns) / time.total_ns : 0;
}

double waiting_share(const watched_region& region) {
    return region.time.total_ns > 0 ? region.time.waiting_ns / region.time.total_ns : 0;
}

std::string word_of(hook::region_kind kind) {
    switch (kind) {
    case region_kind::none: return "no region";
    case region_kind::process: return "the whole program";
    case region_kind::openmp: return "OpenMP";
    case region_kind::tbb: return "TBB and std::execution";
    case region_kind::thread: return "threads";
    case region_kind::function: return "function";
    case region_kind::mark: return "marked region";
    case region_kind::no_alloc: return "no-allocation scopes";
    case region_kind::no_wait: return "no-wait scopes";
    }
    return {};
}

}
