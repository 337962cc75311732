// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Memory usage of a heap, for reports: as text and as JSON.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tenure/base/config.hpp>
#include <tenure/base/stats.hpp>
#include <tenure/base/usage_text.hpp>
#include <tenure/heap/detail/small/size_classes.hpp>

namespace tenure::inline TENURE_ABI {

/// Blocks of one size. While other threads run, each figure is read at some moment during the call.
struct heap_size_usage {
    std::size_t block_bytes = 0;
    std::size_t live_count = 0;
    std::size_t cached_count = 0; ///< free blocks in thread caches
    std::size_t page_count = 0;   ///< pages of 32 KiB, or of up to 256 KiB for blocks past 4 KiB
};

struct heap_usage {
    static constexpr std::size_t size_count = detail::small_class_count;

    std::string_view name;
    allocator_stats total;
    std::size_t in_use_bytes = 0;    ///< pages that hold blocks, and larger blocks
    std::size_t committed_bytes = 0; ///< in_use_bytes, free memory that was touched, and the heap's own records
    std::size_t resident_bytes = 0;  ///< resident part of the memory acquired from the source
    std::size_t cached_bytes = 0;    ///< free blocks in thread caches
    std::size_t retained_bytes = 0;  ///< freed huge blocks that are retained for reuse
    std::size_t purged_bytes = 0;    ///< returned to the source after the purge delay, so far
    std::size_t thrash_bytes = 0;    ///< the part of it that was requested again within another purge delay
    std::size_t large_count = 0;     ///< blocks past 32 KiB within segments
    std::size_t large_bytes = 0;
    std::size_t huge_count = 0; ///< blocks with their own memory
    std::size_t huge_bytes = 0;
    std::size_t thread_count = 0; ///< threads that have a cache now
    heap_size_usage sizes[size_count];
};

/// Writes the figures in pieces, without allocating: as lines of text, or as one JSON object with the names above.
TENURE_API void write_usage(const heap_usage& usage, usage_form form,
                            void (*write)(void* context, std::string_view piece), void* context);

}
