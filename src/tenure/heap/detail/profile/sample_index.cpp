// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/profile/sample_index.hpp>

#include <atomic>

#include <tenure/base/align.hpp>
#include <tenure/heap/detail/checked/record_memory.hpp>

namespace tenure::inline TENURE_ABI::detail {

std::size_t sample_index::place_of(std::uintptr_t address) noexcept {
    return static_cast<std::size_t>(address * 0x9E37'79B9'7F4A'7C15 >> 20); // Fibonacci hashing, after Knuth
}

bool sample_index::contains(const void* block) const noexcept {
    const std::uintptr_t address = address_of(block);
    constexpr int most_looks = 1000;
    for (int look = 0; look < most_looks; ++look) {
        const std::uint64_t before = changes_.load(std::memory_order_acquire);
        table* const now = table_.load(std::memory_order_acquire);
        if (now == nullptr) return false;
        for (std::size_t place = place_of(address);; ++place) {
            // Whoever reads what a removal has written reads that there is one, below.
            const std::uintptr_t found = now->entries()[place & now->mask].address.load(std::memory_order_acquire);
            if (found == address) return true;
            if (found == 0) break;
        }
        if ((before & 1) == 0 && changes_.load(std::memory_order_relaxed) == before) return false;
    }
    return true;
}

/// The place of the address, or the free one where it would be.
std::size_t sample_index::find(table& in, std::uintptr_t address) const noexcept {
    std::size_t place = place_of(address) & in.mask;
    while (true) {
        const std::uintptr_t found = in.entries()[place].address.load(std::memory_order_relaxed);
        if (found == address || found == 0) return place;
        place = (place + 1) & in.mask;
    }
}

bool sample_index::grow() noexcept {
    constexpr std::size_t first_count = 1024;
    table* const before = table_.load(std::memory_order_relaxed);
    const std::size_t count = before == nullptr ? first_count : 2 * (before->mask + 1);
    void* const memory = map_records(sizeof(table) + count * sizeof(entry)); // zeroed
    if (memory == nullptr) return false;
    auto* const larger = static_cast<table*>(memory);
    larger->mask = count - 1;
    for (std::size_t place = 0; before != nullptr && place <= before->mask; ++place) {
        const std::uintptr_t address = before->entries()[place].address.load(std::memory_order_relaxed);
        if (address == 0) continue;
        entry& to = larger->entries()[find(*larger, address)];
        to.address.store(address, std::memory_order_relaxed);
        to.value = before->entries()[place].value;
    }
    table_.store(larger, std::memory_order_release);
    return true;
}

bool sample_index::set(const void* block, std::uint32_t value) noexcept {
    table* now = table_.load(std::memory_order_relaxed);
    const std::size_t count = count_.load(std::memory_order_relaxed);
    if (now == nullptr || 2 * (count + 1) > now->mask + 1) {
        if (!grow()) return false;
        now = table_.load(std::memory_order_relaxed);
    }
    entry& at = now->entries()[find(*now, address_of(block))];
    const bool is_new = at.address.load(std::memory_order_relaxed) == 0;
    at.value = value;
    at.address.store(address_of(block), std::memory_order_release);
    if (is_new) count_.store(count + 1, std::memory_order_relaxed);
    return true;
}

std::uint32_t sample_index::get(const void* block) const noexcept {
    table* const now = table_.load(std::memory_order_relaxed);
    if (now == nullptr) return none;
    const entry& at = now->entries()[find(*now, address_of(block))];
    return at.address.load(std::memory_order_relaxed) == 0 ? none : at.value;
}

void sample_index::begin_change() noexcept {
    changes_.store(changes_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void sample_index::end_change() noexcept {
    changes_.store(changes_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

std::uint32_t sample_index::remove(const void* block) noexcept {
    table* const now = table_.load(std::memory_order_relaxed);
    if (now == nullptr) return none;
    entry* const entries = now->entries();
    std::size_t hole = find(*now, address_of(block));
    if (entries[hole].address.load(std::memory_order_relaxed) == 0) return none;
    const std::uint32_t value = entries[hole].value;
    begin_change();
    // Entries behind the hole move into it unless they would then lie in front of their own place.
    for (std::size_t next = (hole + 1) & now->mask;; next = (next + 1) & now->mask) {
        const std::uintptr_t address = entries[next].address.load(std::memory_order_relaxed);
        if (address == 0) break;
        const std::size_t wanted = place_of(address) & now->mask;
        if (((next - wanted) & now->mask) < ((next - hole) & now->mask)) continue;
        entries[hole].value = entries[next].value;
        entries[hole].address.store(address, std::memory_order_release);
        hole = next;
    }
    entries[hole].address.store(0, std::memory_order_release);
    end_change();
    count_.store(count_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    return value;
}

void sample_index::clear() noexcept {
    table* const now = table_.load(std::memory_order_relaxed);
    if (now == nullptr) return;
    begin_change();
    for (std::size_t place = 0; place <= now->mask; ++place)
        now->entries()[place].address.store(0, std::memory_order_release);
    end_change();
    count_.store(0, std::memory_order_relaxed);
}

}
