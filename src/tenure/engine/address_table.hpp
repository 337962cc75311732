// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A hash table of addresses in OS pages of its own, for what checked builds note about blocks and allocators.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <tenure/base/atomic.hpp>
#include <tenure/base/config.hpp>
#include <tenure/platform/fork_handler.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Entry is trivially copyable and has a member `key`, which is zero in an empty entry: no entry has the key zero. The
/// caller locks.
/// Cost      O(1). It never shrinks, and tables that were outgrown stay mapped: together less than the present one.
template<class Entry>
class address_table {
    static_assert(std::is_trivially_copyable_v<Entry>);

public:
    [[nodiscard]] std::size_t size() const noexcept { return count_; }

    /// Returns   nullptr if there is none.
    [[nodiscard]] Entry* find(std::uintptr_t key) noexcept {
        if (count_ == 0 || key == 0) return nullptr;
        Entry& place = entries_[place_of(key)];
        return place.key == key ? &place : nullptr;
    }

    /// Adds an entry, or replaces that of its key. Returns   false when out of memory.
    bool put(const Entry& entry) noexcept {
        if ((count_ + 1) * 4 > capacity_ * 3 && !grow()) return false;
        Entry& place = entries_[place_of(entry.key)];
        if (place.key == 0) ++count_;
        place = entry;
        return true;
    }

    /// Returns   whether there was one.
    bool erase(std::uintptr_t key) noexcept {
        if (find(key) == nullptr) return false;
        std::size_t hole = place_of(key);
        // Entries behind the hole that were pushed past it move up, so that searches still find them.
        for (std::size_t at = next(hole); entries_[at].key != 0; at = next(at)) {
            const std::size_t wanted = begin_of(entries_[at].key);
            if (((at - wanted) & (capacity_ - 1)) < ((at - hole) & (capacity_ - 1))) continue;
            entries_[hole] = entries_[at];
            hole = at;
        }
        entries_[hole].key = 0;
        --count_;
        return true;
    }

    void clear() noexcept {
        for (std::size_t at = 0; at < capacity_; ++at) entries_[at].key = 0;
        count_ = 0;
    }

    template<class Visit>
    void for_each(Visit&& visit) const {
        for (std::size_t at = 0; at < capacity_; ++at) {
            if (entries_[at].key != 0) visit(entries_[at]);
        }
    }

private:
    static constexpr std::size_t first_capacity = 256; // a power of two

    [[nodiscard]] std::size_t begin_of(std::uintptr_t key) const noexcept {
        return static_cast<std::size_t>(key * 0x9E37'79B9'7F4A'7C15 >> 20) & (capacity_ - 1);
    }
    [[nodiscard]] std::size_t next(std::size_t at) const noexcept { return (at + 1) & (capacity_ - 1); }
    /// The entry with this key, or the empty one where it belongs.
    [[nodiscard]] std::size_t place_of(std::uintptr_t key) const noexcept {
        std::size_t at = begin_of(key);
        while (entries_[at].key != 0 && entries_[at].key != key) at = next(at);
        return at;
    }

    [[nodiscard]] bool grow() noexcept {
        address_table larger;
        larger.capacity_ = capacity_ == 0 ? first_capacity : 2 * capacity_;
        larger.entries_ = static_cast<Entry*>(platform::map(larger.capacity_ * sizeof(Entry), alignof(Entry)));
        if (larger.entries_ == nullptr) return false;
        for_each([&](const Entry& entry) { larger.entries_[larger.place_of(entry.key)] = entry; });
        entries_ = larger.entries_;
        capacity_ = larger.capacity_;
        return true;
    }

    Entry* entries_ = nullptr;
    std::size_t capacity_ = 0;
    std::size_t count_ = 0;
};

/// An address_table with its lock, of static duration.
template<class Entry>
class locked_table {
public:
    /// `steps` are steps_of_lock<&locked_table<Entry>::lock_of>.
    constexpr locked_table(platform::fork_order order, const platform::fork_steps& steps) noexcept
        : fork_(order, this, steps) {}

    /// Whether it has no entry. Cost      a load.
    [[nodiscard]] bool empty() const noexcept { return count_.load(memory_order::relaxed) == 0; }

    /// Calls `change(table)` under the lock.
    template<class Change>
    void change(Change&& change) noexcept {
        fork_.enlist();
        const platform::lock_guard lock(mutex_);
        change(table_);
        count_.store(table_.size(), memory_order::relaxed);
    }

    [[nodiscard]] platform::mutex& mutex() noexcept { return mutex_; }
    [[nodiscard]] static platform::mutex& lock_of(void* table) noexcept {
        return static_cast<locked_table*>(table)->mutex_;
    }
    /// Calls `visit(entry)` for each entry. Requires  the calling thread holds the lock.
    template<class Visit>
    void for_each(Visit&& visit) const {
        table_.for_each(visit);
    }

private:
    platform::mutex mutex_;
    address_table<Entry> table_;
    atomic<std::size_t> count_{0}; // relaxed: a thread that has added an entry, or was told of it, reads no zero
    platform::fork_handler fork_;
};

}
