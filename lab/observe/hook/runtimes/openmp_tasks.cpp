// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// OpenMP tasks as gcc compiles them: a function and a copy of its data. Threads also run tasks while they wait for the
/// others at the end of their region; then they are in the region again. To know the region, the hook puts a note in
/// front of each task's data and passes a function of its own that reads it.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "observe/hook/interpose/observed.hpp"
#include "observe/hook/record/regions.hpp"
#include "observe/hook/runtimes/openmp.hpp"

namespace tenure::lab::hook {

namespace {

using task_function = void(void*);
using copy_function = void(void* to, void* from);

// A flag of libgomp's interface: the library itself writes into the data of such a task.
constexpr unsigned with_event = 1U << 13U;

/// The note in front of a task's data. For a task of a taskloop the library writes the bounds into the first two words,
/// and reads the third word when there is a reduction.
struct task_note {
    std::uint64_t bounds[2];
    std::uint64_t reduction;
    task_function* function;
    std::uint32_t region;
    std::uint32_t offset; ///< of the task's own data
};

/// The source of the copy; it lives as long as the call that creates the task.
struct task_source {
    task_note note;
    copy_function* copy;
    void* data;
    std::size_t bytes;
};

void copy_task(void* to, void* from) {
    const task_source& source = *static_cast<task_source*>(from);
    std::memcpy(to, &source.note, sizeof source.note);
    void* const own = static_cast<unsigned char*>(to) + source.note.offset;
    if (source.copy != nullptr) return source.copy(own, source.data);
    if (source.bytes > 0) std::memcpy(own, source.data, source.bytes);
}

void run_task(void* data) {
    const task_note& note = *static_cast<const task_note*>(data);
    const bool has_entered = enter_if_outside(note.region);
    note.function(static_cast<unsigned char*>(data) + note.offset);
    if (has_entered) leave();
}

void run_piece(void* data) {
    const task_note& note = *static_cast<const task_note*>(data);
    std::memcpy(static_cast<unsigned char*>(data) + note.offset, note.bounds, sizeof note.bounds);
    run_task(data);
}

/// The innermost OpenMP region that contains the thread.
[[nodiscard]] std::uint32_t own_region() noexcept {
    const thread_area* const area = this_thread.area;
    const process_head* const process = head_of_process();
    if (!is_active() || area == nullptr || process == nullptr) return no_region;
    for (std::uint32_t node = this_thread.node; node != 0; node = area->node[node].parent) {
        if (process->region[area->node[node].region].kind == region_kind::openmp) return area->node[node].region;
    }
    return no_region;
}

/// The arguments that are passed to the library instead.
/// Requires  a region.
struct noted_task {
    noted_task(task_function* function, void* data, copy_function* copy, long size, long alignment,
               std::uint32_t region) noexcept
        : align(std::max(alignment, static_cast<long>(alignof(task_note)))), bytes(size) {
        const long offset = (static_cast<long>(sizeof(task_note)) + align - 1) / align * align;
        source = {{{0, 0}, 0, function, region, static_cast<std::uint32_t>(offset)},
                  copy,
                  data,
                  static_cast<std::size_t>(size)};
        bytes += offset;
    }
    task_source source;
    long align, bytes;
};

template<call Which, class Bound>
void make_pieces(task_function* function, void* data, copy_function* copy, long bytes, long alignment, unsigned flags,
                 unsigned long tasks, int priority, Bound first, Bound last, Bound step) {
    using signature =
        void(task_function*, void*, copy_function*, long, long, unsigned, unsigned long, int, Bound, Bound, Bound);
    note_tasks();
    auto* const make = real<signature>(Which);
    const std::uint32_t region = own_region();
    if (region == no_region)
        return make(function, data, copy, bytes, alignment, flags, tasks, priority, first, last, step);
    noted_task noted(function, data, copy, bytes, alignment, region);
    constexpr long bounds_bytes = sizeof noted.source.note.bounds;
    if (bytes >= bounds_bytes + static_cast<long>(sizeof noted.source.note.reduction)) {
        std::memcpy(&noted.source.note.reduction, static_cast<unsigned char*>(data) + bounds_bytes,
                    sizeof noted.source.note.reduction);
    }
    make(run_piece, &noted.source, copy_task, noted.bytes, noted.align, flags, tasks, priority, first, last, step);
}

}

}

using namespace tenure::lab::hook;

extern "C" {

// Older compilers pass no event. The hook then forwards an indeterminate value and does not look at it.
void GOMP_task(task_function* function, void* data, copy_function* copy, long bytes, long alignment, bool is_deferred,
               unsigned flags, void** depends, int priority, void* event) {
    using signature = void(task_function*, void*, copy_function*, long, long, bool, unsigned, void**, int, void*);
    note_tasks();
    auto* const make = real<signature>(call::GOMP_task);
    const std::uint32_t region = own_region();
    if (region == no_region || (flags & with_event) != 0)
        return make(function, data, copy, bytes, alignment, is_deferred, flags, depends, priority, event);
    noted_task noted(function, data, copy, bytes, alignment, region);
    make(run_task, &noted.source, copy_task, noted.bytes, noted.align, is_deferred, flags, depends, priority, event);
}

void GOMP_taskloop(task_function* function, void* data, copy_function* copy, long bytes, long alignment, unsigned flags,
                   unsigned long tasks, int priority, long first, long last, long step) {
    make_pieces<call::GOMP_taskloop>(function, data, copy, bytes, alignment, flags, tasks, priority, first, last, step);
}
void GOMP_taskloop_ull(task_function* function, void* data, copy_function* copy, long bytes, long alignment,
                       unsigned flags, unsigned long tasks, int priority, unsigned long long first,
                       unsigned long long last, unsigned long long step) {
    make_pieces<call::GOMP_taskloop_ull>(function, data, copy, bytes, alignment, flags, tasks, priority, first, last,
                                         step);
}
}
