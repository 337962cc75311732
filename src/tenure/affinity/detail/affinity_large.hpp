// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The large objects of an affinity group: a heap that is created for the first of them.

#include <atomic>
#include <cstddef>
#include <new>
#include <string_view>

#include <tenure/base/block_source.hpp>
#include <tenure/base/config.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/platform/fork_handler.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Threads   any.
class affinity_large {
public:
    affinity_large() noexcept = default;
    ~affinity_large() {
        if (heap* const made = get()) made->~heap();
    }

    /// nullptr before the first object.
    [[nodiscard]] heap* get() const noexcept { return heap_.load(std::memory_order_acquire); }
    [[nodiscard]] heap& get_or_create(std::string_view name, block_source& source) noexcept {
        if (heap* const made = get()) return *made;
        const platform::lock_guard lock(platform::making_mutex());
        if (heap_.load(std::memory_order_relaxed) == nullptr)
            heap_.store(new (memory_) heap({.name = name}, source), std::memory_order_release);
        return *get();
    }

    [[nodiscard]] bool owns(const void* pointer) const noexcept {
        const heap* const made = get();
        return made != nullptr && made->owns(pointer);
    }
    [[nodiscard]] allocator_stats stats() const noexcept {
        const heap* const made = get();
        return made != nullptr ? made->stats() : allocator_stats{};
    }
    [[nodiscard]] bool valid() const noexcept {
        const heap* const made = get();
        return made == nullptr || made->valid();
    }

private:
    std::atomic<heap*> heap_{nullptr};
    alignas(heap) unsigned char memory_[sizeof(heap)];
};

}
