// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What a heap holds, in figures: for reports, for people and as JSON.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tenure/base/config.hpp>
#include <tenure/base/stats.hpp>
#include <tenure/base/usage_text.hpp>
#include <tenure/heap/size_classes.hpp>

namespace tenure::inline TENURE_ABI {

/// Blocks of one size. While threads go on, each figure is as of some moment during the call.
struct heap_size_usage {
    std::size_t block_bytes = 0;
    std::size_t live_count = 0;
    std::size_t cached_count = 0; ///< free, in the caches of threads
    std::size_t page_count = 0;   ///< pages of 32 KiB, or up to 256 KiB for blocks past 4 KiB
};

struct heap_usage {
    static constexpr std::size_t size_count = detail::small_class_count;

    std::string_view name;
    allocator_stats total;
    std::size_t in_use_bytes = 0;    ///< of pages that hold blocks, and of larger blocks
    std::size_t committed_bytes = 0; ///< these, what is free and was touched, and the heap's own records
    std::size_t resident_bytes = 0;  ///< of what it has from its source, in memory now
    std::size_t cached_bytes = 0;    ///< free blocks in the caches of threads
    std::size_t kept_bytes = 0;      ///< freed huge blocks that are kept for the next
    std::size_t large_count = 0;     ///< blocks past 32 KiB within segments
    std::size_t large_bytes = 0;
    std::size_t huge_count = 0; ///< blocks in memory of their own
    std::size_t huge_bytes = 0;
    std::size_t thread_count = 0; ///< that have a cache now
    heap_size_usage sizes[size_count];
};

/// Writes the figures, in pieces, without allocating: lines for people, or one object of JSON with the names above.
TENURE_API void write_usage(const heap_usage& usage, usage_form form,
                            void (*write)(void* context, std::string_view piece), void* context);

}
