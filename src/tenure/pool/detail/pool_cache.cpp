// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/pool/detail/pool_cache.hpp>

#include <new>

#include <tenure/base/align.hpp>
#include <tenure/platform/memory.hpp>

namespace tenure::inline TENURE_ABI::detail {

pool_cache* make_cache(std::uint32_t capacity) noexcept {
    const std::size_t bytes = align_up(sizeof(pool_cache), platform::page_bytes());
    void* const memory = platform::map(bytes, cache_line_bytes);
    return memory != nullptr ? new (memory) pool_cache(capacity) : nullptr;
}

void free_cache(pool_cache* cache) noexcept {
    platform::unreserve(cache, align_up(sizeof(pool_cache), platform::page_bytes()));
}

}
