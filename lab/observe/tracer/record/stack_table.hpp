// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Numbers the call stacks of a process, so that each is written once.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tenure::lab::tracer {

/// A stack is known by a hash of 64 bits of its frames: two of a million stacks are taken for the same with a chance of
/// one in 30 million. Zeroed memory is a valid table.
///
/// Threads   any; nobody waits. A thread that finds a stack which another thread is just adding numbers it once more.
class stack_table {
public:
    struct place {
        std::atomic<std::uint64_t> hash;
        std::atomic<std::uint32_t> number; ///< zero: being added
    };

    /// Finds a stack, or a place for it. Returns   nullptr when the table is full.
    [[nodiscard]] place* find(std::uint64_t hash, bool& is_new) noexcept {
        for (std::size_t step = 0; step < max_steps; ++step) {
            place& each = places_[(hash + step) % capacity];
            std::uint64_t known = each.hash.load(std::memory_order_acquire);
            if (known == hash) return is_new = false, &each;
            if (known == 0 && each.hash.compare_exchange_strong(known, hash, std::memory_order_acq_rel))
                return is_new = true, &each;
            if (known == hash) return is_new = false, &each;
        }
        return nullptr;
    }

    /// Never zero.
    [[nodiscard]] static std::uint64_t hash_of(void* const* frames, std::size_t count) noexcept {
        std::uint64_t sum = count;
        for (std::size_t index = 0; index < count; ++index) {
            sum ^= reinterpret_cast<std::uintptr_t>(frames[index]);
            sum *= 0x9E37'79B9'7F4A'7C15;
            sum ^= sum >> 32;
        }
        return sum == 0 ? 1 : sum;
    }

private:
    static constexpr std::size_t capacity = std::size_t{1} << 20, max_steps = 64;

    place places_[capacity];
};

}
