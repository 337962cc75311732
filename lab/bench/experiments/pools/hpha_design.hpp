// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The design of the High Performance Heap Allocator (Game Programming Gems 7), rebuilt from published descriptions of
/// it. No line of the original was used.
///
/// Up to 256 bytes: a bucket for each multiple of 8, on pages of 64 KiB at multiples of 64 KiB. A page links all its
/// blocks to a free list when it is made. A free finds the page by masking the pointer; a marker in the page tells it
/// from memory of the other half. Full pages stand at the back of their bucket's list.
/// Above: `hpha_tree.hpp`.
/// With a `Lock`, each bucket has one and the tree has one. Nothing returns to the system before purge().

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>

#include <tenure/base/align.hpp>
#include <tenure/platform/page_source.hpp>

#include "bench/experiments/pools/hpha_tree.hpp"

namespace tenure::lab {

template<class Lock>
class hpha_design {
public:
    static constexpr std::size_t page_bytes = std::size_t{64} << 10, max_bucket_bytes = 256, alignment = 8;

    hpha_design() = default;
    ~hpha_design() {
        for (bucket& each : buckets_) {
            while (each.first != nullptr) release_page(each, each.first);
        }
    }
    hpha_design(const hpha_design&) = delete;
    hpha_design& operator=(const hpha_design&) = delete;

    /// Memory at a multiple of 8; nullptr when out of memory.
    [[nodiscard]] void* allocate(std::size_t bytes) {
        return bytes <= max_bucket_bytes ? from_bucket(bytes) : tree_.allocate(bytes);
    }

    void deallocate(void* block) {
        page* const home = page_of(block);
        if (home->marker == marker_of(home)) {
            to_bucket(home, block);
        } else {
            tree_.deallocate(block);
        }
    }

    /// Returns empty pages and segments to the system.
    void purge() {
        for (bucket& each : buckets_) {
            const std::scoped_lock<Lock> held(each.lock);
            for (page* at = each.first; at != nullptr;) {
                page* const next = at->next;
                if (at->used == 0) release_page(each, at);
                at = next;
            }
        }
        tree_.purge();
    }

    /// Whether a pointer lies in one of its pages or segments.
    [[nodiscard]] bool owns(const void* block) const {
        for (const bucket& each : buckets_) {
            const std::scoped_lock<Lock> held(each.lock); // another thread may move pages
            for (const page* at = each.first; at != nullptr; at = at->next) {
                if (at == page_of(block)) return true;
            }
        }
        return tree_.owns(block);
    }

    /// Whether lists, counts, tags and tree agree.
    [[nodiscard]] bool valid() const {
        for (std::size_t i = 0; i < buckets_.size(); ++i) {
            for (const page* at = buckets_[i].first; at != nullptr; at = at->next) {
                if (at->bucket_index != i || at->marker != marker_of(at) || !counts_hold(at)) return false;
            }
        }
        return tree_.valid();
    }

    /// Bytes of its pages and segments.
    [[nodiscard]] std::size_t system_bytes() const {
        std::size_t bytes = tree_.system_bytes();
        for (const bucket& each : buckets_) {
            for (const page* at = each.first; at != nullptr; at = at->next) bytes += page_bytes;
        }
        return bytes;
    }

private:
    struct link {
        link* next;
    };

    /// At the beginning of 64 KiB; blocks follow up to their end.
    struct page {
        page* next;
        page* previous;
        link* freed;
        std::uint64_t marker;
        std::uint16_t bucket_index, used;
    };

    struct alignas(64) bucket {
        page* first = nullptr; ///< those with free blocks, then full ones
        page* last = nullptr;
        mutable Lock lock;
    };

    static page* page_of(const void* block) {
        return reinterpret_cast<page*>(reinterpret_cast<std::uintptr_t>(block) & ~(page_bytes - 1));
    }
    [[nodiscard]] std::uint64_t marker_of(const page* at) const {
        return std::rotl(reinterpret_cast<std::uintptr_t>(this), 32) ^ reinterpret_cast<std::uintptr_t>(at);
    }
    static constexpr std::size_t block_bytes(std::size_t bucket_index) { return (bucket_index + 1) * 8; }
    static constexpr std::size_t capacity(std::size_t bucket_index) {
        return (page_bytes - sizeof(page)) / block_bytes(bucket_index);
    }

    void* from_bucket(std::size_t bytes) {
        const std::size_t index = bytes == 0 ? 0 : (bytes - 1) / 8;
        bucket& home = buckets_[index];
        const std::scoped_lock<Lock> held(home.lock);
        page* at = home.first;
        if (at == nullptr || at->freed == nullptr) [[unlikely]] {
            at = add_page(home, index);
            if (at == nullptr) return nullptr;
        }
        link* const block = at->freed;
        at->freed = block->next;
        ++at->used;
        if (at->freed == nullptr && at != home.last) move_to_back(home, at);
        return block;
    }

    void to_bucket(page* at, void* block) {
        bucket& home = buckets_[at->bucket_index];
        const std::scoped_lock<Lock> held(home.lock);
        const bool was_full = at->freed == nullptr;
        at->freed = new (block) link{at->freed};
        --at->used;
        if (was_full && at != home.first) {
            unlink(home, at);
            push_front(home, at);
        }
    }

    page* add_page(bucket& home, std::size_t index) {
        void* const memory = page_source::process().acquire(page_bytes, page_bytes);
        if (memory == nullptr) return nullptr;
        auto* const made = new (memory) page{};
        made->marker = marker_of(made);
        made->bucket_index = static_cast<std::uint16_t>(index);
        char* const blocks = static_cast<char*>(memory) + sizeof(page);
        for (std::size_t i = capacity(index); i-- > 0;) {
            made->freed = new (blocks + i * block_bytes(index)) link{made->freed};
        }
        push_front(home, made);
        return made;
    }

    static void push_front(bucket& home, page* at) {
        at->previous = nullptr;
        at->next = home.first;
        (home.first != nullptr ? home.first->previous : home.last) = at;
        home.first = at;
    }
    static void move_to_back(bucket& home, page* at) {
        unlink(home, at);
        at->next = nullptr;
        at->previous = home.last;
        (home.last != nullptr ? home.last->next : home.first) = at;
        home.last = at;
    }
    static void unlink(bucket& home, page* at) {
        (at->previous != nullptr ? at->previous->next : home.first) = at->next;
        (at->next != nullptr ? at->next->previous : home.last) = at->previous;
    }
    static void release_page(bucket& home, page* at) {
        unlink(home, at);
        page_source::process().release(at, page_bytes);
    }

    [[nodiscard]] static bool counts_hold(const page* at) {
        std::size_t freed = 0;
        for (const link* each = at->freed; each != nullptr && freed <= page_bytes / 8; each = each->next) {
            if (page_of(each) != at) return false;
            ++freed;
        }
        return freed + at->used == capacity(at->bucket_index);
    }

    std::array<bucket, max_bucket_bytes / 8> buckets_;
    hpha_tree<Lock> tree_;
};

}
