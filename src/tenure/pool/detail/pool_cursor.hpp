// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A walk over the allocated blocks of a pool, and the iterator of pool<T> and shared_pool<T>.

#include <cstddef>
#include <new>

#include <tenure/base/align.hpp>
#include <tenure/base/bits.hpp>
#include <tenure/base/config.hpp>
#include <tenure/engine/passthrough_blocks.hpp>
#include <tenure/pool/detail/segment.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Knows the next block before it leaves the present one, which may therefore be freed.
class pool_cursor {
public:
    /// The end of every walk.
    constexpr pool_cursor() noexcept = default;
    /// Requires  every free block is in the bits.
    pool_cursor(segment* first, const segment_layout& layout, const passthrough_blocks& listed) noexcept
        : layout_(&layout), segment_(first), next_listed_(listed.first()) {
        if (segment_ != nullptr) alive_ = alive_in(0);
        advance();
    }

    [[nodiscard]] void* block() const noexcept { return block_; }
    void advance() noexcept {
        if (next_listed_ != nullptr) {
            block_ = next_listed_;
            next_listed_ = passthrough_blocks::next(block_);
            return;
        }
        block_ = nullptr;
        while (segment_ != nullptr && alive_ == 0) {
            if (++word_ >= segment_->groups_used) {
                segment_ = segment_->next;
                word_ = 0;
            }
            if (segment_ != nullptr) alive_ = alive_in(word_);
        }
        if (segment_ == nullptr) return;
        const std::size_t index = word_ * bits_per_word + lowest_bit(alive_);
        alive_ = without_lowest_bit(alive_);
        block_ = pointer_at(segment_->blocks(*layout_) + index * layout_->stride_bytes);
    }

private:
    [[nodiscard]] bit_word alive_in(std::size_t word) const noexcept {
        if (word >= segment_->groups_used) return 0;
        return low_bits(segment::group_size(*layout_, word)) & ~segment_->level0(*layout_)[word];
    }

    const segment_layout* layout_ = nullptr;
    segment* segment_ = nullptr;
    std::size_t word_ = 0;
    bit_word alive_ = 0; ///< blocks of the word that are still to be visited
    void* next_listed_ = nullptr;
    void* block_ = nullptr;
};

/// An input iterator over the objects of a pool. The loop may destroy the object that it is at, and must not otherwise
/// use the pool.
template<class T>
class pool_iterator {
public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;

    constexpr pool_iterator() noexcept = default;
    explicit pool_iterator(const pool_cursor& at) noexcept : at_(at) {}

    [[nodiscard]] T& operator*() const noexcept { return *std::launder(static_cast<T*>(at_.block())); }
    [[nodiscard]] T* operator->() const noexcept { return &**this; }
    pool_iterator& operator++() noexcept {
        at_.advance();
        return *this;
    }
    void operator++(int) noexcept { at_.advance(); }
    [[nodiscard]] friend bool operator==(const pool_iterator& left, const pool_iterator& right) noexcept {
        return left.at_.block() == right.at_.block();
    }

private:
    pool_cursor at_;
};

}
