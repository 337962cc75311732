// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What base needs from the operating system. Declared here and defined in platform/, so that base includes nothing of
/// it: the linker joins them.

#include <cstddef>
#include <string_view>

#include <tenure/base/config.hpp>

struct tenure_observer_table;

namespace tenure::inline TENURE_ABI::host {

/// Writes to standard error without allocating.
void write_report(std::string_view text) noexcept;

/// Fills `frames` with return addresses of the calling thread, the caller's first, and returns how many.
/// Cost      microseconds; allocates nothing after its first call.
std::size_t walk_stack(void** frames, std::size_t capacity) noexcept;

/// Writes one line per frame to standard error: module, nearest exported function, offset.
void write_stack(void* const* frames, std::size_t count) noexcept;

/// Whoever observes the process's scopes (observer.hpp), as the loader finds it; null when nobody does.
/// Cost      microseconds, with the loader's lock.
[[nodiscard]] const tenure_observer_table* process_observer() noexcept;

/// Whether the process has its environment yet: a drop-in malloc is called before that.
[[nodiscard]] bool has_environment() noexcept;

/// The value of an environment variable; null when there is none, and always in a program that runs with more rights
/// than whoever started it (set-user-ID, file capabilities), who sets the environment.
[[nodiscard]] const char* environment(const char* name) noexcept;

/// For a loop that waits for another thread: the first times the processor is only offered to others, later the thread
/// sleeps for some microseconds, so that a thread of a lower priority gets on as well. errno stays as it is.
void let_others_run(unsigned looks_before) noexcept;

// The process's own malloc, for blocks that take the detour (option passthrough). Inside the drop-in it is the C
// library's.

/// Requires  `alignment` is a power of two. Zero bytes count as one. Null when refused.
[[nodiscard]] void* process_allocate(std::size_t bytes, std::size_t alignment) noexcept;
[[nodiscard]] void* process_allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept;
[[nodiscard]] void* process_reallocate(void* block, std::size_t bytes, std::size_t alignment) noexcept;
void process_deallocate(void* block) noexcept;
[[nodiscard]] std::size_t process_usable(const void* block) noexcept;

}
