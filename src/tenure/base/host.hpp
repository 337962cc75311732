// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What base needs from the operating system. platform/ defines these functions, so that base includes no system
/// header; the linker connects them.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tenure/base/config.hpp>

struct tenure_observer_table;

namespace tenure::inline TENURE_ABI::host {

/// Writes to standard error. Allocates nothing.
void write_report(std::string_view text) noexcept;

/// Fills `frames` with return addresses of the calling thread, innermost caller first. Returns the number of frames.
/// The walk reads unwind tables, and goes on where the compiler's runtime would. It ends at a return address without a
/// table, and at memory that cannot be read, so it is safe on any stack, also on that of a coroutine.
/// Cost      microseconds; allocates nothing itself, and keeps up to 88 KiB of unwind rules for the next walk.
std::size_t walk_stack(void** frames, std::size_t capacity) noexcept;
/// The same for walks that are rare: keeps nothing.
std::size_t walk_stack_once(void** frames, std::size_t capacity) noexcept;

/// Addresses that can be read.
struct readable_span {
    std::uintptr_t begin = 0, end = 0;
};
/// The same for a thread that walks its stack often: what of the stack can be read is remembered in `known`, which
/// belongs to the thread, so that most walks ask the system nothing. `places`, which may be nullptr, gets where each
/// return address lies on the stack; zero: it was in a register.
/// Requires  when a stack that this thread has walked is unmapped, none of another size that is walked with the same
///           `known` comes to its place.
std::size_t walk_stack(void** frames, std::size_t capacity, readable_span& known, std::uintptr_t* places) noexcept;

/// Writes one line per frame to standard error: the address, the function without its parameters, the file and the
/// offset of the call in it. The library's own frames at the begin are left out, unless a file without a symbol table
/// contains them; if nothing else is known, the outermost of them is written. Below the stack stands the command
/// that prints the lines of the source. Under a sanitizer the frames have their lines, also those of inlined functions.
/// Cost      O(symbols of the files) per frame; allocates nothing, maps the files to read.
void write_stack(void* const* frames, std::size_t count) noexcept;

/// The observer of the process's scopes (observer.hpp) that the loader finds; nullptr when there is none.
/// Cost      microseconds; takes the loader's lock.
[[nodiscard]] const tenure_observer_table* process_observer() noexcept;

/// Reports, once, that another copy of the library is in the process: a plug-in has linked one of its own. The drop-in
/// is not one of these copies. Cost      microseconds; takes the loader's lock.
void report_other_copies() noexcept;

/// Finds the file with another copy of the library in the process.
/// Returns   its path in `buffer`, cut to the capacity; empty if there is none. Cost      as report_other_copies().
[[nodiscard]] std::string_view other_copy(char* buffer, std::size_t capacity) noexcept;

/// Whether the process environment exists yet. A drop-in malloc is called before it does.
[[nodiscard]] bool has_environment() noexcept;

/// Whether the name of any environment variable begins with `prefix`, which is not empty. One pass over the
/// environment.
[[nodiscard]] bool has_environment(std::string_view prefix) noexcept;

/// The environment's entry "NAME=value" with this index among those whose name begins with `prefix`; nullptr past the
/// last. Cost      one pass over the environment.
[[nodiscard]] const char* environment_entry(std::string_view prefix, std::size_t index) noexcept;

/// The value of an environment variable; nullptr when it is not set. Always nullptr in a program that runs with more
/// rights than the user who started it (set-user-ID, file capabilities), because that user controls the environment.
[[nodiscard]] const char* environment(const char* name) noexcept;

/// Back-off for a loop that waits for another thread. The first calls only yield the processor; later calls sleep for
/// some microseconds, so that a thread of lower priority can run too. Preserves errno.
void let_others_run(unsigned looks_before) noexcept;

// The process's malloc, for blocks under passthrough; inside the drop-in it is the C library's malloc.

/// Requires  `alignment` is a power of two. Zero bytes count as one. Returns nullptr when out of memory.
[[nodiscard]] void* process_allocate(std::size_t bytes, std::size_t alignment) noexcept;
[[nodiscard]] void* process_allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept;
[[nodiscard]] void* process_reallocate(void* block, std::size_t bytes, std::size_t alignment) noexcept;
void process_deallocate(void* block) noexcept;
[[nodiscard]] std::size_t process_usable(const void* block) noexcept;

/// aligned_alloc() of the C library, or what it has in its place; hooks hear nothing of it.
/// Requires  `alignment` is a power of two, at least that of a pointer; `bytes` is a multiple of it.
[[nodiscard]] void* aligned_from_malloc(std::size_t bytes, std::size_t alignment) noexcept;
void free_aligned(void* block) noexcept;

}
