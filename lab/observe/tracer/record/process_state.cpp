// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/tracer/record/process_state.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

#include <tenure/base/align.hpp>
#include <tenure/base/host.hpp>
#include <tenure/base/report.hpp>
#include <tenure/platform/clock.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/output_file.hpp>
#include <tenure/platform/program.hpp>

#include "observe/blocks/interpose/errno_scope.hpp"
#include "observe/tracer/record/address_limit.hpp"
#include "observe/tracer/record/settings.hpp"

namespace tenure::lab::tracer {

namespace format = trace_format;

namespace {

constinit std::atomic<std::uint32_t> never{0};
constinit std::atomic<std::uint32_t> generations{0};
constinit std::atomic<bool> is_refused{false};

/// What is wrong is said once. `error`: the system's number, or zero.
void refuse(std::string_view what, int error = 0) noexcept {
    if (is_refused.exchange(true, std::memory_order_relaxed)) return;
    report_text text;
    text.text("tenure record: ").text(platform::program_name()).text(" is not recorded: ").text(what);
    if (error != 0) {
        text.text(" (");
        switch (error) {
        case ENOSPC: text.text("no space left on the device"); break;
        case EDQUOT: text.text("disk quota exceeded"); break;
        case EFBIG: text.text("the limit of file sizes is reached: ulimit -f"); break;
        case EACCES:
        case EPERM: text.text("permission denied"); break;
        case EROFS: text.text("read-only file system"); break;
        case ENOENT: text.text("there is no such folder"); break;
        case ENODEV: text.text("this file system cannot map files"); break;
        case ENOMEM: text.text("out of memory, or the limit of addresses is too low: ulimit -v"); break;
        case EMFILE: text.text("too many open files: ulimit -n"); break;
        default: text.text("error number ").number(static_cast<std::uint64_t>(error));
        }
        text.text(")");
    }
    text.text(".");
    report(report_kind::notice, text.view());
}

[[nodiscard]] std::uint64_t number_in(const char* variable) noexcept {
    const char* const text = host::environment(variable);
    std::uint64_t number = 0;
    if (text != nullptr) std::from_chars(text, text + std::strlen(text), number);
    return number;
}

/// Returns   whether they name a file.
[[nodiscard]] bool choose_settings() noexcept {
    if (chosen.file[0] != '\0') return true;
    const char* const file = host::environment(file_variable);
    if (file == nullptr || *file != '/' || std::strlen(file) >= sizeof chosen.file) return false;
    chosen.stack_frames =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(number_in(stacks_variable), max_stack_frames));
    chosen.has_free_stacks = chosen.stack_frames != 0 && number_in(free_stacks_variable) != 0;
    chosen.lists_blocks = number_in(access_variable) != 0;
    chosen.sample_bytes = number_in(sample_variable);
    chosen.process = number_in(process_variable);
    chosen.recording = number_in(number_variable);
    std::memcpy(chosen.file, file, std::strlen(file) + 1);
    return true;
}

[[nodiscard]] format::file_header* make_file(recording_file& file, bool is_fork) noexcept {
    if (!choose_settings()) {
        refuse("TENURE_RECORD_FILE does not name a file. Start it with tenure record");
        return nullptr;
    }
    int error = 0;
    const bool is_first_process = !is_fork && chosen.process == platform::process_id();
    void* const mapped = file.create(chosen.file, is_first_process, format::page_bytes, error);
    if (mapped == nullptr) {
        refuse("its file could not be created. Choose another folder with -o", error);
        return nullptr;
    }
    auto* const head = static_cast<format::file_header*>(mapped);
    head->version = format::version;
    head->header_bytes = format::page_bytes;
    head->is = format::form::raw;
    head->process = static_cast<std::uint32_t>(platform::process_id());
    head->parent = static_cast<std::uint32_t>(::getppid());
    head->is_fork = is_fork ? 1 : 0;
    head->stack_frames = chosen.stack_frames;
    head->free_stacks = chosen.has_free_stacks ? 1 : 0;
    head->tick_shift = 10;
    head->sample_bytes = chosen.sample_bytes;
    head->started_ms = platform::unix_ms();
    head->first_ticks = platform::ticks();
    head->first_ns = platform::monotonic_ns();
    head->file_bytes = format::page_bytes;
    head->recording = chosen.recording;
    std::memcpy(head->magic, format::magic, sizeof head->magic); // last: now it is a trace
    return head;
}

/// Returns   nullptr, and errno.
[[nodiscard]] process_state* make_state() noexcept {
    constexpr std::size_t bytes =
        (sizeof(process_state) + format::page_bytes - 1) / format::page_bytes * format::page_bytes;
    // Without room for the first names of blocks it would record nothing.
    if (!may_take_addresses(bytes + token_map::bytes_of_leaf)) return nullptr;
    return_addresses(token_map::bytes_of_leaf);
    void* const memory = platform::map(bytes, platform::page_bytes());
    if (memory == nullptr) {
        return_addresses(bytes);
        return nullptr;
    }
    if (::madvise(memory, bytes, MADV_WIPEONFORK) == 0) return static_cast<process_state*>(memory);
    const int saved = errno;
    platform::unreserve(memory, bytes);
    return_addresses(bytes);
    errno = saved;
    return nullptr;
}

/// Makes room for the list of blocks in use: right behind the header, where its reader looks for it. Without room for
/// it the recording goes on.
[[nodiscard]] live_blocks* make_list(recording_file& file, format::file_header& head) noexcept {
    int error = 0;
    std::uint64_t end = 0;
    void* const mapped = chosen.lists_blocks ? file.extend(live_blocks_bytes, end, error) : nullptr;
    if (mapped == nullptr) return nullptr;
    auto* const made = static_cast<live_blocks*>(mapped);
    made->chunk.kind = format::chunk_kind::live_blocks;
    made->seed = static_cast<std::uint32_t>(chosen.recording >> 32 ^ chosen.recording);
    made->chunk.bytes = live_blocks_bytes; // `used` stays zero: for readers of events it has no payload
    std::atomic_ref(made->chunk.magic).store(format::chunk_magic, std::memory_order_release);
    head.file_bytes = end;
    return made;
}

[[nodiscard]] file_part take_spare() noexcept {
    spare_parts& spares = state_of_process.load(std::memory_order_relaxed)->spares;
    const moment_scope lock(spares.lock);
    return spares.count == 0 ? file_part{} : spares.parts[--spares.count];
}

/// Notes why the file could not grow: for the moment, or for good.
void note_error(process_state& state, int error) noexcept {
    constexpr std::uint64_t pause_ns = 10'000'000; // else each event would try
    format::file_header& head = *state.head;
    const auto number = static_cast<std::uint32_t>(error);
    if (!recording_file::is_transient(error))
        return std::atomic_ref(head.refusal).store(number, std::memory_order_relaxed);
    std::atomic_ref(head.last_error).store(number, std::memory_order_relaxed);
    state.next_try_ns.store(platform::monotonic_ns() + pause_ns, std::memory_order_relaxed);
}

void raise(std::uint64_t& of, std::uint64_t to) noexcept {
    std::atomic_ref<std::uint64_t> now(of);
    std::uint64_t before = now.load(std::memory_order_relaxed);
    while (before < to && !now.compare_exchange_weak(before, to, std::memory_order_relaxed)) {}
}

}

constinit std::atomic<process_state*> state_of_process{nullptr};
constinit std::atomic<const std::atomic<std::uint32_t>*> generation_of_process{&never};
constinit chosen_settings chosen{};

bool begin_recording() noexcept {
    if (is_refused.load(std::memory_order_relaxed)) return false;
    // The child of a program that has cleared its environment has the settings, but no environment.
    if (chosen.file[0] == '\0' && !host::has_environment()) return false;
    const blocks::errno_scope errors;
    process_state* state = state_of_process.load(std::memory_order_acquire);
    if (state == nullptr) {
        process_state* const made = make_state();
        if (made == nullptr) {
            if (errno == EINVAL) {
                refuse("the system has no memory that a fork's child gets as zeros: Linux before 4.14");
            } else {
                refuse("the recorder gets no memory, and leaves the program what there is", errno);
            }
            return false;
        }
        if (state_of_process.compare_exchange_strong(state, made, std::memory_order_acq_rel)) state = made;
        generation_of_process.store(&state->generation, std::memory_order_release);
    }
    const moment_scope lock(state->beginning);
    if (state->generation.load(std::memory_order_relaxed) == 0) {
        const std::uint32_t generation = generations.fetch_add(1, std::memory_order_relaxed) + 1;
        state->head = make_file(state->file, generation > 1);
        if (state->head != nullptr) state->listed = make_list(state->file, *state->head);
        // A fork's child has no constructor to do it, and may end without destructors.
        if (state->head != nullptr && generation > 1) write_texts();
        if (state->head != nullptr) state->generation.store(generation, std::memory_order_release);
    }
    return state->head != nullptr;
}

file_part add_chunk() noexcept {
    const blocks::errno_scope errors;
    process_state& state = *state_of_process.load(std::memory_order_relaxed);
    format::file_header& head = *state.head;
    if (std::atomic_ref(head.refusal).load(std::memory_order_relaxed) != 0) return {};
    if (const file_part spare = take_spare(); spare.memory != nullptr) return spare;
    const std::uint64_t next_try_ns = state.next_try_ns.load(std::memory_order_relaxed);
    if (next_try_ns != 0 && platform::monotonic_ns() < next_try_ns) return {};
    int error = 0;
    std::uint64_t end = 0;
    const file_part added{state.file.extend(chunk_bytes, end, error), chunk_bytes};
    if (added.memory == nullptr) {
        note_error(state, error);
    } else {
        raise(head.file_bytes, end); // after the file has grown: a killed process leaves a valid file
    }
    return added;
}

void release_chunk(format::chunk_header& chunk) noexcept {
    constexpr std::uint32_t least_spare_bytes = 2 * format::page_bytes;
    const blocks::errno_scope errors;
    // An event that was written again may have left bytes behind it.
    const std::size_t touched = sizeof chunk + chunk.used + max_event_bytes;
    const auto used =
        std::min(chunk.bytes, static_cast<std::uint32_t>(align_up(touched, std::size_t{format::page_bytes})));
    const std::uint32_t rest = chunk.bytes - used;
    std::uint32_t unmapped = chunk.bytes;
    if (rest >= least_spare_bytes) {
        spare_parts& spares = state_of_process.load(std::memory_order_relaxed)->spares;
        const moment_scope lock(spares.lock);
        if (spares.count < spare_parts::capacity) {
            chunk.bytes = unmapped = used;
            spares.parts[spares.count++] = {reinterpret_cast<char*>(&chunk) + used, rest};
        }
    }
    static_cast<void>(::munmap(&chunk, unmapped));
}

void note_exit() noexcept {
    format::file_header& head = *state_of_process.load(std::memory_order_relaxed)->head;
    head.last_ns = platform::monotonic_ns();
    std::atomic_ref(head.last_ticks).store(platform::ticks(), std::memory_order_release);
}

}
