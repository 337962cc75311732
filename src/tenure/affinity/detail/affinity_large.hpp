// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The large objects of an affinity group: a heap that is created for the first of them.

#include <cstddef>
#include <new>
#include <string_view>
#include <utility>

#include <tenure/base/atomic.hpp>
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

    /// Takes over the heap of another group. Requires  this group has none.
    void take(affinity_large& other) noexcept {
        heap* const made = other.get();
        if (made == nullptr) return;
        heap_.store(::new (memory_) heap(std::move(*made)), memory_order::release);
        made->~heap();
        other.heap_.store(nullptr, memory_order::release);
    }

    /// nullptr before the first object.
    [[nodiscard]] heap* get() const noexcept { return heap_.load(memory_order::acquire); }
    /// nullptr when out of memory; a later call tries again.
    [[nodiscard]] heap* get_or_create(std::string_view name, block_source& source) noexcept {
        if (heap* const made = get()) return made;
        const platform::lock_guard lock(platform::making_mutex());
        if (heap* const present = heap_.load(memory_order::relaxed)) return present;
        heap* const made = ::new (memory_) heap({.name = name}, source);
        if (!made->is_usable()) return nullptr; // it holds nothing: the next one may be constructed over it
        leave_leak_check(*made);                // the group reports its objects
        heap_.store(made, memory_order::release);
        return made;
    }

    [[nodiscard]] bool owns(const void* pointer) const noexcept {
        const heap* const made = get();
        return made != nullptr && made->owns(pointer);
    }
    [[nodiscard]] allocator_stats stats() const noexcept {
        const heap* const made = get();
        return made != nullptr ? made->stats() : allocator_stats{};
    }
    /// Whether stats() will not wait: the locks become free in that time.
    [[nodiscard]] bool is_free(platform::lock_patience& patience) const noexcept {
        const heap* const made = get();
        return made == nullptr || core_of(*made).is_free(patience);
    }
    [[nodiscard]] bool valid() const noexcept {
        const heap* const made = get();
        return made == nullptr || made->valid();
    }

private:
    atomic<heap*> heap_{nullptr}; // released once the heap stands in memory_; get() acquires it
    alignas(heap) unsigned char memory_[sizeof(heap)];
};

}
