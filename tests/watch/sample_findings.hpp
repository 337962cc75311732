// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Findings by hand, for what writes them: one OpenMP region with all that a region may have, and a small one.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "observe/watch/findings.hpp"

namespace tenure::lab::sample {

inline named_frame frame(std::string function, std::string file, int line, std::string module = "/home/me/build/game") {
    named_frame made;
    made.function = std::move(function);
    made.file = std::move(file);
    made.line = line;
    made.module = std::move(module);
    made.offset = 0x1000 + static_cast<std::uint64_t>(line);
    return made;
}

inline watched_site lock_site() {
    watched_site site;
    site.call = hook::call::pthread_mutex_lock;
    site.stack = {frame("std::mutex::lock()", "/usr/include/c++/12/mutex", 100),
                  frame("draw(int)", "/src/draw.cpp", 41), frame("main [clone ._omp_fn.0]", "/src/main.cpp", 12)};
    site.stack[0].is_inlined = true;
    site.blamed = 1;
    site.object = "queue_lock";
    site.threads = {101, 102};
    site.count = 900;
    site.ns = 3.2e6;
    site.longest_ns = 210'000;
    site.waits = 40;
    site.wait_ns = 3e6;
    site.longest_wait_ns = 200'000;
    site.holders = {{101, 30}, {102, 10}};
    site.is_wait = true;
    return site;
}

inline watched_site allocation_site() {
    watched_site site;
    site.call = hook::call::new_object;
    site.stack = {frame("operator new(unsigned long)", "", 0, "/usr/lib/libstdc++.so.6"),
                  frame("build(std::vector<int>&)", "/src/build.cpp", 7),
                  frame("main [clone ._omp_fn.0]", "/src/main.cpp", 14)};
    site.blamed = 1;
    site.threads = {101, 102, 103};
    site.count = 12'000;
    site.bytes = 768'000;
    site.ns = 1.5e6;
    site.longest_ns = 9000;
    site.slow = 3;
    site.slow_ns = 24'000.5;
    site.slow_faults = 6;
    site.interrupted = 1;
    site.interrupted_ns = 100'000;
    return site;
}

inline watched_site free_site() {
    watched_site site;
    site.call = hook::call::free;
    site.stack = {frame("", "", 0, "/opt/lib/libplugin.so")};
    site.stack[0].offset = 0x12af;
    site.threads = {103};
    site.count = 5;
    site.null_frees = 5;
    site.ns = 100;
    site.longest_ns = 30;
    return site;
}

inline timeline_thread lane(std::uint32_t thread, std::string name, double late_ns) {
    timeline_thread made;
    made.thread = thread;
    made.name = std::move(name);
    made.stays = {{1e6 + late_ns, 4e6}, {5e6 + late_ns, 9e6}};
    return made;
}

inline watched_region region() {
    watched_region made;
    made.kind = hook::region_kind::openmp;
    made.name = "main [clone ._omp_fn.0]";
    made.place = "main.cpp:12";
    made.process = 100;
    made.threads = 3;
    made.entries = 6;
    made.instances = 2;
    made.max_at_once = 3;
    made.span_ns = 8e6;
    made.longest_ns = 4e6;
    made.min_inside_ns = 6e6;
    made.max_inside_ns = 7e6;
    made.late_ns = 50'000;
    made.quick_locks = 860;
    made.calls = 12'905;
    made.allocations = 12'000;
    made.releases = 5;
    made.null_frees = 5;
    made.allocated_bytes = 768'000;
    made.waits = 40;
    made.time = {24e6, 15e6, 1.4e6, 0.1e6, 0.5e6, 3e6, 1e6, 2e6, 1e6};
    made.kernel = {0.75, 18e6, 1e6, 16e6, 2e6, 120, 1, 40, 7};
    made.stacks = {lock_site(), allocation_site(), free_site()};
    made.sites = made.stacks;
    made.timeline = {lane(101, "game", 0), lane(102, "worker", 20'000), lane(103, "worker", 30'000)};
    made.timeline[0].waits = {{1.5e6, 1.7e6, 0}, {1.8e6, 1.8004e6, 0}, {1.801e6, 1.8012e6, 0}};
    made.timeline[1].waits = {{1.2e6, 2.9e6, 0}, {6e6, 6.0001e6, 1}};
    made.timeline[1].thinned = 12;
    made.advice = "12 % of the time is waiting; most of it in draw(int) (draw.cpp:41). Hold the lock shorter.";
    return made;
}

inline watched_process process() {
    watched_process made;
    made.process = 100;
    made.parent = 99;
    made.program = "/home/me/build/game";
    made.command = "./game --level 3";
    made.end = hook::process_end::exit;
    made.span_ns = 12.5e6;
    made.threads = 4;
    made.unwound = 31;
    made.fault_ns = 250;
    return made;
}

/// A process with a region, and its child, which crashed and has one of its own with next to nothing in it.
inline findings two_regions() {
    findings made;
    made.processes = {process(), process()};
    watched_process& child = made.processes[1];
    child.process = 110;
    child.parent = 100;
    child.is_child = true;
    child.has_own_malloc = true;
    child.command = "./helper";
    child.end = hook::process_end::none_seen;
    child.signal = 11;
    child.lost_threads = 1;
    child.lost_sites = 2;
    watched_region small;
    small.kind = hook::region_kind::mark;
    small.name = "frame";
    small.process = 110;
    small.recording = 1;
    small.threads = small.entries = small.instances = small.max_at_once = 1;
    small.span_ns = small.longest_ns = small.min_inside_ns = small.max_inside_ns = 1000;
    small.is_open = true;
    small.time.total_ns = small.time.running_ns = 1000;
    small.advice = "Nothing here is lost.";
    small.timeline = {lane(111, "", 0)};
    small.timeline[0].stays = {{2e6, 2.001e6}};
    made.regions = {region(), small};
    made.notices = {"helper has a malloc of its own: its allocations are not seen, its waits are"};
    return made;
}

/// `count` waits of a tenth of a microsecond to ten, spread over eight threads and a second.
inline findings with_waits(std::size_t count) {
    constexpr std::size_t threads = 8;
    findings made;
    made.processes = {process()};
    made.regions = {region()};
    watched_region& waiting = made.regions[0];
    waiting.timeline.clear();
    for (std::size_t index = 0; index < threads; ++index) {
        waiting.timeline.push_back(lane(static_cast<std::uint32_t>(200 + index), "worker", 0));
        waiting.timeline.back().stays = {{0, 1e9}};
    }
    const double step = 1e9 / static_cast<double>(count);
    for (std::size_t index = 0; index < count; ++index) {
        const double first = step * static_cast<double>(index);
        const double ns = 100.0 * static_cast<double>(1 + index * 37 % 100);
        waiting.timeline[index % threads].waits.push_back({first, first + ns, index % 3});
    }
    return made;
}

/// Every text in it is this one.
inline findings of_text(const std::string& text) {
    findings made = two_regions();
    made.notices = {text};
    for (watched_process& each : made.processes) each.program = each.command = text;
    for (watched_region& region : made.regions) {
        region.name = region.place = region.advice = text;
        for (std::vector<watched_site>* list : {&region.sites, &region.stacks}) {
            for (watched_site& site : *list) {
                site.object = text;
                for (named_frame& each : site.stack) each.function = each.file = each.module = text;
            }
        }
        for (timeline_thread& each : region.timeline) each.name = text;
    }
    return made;
}

}
