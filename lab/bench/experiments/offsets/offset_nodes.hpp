// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Ranges as 28-byte nodes in linked bins, with 32-bit numbers: the scheme of Sebastian Aaltonen's OffsetAllocator,
/// rebuilt from its description. It has no alignment; callers that need one count in units of it. Room for all nodes is
/// allocated at the start, and spare nodes are kept on a stack. A reference of offsets.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace tenure::lab {

class offset_nodes {
public:
    static constexpr std::uint32_t none = UINT32_MAX;

    struct range {
        std::uint32_t offset = none;
        std::uint32_t node = none;
    };

    offset_nodes(std::uint32_t capacity, std::uint32_t most)
        : nodes_(std::make_unique<node[]>(most)), spare_(std::make_unique<std::uint32_t[]>(most)), spare_count_(most) {
        std::fill(std::begin(bins_), std::end(bins_), none);
        for (std::uint32_t i = 0; i < most; ++i) spare_[i] = most - 1 - i;
        add(0, capacity);
    }

    range allocate(std::uint32_t size) {
        if (spare_count_ == 0) return {};
        std::uint32_t bin = bin_of(size, size_rounds::up);
        std::uint32_t top = bin >> 3;
        const std::uint32_t here = top < 32 ? filled_[top] & (0xFFu << (bin & 7)) : 0;
        if (here != 0) {
            bin = (top << 3) + static_cast<std::uint32_t>(std::countr_zero(here));
        } else {
            const std::uint32_t above = top < 31 ? filled_top_ & (~0u << (top + 1)) : 0;
            if (above == 0) return {};
            top = static_cast<std::uint32_t>(std::countr_zero(above));
            bin = (top << 3) + static_cast<std::uint32_t>(std::countr_zero(unsigned{filled_[top]}));
        }
        const std::uint32_t found = bins_[bin];
        node& taken = nodes_[found];
        const std::uint32_t whole = taken.size;
        unlink(found);
        taken.size = size;
        taken.used = true;
        ++used_count_;
        if (whole != size) {
            const std::uint32_t rest = add(taken.offset + size, whole - size);
            nodes_[rest].left = found;
            nodes_[rest].right = taken.right;
            if (taken.right != none) nodes_[taken.right].left = rest;
            taken.right = rest;
        }
        return {taken.offset, found};
    }

    void release(range given) {
        if (given.node == none) return;
        const node freed = nodes_[given.node];
        std::uint32_t offset = freed.offset, size = freed.size, left = freed.left, right = freed.right;
        --used_count_;
        if (left != none && !nodes_[left].used) {
            const std::uint32_t gone = left;
            offset = nodes_[gone].offset;
            size += nodes_[gone].size;
            left = nodes_[gone].left;
            remove(gone);
        }
        if (right != none && !nodes_[right].used) {
            const std::uint32_t gone = right;
            size += nodes_[gone].size;
            right = nodes_[gone].right;
            remove(gone);
        }
        spare_[spare_count_++] = given.node;
        const std::uint32_t whole = add(offset, size);
        nodes_[whole].left = left;
        nodes_[whole].right = right;
        if (left != none) nodes_[left].right = whole;
        if (right != none) nodes_[right].left = whole;
    }

    [[nodiscard]] std::size_t used_count() const { return used_count_; }

private:
    struct node {
        std::uint32_t offset = 0, size = 0;
        std::uint32_t previous = none, next = none; // in the bin
        std::uint32_t left = none, right = none;    // in the memory
        bool used = false;
    };
    static_assert(sizeof(node) == 28);

    enum class size_rounds : bool { down, up };

    /// Eight bins per doubling, and one for each size below eight.
    static std::uint32_t bin_of(std::uint32_t size, size_rounds how) {
        if (size < 8) return size;
        const auto shift = static_cast<std::uint32_t>(std::bit_width(size)) - 4;
        const bool between = (size & ((1u << shift) - 1)) != 0;
        return ((shift + 1) << 3) + ((size >> shift) & 7) + (how == size_rounds::up && between ? 1 : 0);
    }

    std::uint32_t add(std::uint32_t offset, std::uint32_t size) {
        const std::uint32_t bin = bin_of(size, size_rounds::down), which = spare_[--spare_count_];
        nodes_[which] = {.offset = offset, .size = size, .next = bins_[bin]};
        if (bins_[bin] != none) nodes_[bins_[bin]].previous = which;
        bins_[bin] = which;
        filled_[bin >> 3] |= static_cast<std::uint8_t>(1u << (bin & 7));
        filled_top_ |= 1u << (bin >> 3);
        return which;
    }

    void remove(std::uint32_t which) {
        unlink(which);
        spare_[spare_count_++] = which;
    }

    void unlink(std::uint32_t which) {
        const node& gone = nodes_[which];
        if (gone.next != none) nodes_[gone.next].previous = gone.previous;
        if (gone.previous != none) {
            nodes_[gone.previous].next = gone.next;
            return;
        }
        const std::uint32_t bin = bin_of(gone.size, size_rounds::down);
        bins_[bin] = gone.next;
        if (gone.next != none) return;
        filled_[bin >> 3] &= static_cast<std::uint8_t>(~(1u << (bin & 7)));
        if (filled_[bin >> 3] == 0) filled_top_ &= ~(1u << (bin >> 3));
    }

    std::unique_ptr<node[]> nodes_;
    std::unique_ptr<std::uint32_t[]> spare_;
    std::uint32_t spare_count_;
    std::uint32_t used_count_ = 0;
    std::uint32_t filled_top_ = 0;
    std::uint8_t filled_[32] = {};
    std::uint32_t bins_[256];
};

}
