// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Buffers at every alignment whose surroundings are watched, values that are likely to be got wrong, and every set of
/// instructions that this machine has.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <tenure/buffer/vector_maths.hpp>

#include "buffer/vector_reference.hpp"
#include "support/random.hpp"

namespace support {

using ten_types = testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                                 std::uint32_t, std::uint64_t, float, double>;

struct type_names {
    template<class T>
    static std::string GetName(int) {
        if (std::floating_point<T>) return "float" + std::to_string(sizeof(T) * 8);
        return (std::is_signed_v<T> ? "int" : "uint") + std::to_string(sizeof(T) * 8);
    }
};

/// The same bits, or both no number: which one is left open. Tests call it for millions of elements and fail only where
/// it says no: an assertion for each takes longer than all else, above all under a sanitizer.
template<class T>
bool is_same(T left, T right) {
    if constexpr (std::floating_point<T>)
        if (std::isnan(left) && std::isnan(right)) return true;
    return std::memcmp(&left, &right, sizeof(T)) == 0;
}

/// Elements that begin so many elements after a line of 64 bytes, with some before and behind that must stay.
template<class T>
class watched_buffer {
public:
    static constexpr std::size_t offsets = 64 / sizeof(T);

    watched_buffer(std::size_t count, std::size_t offset)
        : memory_((count * sizeof(T) + 4 * 64) / 64), count_(count), begin_(64 + offset * sizeof(T)) {
        std::memset(bytes(), 0xA5, size());
    }
    [[nodiscard]] T* data() { return reinterpret_cast<T*>(bytes() + begin_); }
    [[nodiscard]] T& operator[](std::size_t i) { return data()[i]; }
    [[nodiscard]] bool has_kept_its_surroundings() {
        const auto is_kept = [](unsigned char byte) { return byte == 0xA5; };
        return std::all_of(bytes(), bytes() + begin_, is_kept) &&
               std::all_of(bytes() + begin_ + count_ * sizeof(T), bytes() + size(), is_kept);
    }

private:
    struct alignas(64) line {
        unsigned char bytes[64];
    };
    [[nodiscard]] unsigned char* bytes() { return memory_.data()->bytes; }
    [[nodiscard]] std::size_t size() const { return memory_.size() * sizeof(line); }

    std::vector<line> memory_;
    std::size_t count_, begin_;
};

/// Often one of those where arithmetic ends or turns, otherwise small, or any bits.
template<class T>
T any_value(random& numbers) {
    using limits = std::numeric_limits<T>;
    using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    const auto small = static_cast<T>(static_cast<int>(numbers.below(21)) - (std::is_signed_v<T> ? 10 : 0));
    const std::size_t kind = numbers.below(8);
    if constexpr (std::floating_point<T>) {
        static constexpr T turns[]{0,
                                   -T{0},
                                   1,
                                   -1,
                                   limits::infinity(),
                                   -limits::infinity(),
                                   limits::quiet_NaN(),
                                   limits::denorm_min(),
                                   -limits::denorm_min(),
                                   limits::min(),
                                   limits::max(),
                                   limits::lowest(),
                                   T{0x1p7},
                                   T{0x1p15},
                                   T{0x1p31},
                                   -T{0x1p31},
                                   T{0x1p32},
                                   T{0x1p63},
                                   -T{0x1p63},
                                   T{0x1p64},
                                   T{127.5},
                                   T{-128.5},
                                   T{255.75},
                                   T{2147483520},
                                   T{-0.75}};
        if (kind < 2) return turns[numbers.below(std::size(turns))];
        if (kind < 4) return std::bit_cast<T>(static_cast<bits>(numbers.next()));
        if (kind < 6) return static_cast<T>(static_cast<std::int64_t>(numbers.next())) * T{0x1p-31};
        return small;
    } else {
        static constexpr T turns[]{0,
                                   1,
                                   static_cast<T>(-1),
                                   limits::min(),
                                   static_cast<T>(limits::min() + 1),
                                   limits::max(),
                                   static_cast<T>(limits::max() - 1),
                                   static_cast<T>(limits::max() / 2),
                                   static_cast<T>(limits::max() / 2 + 1)};
        if (kind < 2) return turns[numbers.below(std::size(turns))];
        if (kind < 5) return static_cast<T>(numbers.next());
        // As many bits as another, and squares and their neighbours.
        if (kind == 5) return static_cast<T>(numbers.next() >> numbers.below(64));
        if (kind == 6) {
            const std::uint64_t root = numbers.next() >> (64 - sizeof(T) * 4);
            return static_cast<T>(root * root - numbers.below(2));
        }
        return small;
    }
}

template<class T>
void fill_with_any(random& numbers, T* to, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) to[i] = any_value<T>(numbers);
}

/// Runs `test(numbers)` with each set of instructions that the machine has, and each time with the same numbers.
template<class Test>
void on_every_target(const Test& test) {
    const std::uint64_t seed = new_seed();
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        SCOPED_TRACE(std::string(hwy::TargetName(target)) + ", TENURE_TEST_SEED=" + std::to_string(seed));
        hwy::SetSupportedTargetsForTest(target);
        hwy::GetChosenTarget().Update(target);
        random numbers(seed);
        test(numbers);
        hwy::SetSupportedTargetsForTest(0);
        hwy::GetChosenTarget().DeInit();
        if (testing::Test::HasFatalFailure()) return;
    }
}

/// Every length from none to several of the longest strides, with offsets that change; then every offset.
template<class Test>
void for_lengths_and_offsets(std::size_t offsets, const Test& test) {
    for (std::size_t length = 0; length <= 300; ++length) {
        test(length, length * 7 % offsets);
        if (testing::Test::HasFatalFailure()) return;
    }
    for (const std::size_t length : {1u, 5u, 64u, 131u, 517u}) {
        for (std::size_t offset = 0; offset < offsets; ++offset) {
            test(length, offset);
            if (testing::Test::HasFatalFailure()) return;
        }
    }
}

}
