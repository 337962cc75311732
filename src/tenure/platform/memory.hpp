// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The operating system's memory: addresses, pages, and what of them is in use.
///
/// A range is first reserved (addresses, no memory), then committed (may be touched; the first touch of each page
/// costs a fault), then perhaps decommitted (addresses stay, contents are lost, memory goes back) and at last
/// unreserved. Rules for every function here: sizes and addresses are multiples of page_bytes(); a refusal is null or
/// false and changes nothing; nothing is thrown and nothing allocates; any thread may call.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// Bits of the highest address that the system gives to a program that does not ask for a higher one by a hint.
#if defined(__aarch64__)
constexpr unsigned user_address_bits = 48;
#else
constexpr unsigned user_address_bits = 47;
#endif

/// Bytes of a page: 4096 on x86-64.
[[nodiscard]] TENURE_API std::size_t page_bytes() noexcept;

/// Bytes of a huge page that huge_pages() can ask for; zero where there are none.
[[nodiscard]] TENURE_API std::size_t huge_page_bytes() noexcept;

/// The most addresses that the process may take, in bytes (ulimit -v); SIZE_MAX where it may take all there are.
[[nodiscard]] TENURE_API std::size_t address_limit_bytes() noexcept;

/// Takes addresses without memory. Requires  `alignment` is a power of two; smaller than a page counts as a page.
[[nodiscard]] TENURE_API void* reserve(std::size_t bytes, std::size_t alignment) noexcept;

/// Gives back a whole range or, on systems that can, any part of one. Where the system refuses (Linux at
/// vm.max_map_count), the memory goes back at once and the addresses at a later call; those of more than 256 ranges
/// that wait so stay taken. Requires  no part of it was given back before.
TENURE_API void unreserve(void* range, std::size_t bytes) noexcept;

/// Makes reserved pages usable. They read as zero until written.
[[nodiscard]] TENURE_API bool commit(void* pages, std::size_t bytes) noexcept;

/// Gives the memory back and keeps the addresses usable: they read as zero again.
TENURE_API bool decommit(void* pages, std::size_t bytes) noexcept;

/// The child of a fork does not get these pages: what it would share with its parent, neither could trust.
[[nodiscard]] TENURE_API bool exclude_from_fork(void* pages, std::size_t bytes) noexcept;
/// What every range is at first.
[[nodiscard]] TENURE_API bool include_in_fork(void* pages, std::size_t bytes) noexcept;

/// Makes a hole in the file behind pages that are shared with one: they read as zero again.
TENURE_API bool punch(void* pages, std::size_t bytes) noexcept;

/// Gives the memory back, and an access faults until the pages are committed again. Returns   false when the system
/// refuses one of the two; the other is done.
[[nodiscard]] TENURE_API bool seal(void* pages, std::size_t bytes) noexcept;

/// Asks for huge pages behind a committed range: a hint. Returns whether the system took it.
TENURE_API bool huge_pages(void* pages, std::size_t bytes) noexcept;

/// Reserves and commits in one call: what allocators do with most blocks.
[[nodiscard]] TENURE_API void* map(std::size_t bytes, std::size_t alignment) noexcept;

/// Moves pages to a range of another size, at a multiple of `alignment`, without copying. Null when refused.
[[nodiscard]] TENURE_API void* remap(void* range, std::size_t old_bytes, std::size_t new_bytes,
                                     std::size_t alignment) noexcept;

/// Makes a range larger where it is. Returns whether it did. The same size is granted, a smaller one refused.
[[nodiscard]] TENURE_API bool extend(void* range, std::size_t old_bytes, std::size_t new_bytes) noexcept;

}
