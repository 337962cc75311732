// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Records the live blocks of the process's malloc, whichever that is: all addresses, and the call stacks of a sample.
/// The files that it saves are those of a heap profile (base/profile_format.hpp).

#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <string_view>

#include <tenure/base/align.hpp>
#include <tenure/base/host.hpp>
#include <tenure/base/options.hpp>
#include <tenure/base/report.hpp>
#include <tenure/heap/detail/guarded/sample_schedule.hpp>
#include <tenure/heap/detail/profile/profile_files.hpp>
#include <tenure/heap/detail/profile/profile_records.hpp>
#include <tenure/heap/detail/profile/profile_writer.hpp>
#include <tenure/heap/detail/profile/sampling.hpp>
#include <tenure/platform/fork_handler.hpp>
#include <tenure/platform/output_file.hpp>
#include <tenure/platform/program.hpp>
#include <tenure/platform/readable.hpp>
#include <tenure/platform/thread.hpp>

#include "observe/blocks/interpose/errno_scope.hpp"
#include "observe/blocks/interpose/real.hpp"
#include "observe/blocks/interpose/recorded.hpp"
#include "observe/blocks/record/block_map.hpp"
#include "observe/blocks/record/saved_pages.hpp"

namespace tenure::lab::blocks {

namespace format = profile_format;
using detail::records_of_profile;

namespace {

constinit block_map known_blocks{};
constinit detail::save_schedule schedule{};
constinit std::atomic<std::uint64_t> started_ms{0};
constinit std::atomic<bool> is_save_wanted{false}; ///< by a signal that came when this thread could not save
constexpr std::size_t max_path_bytes = 4000;
constinit char malloc_file[max_path_bytes] = {};

enum class state : std::uint8_t {
    not_begun, ///< addresses are recorded, and no stacks
    on,
    off, ///< this malloc cannot be observed
};
constinit std::atomic<state> now{state::not_begun};

/// Guards saves.
constinit platform::mutex save_mutex{};
[[nodiscard]] platform::mutex& mutex_of_saves(void*) noexcept { return save_mutex; }
[[nodiscard]] platform::mutex& mutex_of_records(void*) noexcept { return records_of_profile.mutex(); }
constexpr platform::fork_steps save_steps = platform::steps_of_lock<&mutex_of_saves>;
constexpr platform::fork_steps records_steps = platform::steps_of_lock<&mutex_of_records>;
constinit platform::fork_handler save_fork{platform::fork_order::making, nullptr, save_steps};
constinit platform::fork_handler records_fork{platform::fork_order::leaf, nullptr, records_steps};

/// A thread's countdown to the next recorded byte: after Serebryany and others (2024), as in sample_schedule.
struct countdown {
    double bytes = 0;
    bool is_drawn = false;
    bool is_busy = false; ///< in this library, or in the malloc for it: what this allocates is not the program's
};
constinit thread_local countdown mine{};

[[nodiscard]] double draw_bytes() noexcept {
    return detail::sampling::minus_log(detail::sample_schedule::random()) *
           static_cast<double>(detail::sampling::mean_bytes());
}

/// Zero if it cannot be known. tcmalloc allocates in the first call.
[[nodiscard]] std::size_t usable_bytes(const void* block) noexcept {
    auto* const function = real<std::size_t(const void*)>(call::malloc_usable_size);
    if (function == nullptr) return 0;
    const bool was_busy = mine.is_busy;
    mine.is_busy = true;
    const std::size_t bytes = function(block);
    mine.is_busy = was_busy;
    return bytes;
}

[[nodiscard]] bool may_save() noexcept { return !save_mutex.is_mine() && !records_of_profile.mutex().is_mine(); }

void save(format::occasion why) noexcept {
    const errno_scope errors;
    const platform::lock_guard lock(save_mutex);
    report_text path;
    detail::name_profile_file(path, why);
    const auto pages = [](detail::section_writer& to) noexcept { write_pages(known_blocks, malloc_file, to); };
    const detail::profile_moment moment{
        detail::sampling::mean_bytes(), started_ms.load(std::memory_order_relaxed), why, {}, {}, pages};
    if (detail::write_profile(records_of_profile, moment, path.view())) return;
    detail::report_profile_not_written(path);
    if (why == format::occasion::peak) records_of_profile.await_rise(detail::profile_records::never);
}

/// At the first allocation after the environment is there: before the constructors of the program's libraries.
TENURE_COLD void begin() noexcept {
    static constinit std::atomic<bool> is_begun{false};
    if (!host::has_environment() || is_begun.exchange(true, std::memory_order_relaxed)) return;
    detail::sampling::set_mean(option_value(option::profile_sample_bytes));
    started_ms.store(platform::unix_ms(), std::memory_order_relaxed);
    schedule.begin(records_of_profile, detail::sampling::mean_bytes());
    state before = state::not_begun;
    now.compare_exchange_strong(before, state::on, std::memory_order_release);
}

TENURE_COLD void record(const void* block, std::size_t asked_bytes, std::size_t bytes) noexcept {
    constexpr std::size_t max_frames = 64;
    void* frames[max_frames];
    const std::size_t count = host::walk_stack(frames, max_frames);
    const std::uint64_t now_ms = platform::unix_ms();
    const detail::sample_facts facts{block,  asked_bytes,           bytes, detail::sampling::chance(bytes),
                                     now_ms, platform::thread_id(), 0};
    if (!records_of_profile.begin(facts, {frames, count})) return;
    schedule.serve(records_of_profile, now_ms, &may_save, &save);
    if (is_save_wanted.exchange(false, std::memory_order_relaxed) && may_save()) save(format::occasion::signal);
}

}

// A block that is known already is not counted again.
void note_block(const void* block, request asked) noexcept {
    if (block == nullptr || mine.is_busy || now.load(std::memory_order_acquire) == state::off) return;
    const std::size_t bytes = usable_bytes(block);
    if (bytes == 0 || !known_blocks.add(block, bytes)) return;
    if (now.load(std::memory_order_relaxed) == state::not_begun) begin();
    if (now.load(std::memory_order_acquire) != state::on) return;
    if (!mine.is_drawn) mine.bytes = draw_bytes();
    mine.is_drawn = true;
    mine.bytes -= static_cast<double>(bytes);
    if (mine.bytes >= 0) [[likely]]
        return;
    const errno_scope errors;
    mine.bytes = draw_bytes();
    mine.is_busy = true;
    record(block, asked.bytes, bytes);
    mine.is_busy = false;
}

void begin_new() noexcept {}

std::size_t forget_block(const void* block) noexcept {
    if (block == nullptr || !known_blocks.contains(block)) return 0;
    const std::size_t bytes = usable_bytes(block);
    if (!known_blocks.remove(block, bytes)) return 0;
    if (records_of_profile.may_contain(block)) records_of_profile.end(block);
    return bytes;
}

void note_freed(const void* block, std::size_t bytes) noexcept {
    // Mallocs unmap large blocks at once, or none. Later mappings there may be the program's own.
    constexpr std::size_t least_unmapped_bytes = std::size_t{64} * 1024;
    if (bytes >= least_unmapped_bytes && !platform::is_readable(block, 1))
        known_blocks.forget(address_of(block), bytes);
}

namespace {

/// A block was resized at its address.
void note_resized(const void* block, std::size_t bytes_before) noexcept {
    if (block == nullptr) return;
    const std::uintptr_t end = address_of(block) + bytes_before;
    const std::uintptr_t kept_end = align_up(address_of(block) + usable_bytes(block), std::size_t{4096});
    if (kept_end < end) note_freed(pointer_at(kept_end), end - kept_end);
}

}

std::uint64_t begin_resize(const void* block) noexcept { return forget_block(block); }

void end_resize(std::uint64_t before, const void* block, const void* answer, std::size_t bytes) noexcept {
    if (answer == nullptr && bytes != 0) {
        // Still in use, and no other allocation; a record of it has ended, though.
        if (before != 0) static_cast<void>(known_blocks.add(block, before));
        return;
    }
    answer == block ? note_resized(block, before) : note_freed(block, before);
    note_block(answer, {bytes});
}

namespace {

[[nodiscard]] Dl_info object_of(const void* code) noexcept {
    Dl_info found{};
    if (::dladdr(code, &found) == 0) found = {};
    return found;
}

/// Whether calls of the program reach this library: a malloc of the program's own file comes before it. Its address
/// does not tell, because that may be the program's entry for calls of ours.
[[nodiscard]] bool is_reached() noexcept {
    void* volatile block = ::malloc(1);
    const bool is_known = known_blocks.contains(block);
    ::free(block);
    return is_known;
}

/// What keeps this malloc from being observed; empty when nothing does.
void find_malloc(report_text& refusal) noexcept {
    if (!is_reached()) {
        refusal.text(platform::program_name()).text(" has a malloc built in, which cannot be observed from outside.");
        return;
    }
    const Dl_info real_one = object_of(reinterpret_cast<const void*>(real<void>(call::malloc)));
    const Dl_info sizes = object_of(reinterpret_cast<const void*>(real<void>(call::malloc_usable_size)));
    const std::string_view name = real_one.dli_fname != nullptr ? real_one.dli_fname : "";
    if (real_one.dli_fbase != sizes.dli_fbase) {
        refusal.text("The malloc of ").text(name).text(" has no malloc_usable_size, which tells the sizes of blocks.");
        return;
    }
    const std::size_t length = name.size() < max_path_bytes ? name.size() : 0;
    for (std::size_t index = 0; index < length; ++index) malloc_file[index] = name[index];
}

void save_or_ask() noexcept {
    if (now.load(std::memory_order_relaxed) != state::on) return;
    if (may_save()) {
        save(format::occasion::signal);
    } else {
        is_save_wanted.store(true, std::memory_order_relaxed);
    }
}

__attribute__((constructor)) void set_up() noexcept {
    report_text refusal;
    find_all();
    find_malloc(refusal);
    if (!refusal.view().empty()) {
        refusal.text(" Without --heap own, tenure pins runs the program with Tenure's malloc.");
        report(report_kind::notice, refusal.view());
        now.store(state::off, std::memory_order_release);
        return;
    }
    mine.is_busy = true; // the system's lists of handlers are no blocks of the program
    records_fork.enlist();
    save_fork.enlist();
    platform::hear_of_forks();
    mine.is_busy = false;
    begin();
    const auto number = static_cast<int>(option_value(option::profile_signal));
    if (number == 0 || platform::on_signal(number, &save_or_ask)) return;
    report_text text;
    text.text("TENURE_PROFILE_SIGNAL=").number(static_cast<std::uint64_t>(number));
    text.text(" has no effect: the signal is ignored or handled in this process, or it cannot be handled. Choose "
              "another, for example 12 (SIGUSR2).");
    report(report_kind::notice, text.view());
}

// Runs after the program's own destructors.
__attribute__((destructor(101))) void save_at_exit() noexcept {
    if (now.load(std::memory_order_relaxed) == state::on && may_save()) save(format::occasion::exit);
}

}

}
