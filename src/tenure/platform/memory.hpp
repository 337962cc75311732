// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The operating system's virtual memory: reserve, commit, decommit, unreserve.
///
/// Reserve a range first (addresses, no memory), then commit it: it may be touched, and the first touch of each OS page
/// costs a fault. Decommit returns the memory to the system; the addresses stay and the contents are lost. Unreserve
/// returns the addresses. All sizes and addresses are multiples of page_bytes(). On failure a function returns nullptr
/// or false and, unless stated otherwise, changes nothing. Nothing throws or allocates. Any thread may call.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// Bits of the highest address that the system assigns to a program that does not ask for a higher one with a hint.
#if defined(__aarch64__)
constexpr unsigned user_address_bits = 48;
#else
constexpr unsigned user_address_bits = 47;
#endif

/// Bytes of an OS page: 4096 on x86-64.
[[nodiscard]] TENURE_API std::size_t page_bytes() noexcept;

/// Bytes of a huge page that huge_pages() can request; zero if there are none.
[[nodiscard]] TENURE_API std::size_t huge_page_bytes() noexcept;

/// The maximum address space of the process in bytes (ulimit -v); SIZE_MAX if unlimited.
[[nodiscard]] TENURE_API std::size_t address_limit_bytes() noexcept;

/// Whether addresses count against a limit, touched or not: ulimit -v, or a system that never overcommits memory.
/// Cost      a system call.
[[nodiscard]] TENURE_API bool are_addresses_limited() noexcept;

/// Reserves addresses without memory. Requires  `alignment` is a power of two; less than a page counts as a page.
[[nodiscard]] TENURE_API void* reserve(std::size_t bytes, std::size_t alignment) noexcept;

/// Unreserves a whole range or, on systems that support it, any part of one. If the system fails (Linux at
/// vm.max_map_count), it decommits the memory at once and unreserves the addresses at a later call. At most 256 ranges
/// can wait for that; the addresses of further ones stay reserved. Requires  the range is reserved.
TENURE_API void unreserve(void* range, std::size_t bytes) noexcept;

/// Commits reserved pages. They read as zero until written.
[[nodiscard]] TENURE_API bool commit(void* pages, std::size_t bytes) noexcept;

/// Touches the pages from `begin` to `end`, in one system call where the system has one, so that later accesses do not
/// fault. Contents stay. Requires  they are committed, and no other thread writes at `begin` or at a later page's
/// start.
/// Returns   false when out of memory.
TENURE_API bool prefault(std::uintptr_t begin, std::uintptr_t end) noexcept;

/// Decommits pages. The addresses stay usable and read as zero again.
TENURE_API bool decommit(void* pages, std::size_t bytes) noexcept;

/// Excludes pages from the children of a fork, for memory whose contents parent and child could not safely share.
[[nodiscard]] TENURE_API bool exclude_from_fork(void* pages, std::size_t bytes) noexcept;
/// Includes pages in the children of a fork, which is the default.
[[nodiscard]] TENURE_API bool include_in_fork(void* pages, std::size_t bytes) noexcept;

/// Makes a hole in the file behind file-backed shared pages: they read as zero again.
TENURE_API bool punch(void* pages, std::size_t bytes) noexcept;

/// Decommits pages and makes every access fault until they are committed again. Returns   false if a step fails; the
/// other step is still done.
[[nodiscard]] TENURE_API bool seal(void* pages, std::size_t bytes) noexcept;

/// Makes every access fault until the pages are committed again, and keeps their memory and contents.
[[nodiscard]] TENURE_API bool forbid(void* pages, std::size_t bytes) noexcept;

/// Requests huge pages for a committed range: a hint. Returns whether the system accepted it.
TENURE_API bool huge_pages(void* pages, std::size_t bytes) noexcept;

/// Reserves and commits in one call, as most allocators need.
[[nodiscard]] TENURE_API void* map(std::size_t bytes, std::size_t alignment) noexcept;

/// Moves pages to a range of another size, at a multiple of `alignment`, without copying. Returns nullptr on failure.
[[nodiscard]] TENURE_API void* remap(void* range, std::size_t old_bytes, std::size_t new_bytes,
                                     std::size_t alignment) noexcept;

/// Extends a range in place. Returns whether it did. The same size returns true, a smaller one false.
[[nodiscard]] TENURE_API bool extend(void* range, std::size_t old_bytes, std::size_t new_bytes) noexcept;

}
