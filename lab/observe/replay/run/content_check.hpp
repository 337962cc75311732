// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Fills every block of a replay and checks it when it ends: blocks that overlap, a realloc that loses contents and
/// memory that ends too early are found. Not for timing.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "bench/harness/block_check.hpp"
#include "bench/harness/page_array.hpp"
#include "observe/replay/run/player.hpp"

namespace tenure::lab {

class content_check : public bare_around {
public:
    explicit content_check(std::size_t slot_count) : blocks_(std::max<std::size_t>(slot_count, 1)) {}

    void made(const plan_op& op, void* block, std::uint64_t) {
        known& is = blocks_[op.slot];
        if (op.call == plan_call::resize) {
            static_cast<void>(check(block, std::min<std::uint64_t>(is.bytes, op.bytes), is.serial, is.bytes));
        } else {
            if (op.call == plan_call::zeroed || op.call == plan_call::take_zeroed) check_zeros(block, op.bytes);
            is.serial = ++serial_;
        }
        const std::size_t alignment = needs_alignment(op.call) ? std::size_t{1} << op.alignment_log2
                                                               : malloc_alignment(static_cast<std::size_t>(op.bytes));
        misaligned_ += std::uint64_t{op.bytes != 0 && reinterpret_cast<std::uintptr_t>(block) % alignment != 0};
        is.bytes = op.bytes;
        fill(block, is);
    }
    void moving(const plan_op& op, void* block) {
        const known& is = blocks_[op.slot];
        static_cast<void>(check(block, is.bytes, is.serial, is.bytes));
    }
    /// The block was allocated with the room that it needs later.
    void kept(const plan_op& op, void* block, std::uint64_t) {
        known& is = blocks_[op.slot];
        static_cast<void>(check(block, std::min<std::uint64_t>(is.bytes, op.bytes), is.serial, is.bytes));
        is.bytes = op.bytes;
        fill(block, is);
    }
    void ending(const plan_op& op, void* block) {
        const known& is = blocks_[op.slot];
        mix(check(block, is.bytes, is.serial, is.bytes));
        mix(is.serial);
        ++ended_;
    }

    /// What was wrong first; empty when nothing was.
    [[nodiscard]] std::string_view wrong() const { return wrong_; }
    /// Of the contents that the blocks had when they ended, in the order of their ends; 52 bits. Each block's contents
    /// are made from its number alone.
    [[nodiscard]] std::uint64_t digest() const { return digest_ >> 12; }
    [[nodiscard]] std::uint64_t ended() const { return ended_; } ///< blocks
    /// Blocks without the alignment that the program asked for: a mistake of the malloc, with which the program might
    /// still have run.
    [[nodiscard]] std::uint64_t misaligned() const { return misaligned_; }

private:
    struct known {
        std::uint64_t serial, bytes;
    };

    static constexpr std::uint64_t whole_bytes = 4096; ///< of large blocks only so many at both ends, and a word a page

    static bool needs_alignment(plan_call call) {
        return call == plan_call::aligned || call == plan_call::aligned_new || call == plan_call::take ||
               call == plan_call::take_zeroed;
    }

    static unsigned char byte_at(std::uint64_t serial, std::uint64_t index) {
        return static_cast<unsigned char>((serial * 0x9E3779B97F4A7C15u >> 32) + index * 7 + (index >> 8));
    }

    /// Calls `visit(index)` for the bytes that are filled, of a block that was filled with `filled` bytes.
    template<class Visit>
    static void each_byte(std::uint64_t bytes, std::uint64_t filled, Visit visit) {
        if (filled <= whole_bytes * 2) {
            for (std::uint64_t i = 0; i < bytes; ++i) visit(i);
            return;
        }
        for (std::uint64_t i = 0; i < std::min(bytes, whole_bytes); ++i) visit(i);
        for (std::uint64_t i = whole_bytes; i < bytes; i += whole_bytes) visit(i);
        for (std::uint64_t i = filled - whole_bytes; i < bytes; ++i) visit(i);
    }

    void fill(void* block, const known& is) {
        auto* const to = static_cast<unsigned char*>(block);
        each_byte(is.bytes, is.bytes, [&](std::uint64_t i) { to[i] = byte_at(is.serial, i); });
    }
    /// Returns   what was read, in one number.
    std::uint64_t check(const void* block, std::uint64_t bytes, std::uint64_t serial, std::uint64_t filled) {
        const auto* const from = static_cast<const unsigned char*>(block);
        bool is_right = true;
        std::uint64_t read = 0;
        each_byte(bytes, filled, [&](std::uint64_t i) {
            is_right &= from[i] == byte_at(serial, i);
            read = read * 31 + from[i];
        });
        if (!is_right) fail(wrong_contents);
        return read;
    }
    void check_zeros(const void* block, std::uint64_t bytes) {
        const auto* const from = static_cast<const unsigned char*>(block);
        bool is_zero = true;
        each_byte(bytes, bytes, [&](std::uint64_t i) { is_zero &= from[i] == 0; });
        if (!is_zero) fail("calloc returned memory that is not zero");
    }

    void fail(std::string_view why) {
        if (wrong_.empty()) wrong_ = why;
    }
    void mix(std::uint64_t value) {
        digest_ ^= value + 0x9E3779B97F4A7C15u;
        digest_ *= 0xBF58476D1CE4E5B9u;
        digest_ ^= digest_ >> 29;
    }

    page_array<known> blocks_; // by slot
    std::uint64_t serial_ = 0, digest_ = 0, ended_ = 0, misaligned_ = 0;
    std::string_view wrong_;
};

}
