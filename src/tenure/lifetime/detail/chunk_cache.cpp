// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/lifetime/detail/chunk_cache.hpp>

#include <atomic>
#include <bit>
#include <cstring>
#include <new>

#include <tenure/base/frame_clock.hpp>
#include <tenure/base/options.hpp>
#include <tenure/platform/page_source.hpp>
#include <tenure/platform/sanitizer.hpp>

namespace tenure::inline TENURE_ABI {

constinit detail::chunk_cache detail::process_chunks{};
constinit platform::address_map detail::chunk_begins{};

namespace detail {

namespace {

/// The class whose chunks hold `bytes`; class_count if there is none.
std::size_t chunk_class_of(std::size_t bytes) noexcept {
    if (bytes <= chunk_cache::min_bytes) return 0;
    const auto doublings = static_cast<std::size_t>(std::bit_width((bytes - 1) / chunk_cache::min_bytes));
    return doublings < chunk_cache::class_count ? doublings : chunk_cache::class_count;
}

}

block_source& chunk_cache::source() const noexcept {
    block_source* const chosen = source_.load(std::memory_order_acquire);
    return chosen != nullptr ? *chosen : page_source::process();
}

lifetime_chunk* chunk_cache::acquire(std::size_t bytes, at_limit limit) noexcept {
    const std::size_t index = chunk_class_of(bytes);
    if (index == class_count) return acquire_from_source(bytes, limit);
    {
        const platform::lock_guard lock(mutex_);
        if (lifetime_chunk* const chunk = kept_[index]; chunk != nullptr) {
            kept_[index] = chunk->next;
            chunk->next = nullptr;
            retained_bytes_ -= chunk->bytes;
            return chunk;
        }
    }
    return acquire_from_source(min_bytes << index, limit);
}

/// Counts bytes before acquiring them, so that two threads cannot both take the last of the limit.
bool chunk_cache::reserve(std::size_t bytes) noexcept {
    const std::size_t limit = option_value(option::temp_job_limit_bytes);
    if (bytes > limit) return false;
    if (held_bytes_.fetch_add(bytes) <= limit - bytes) return true;
    held_bytes_ -= bytes;
    return false;
}

lifetime_chunk* chunk_cache::acquire_from_source(std::size_t bytes, at_limit limit) noexcept {
    if (limit == at_limit::exceed) {
        held_bytes_ += bytes;
    } else if (!reserve(bytes)) {
        // Retained chunks count against the limit too, and none of this size is left.
        if (release_retained_before(UINT64_MAX) == 0 || !reserve(bytes)) return nullptr;
    }
    block_source& from = source();
    void* memory = misaligned_.acquire(from, bytes, job_chunk_alignment);
    if (checks::caller && memory != nullptr && !chunk_begins.set(memory, memory)) {
        from.release(memory, bytes);
        memory = nullptr;
    }
    if (memory == nullptr) {
        held_bytes_ -= bytes;
        return nullptr;
    }
    platform::add_leak_root(memory, bytes);
    auto* const chunk = new (memory) lifetime_chunk;
    chunk->bytes = bytes;
    chunk->source = &from;
    // Pages of the system are zeroed, and zero is job_state::none. Other sources may return used memory.
    if (&from != &page_source::process()) std::memset(static_cast<void*>(state_words(*chunk)), 0, job_state_count);
    return chunk;
}

void chunk_cache::release_to_source(lifetime_chunk* chunk) noexcept {
    const std::size_t bytes = chunk->bytes;
    if constexpr (checks::caller) {
        chunk_begins.erase(chunk);
        platform::unpoison(pointer_at(chunk->begin()), chunk->limit() - chunk->begin());
    }
    platform::remove_leak_root(chunk, bytes);
    chunk->source->release(chunk, bytes);
    held_bytes_ -= bytes;
}

void chunk_cache::set_source(block_source& source) noexcept {
    {
        const platform::lock_guard lock(mutex_);
        source_.store(&source, std::memory_order_release);
    }
    release_retained_before(UINT64_MAX); // so that no chunk of the former source is reused
}

void chunk_cache::release(lifetime_chunk* chunk) noexcept {
    if (chunk_class_of(chunk->bytes) == class_count) return release_to_source(chunk);
    if constexpr (checks::caller) platform::poison_freed(pointer_at(chunk->begin()), chunk->limit() - chunk->begin());
    chunk->frame = frame_clock::now();
    const bool is_kept = keep(chunk);
    if (!is_kept) release_to_source(chunk);
}

/// Returns   false for a chunk whose source is no longer in use.
bool chunk_cache::keep(lifetime_chunk* chunk) noexcept {
    const platform::lock_guard lock(mutex_);
    if (chunk->source != &source()) return false;
    lifetime_chunk*& first = kept_[chunk_class_of(chunk->bytes)];
    chunk->next = first;
    first = chunk;
    retained_bytes_ += chunk->bytes;
    return true;
}

std::size_t chunk_cache::release_retained_before(std::uint64_t frame) noexcept {
    lifetime_chunk* released = nullptr;
    {
        const platform::lock_guard lock(mutex_);
        for (lifetime_chunk*& first : kept_) {
            for (lifetime_chunk** link = &first; *link != nullptr;) {
                lifetime_chunk* const chunk = *link;
                if (chunk->frame >= frame) {
                    link = &chunk->next;
                    continue;
                }
                *link = chunk->next;
                chunk->next = released;
                released = chunk;
                retained_bytes_ -= chunk->bytes;
            }
        }
    }
    std::size_t bytes = 0;
    while (released != nullptr) {
        lifetime_chunk* const chunk = released;
        released = chunk->next;
        bytes += chunk->bytes;
        release_to_source(chunk);
    }
    return bytes;
}

}

}
