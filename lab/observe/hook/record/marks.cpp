// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// What a program reports about itself: marked regions, no-allocation scopes and no-wait scopes. Tenure's classes
/// report through the observer table; any other program can look up tn_region_begin() and tn_region_end().

#include <sys/syscall.h>

#include <cstring>

#include <tenure/base/observer.hpp>

#include "observe/hook/interpose/raw.hpp"
#include "observe/hook/record/regions.hpp"

namespace tenure::lab::hook {

namespace {

void begin_region(const char* name, std::size_t name_bytes) {
    if (!chosen.is_on || (chosen.regions & watches_marks) == 0) return;
    enter(region_of(region_kind::mark, 0, 0, name, name_bytes), 0);
}
void end_region() {
    if (chosen.is_on && (chosen.regions & watches_marks) != 0) leave_if(region_kind::mark);
}

template<region_kind Kind>
void begin_promise() {
    if (chosen.is_on) enter(region_of(Kind, 0, 0, nullptr, 0), 0);
}
template<region_kind Kind>
void end_promise() {
    if (chosen.is_on) leave_if(Kind);
}

void begin_allowed() {
    if (chosen.is_on) ++this_thread.allowed;
}
void end_allowed() {
    if (this_thread.allowed > 0) --this_thread.allowed;
}

void mark(const char* name, std::size_t name_bytes) {
    if (!chosen.is_on || (chosen.regions & watches_marks) == 0) return;
    process_head* const process = head_of_process();
    const std::uint32_t region = region_of(region_kind::mark, 0, 0, name, name_bytes);
    if (process == nullptr || region == no_region) return;
    const std::uint64_t index = __atomic_fetch_add(&process->moments, 1, __ATOMIC_RELAXED);
    if (index >= max_moments) return;
    moment_record& moment = process->moment[index];
    moment.thread = static_cast<std::uint32_t>(raw_call(SYS_gettid));
    moment.region = region;
    __atomic_store_n(&moment.ticks, ticks(), __ATOMIC_RELEASE); // written last
}

}

}

using namespace tenure::lab::hook;

extern "C" {

extern const tenure_observer_table tenure_observer; // without this declaration the constant would have internal linkage
const tenure_observer_table tenure_observer = {
    sizeof(tenure_observer_table),
    tenure_observer_version,
    begin_region,
    end_region,
    begin_promise<region_kind::no_alloc>,
    end_promise<region_kind::no_alloc>,
    begin_allowed,
    end_allowed,
    mark,
    begin_promise<region_kind::no_wait>,
    end_promise<region_kind::no_wait>,
    nullptr,
};

void tn_region_begin(const char* name, std::size_t name_bytes) { begin_region(name, name_bytes); }
void tn_region_end() { end_region(); }
}
