// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A red-black tree of free blocks, by size: the upper half of the rebuilt HPHA design. The links lie in the free
/// memory itself. Several blocks of one size are several nodes.

#include <cstddef>
#include <cstdint>

namespace tenure::lab {

/// In front of every block: its boundary tag.
struct block_tag {
    block_tag* before;        ///< the block in front of this one; nullptr at the first of a segment
    std::uint64_t bytes : 62; ///< with this tag; 0 at the end of a segment
    std::uint64_t used : 1;
    std::uint64_t red : 1; ///< of a free block

    void set_bytes(std::size_t value) { bytes = value & (~std::uint64_t{0} >> 2); }
};
static_assert(sizeof(block_tag) == 16);

struct free_block : block_tag {
    free_block* parent;
    free_block* left;
    free_block* right;
};
static_assert(sizeof(free_block) == 40);

class size_tree {
public:
    size_tree() {
        end_.bytes = end_.used = end_.red = 0;
        end_.before = nullptr;
        end_.parent = end_.left = end_.right = &end_;
    }
    size_tree(const size_tree&) = delete;
    size_tree& operator=(const size_tree&) = delete;

    /// The smallest block with at least this many bytes; nullptr when there is none.
    [[nodiscard]] free_block* best_fit(std::size_t bytes) const {
        free_block* found = nullptr;
        for (free_block* at = root_; at != &end_;) {
            if (at->bytes >= bytes) {
                found = at;
                at = at->left;
            } else {
                at = at->right;
            }
        }
        return found;
    }

    void insert(free_block* added) {
        free_block* parent = &end_;
        free_block** place = &root_;
        while (*place != &end_) {
            parent = *place;
            place = added->bytes < parent->bytes ? &parent->left : &parent->right;
        }
        *place = added;
        added->parent = parent;
        added->left = added->right = &end_;
        added->red = 1;
        balance_after_insert(added);
    }

    void remove(free_block* gone) {
        bool removed_red = gone->red != 0;
        free_block* risen; // stands where a node is missing now
        if (gone->left == &end_ || gone->right == &end_) {
            risen = gone->left == &end_ ? gone->right : gone->left;
            put_in_place_of(gone, risen);
        } else {
            free_block* const next = leftmost(gone->right);
            removed_red = next->red != 0;
            risen = next->right;
            if (next->parent == gone) {
                risen->parent = next; // also when it is the end, which balancing reads
            } else {
                put_in_place_of(next, risen);
                next->right = gone->right;
                next->right->parent = next;
            }
            put_in_place_of(gone, next);
            next->left = gone->left;
            next->left->parent = next;
            next->red = gone->red;
        }
        if (!removed_red) balance_after_remove(risen);
    }

    /// The number of blocks; SIZE_MAX when the order, the colours or the links are wrong.
    [[nodiscard]] std::size_t checked_count() const {
        std::size_t count = 0;
        const bool sound = root_->red == 0 && black_height(root_, 0, UINT64_MAX, count) != broken;
        return sound ? count : SIZE_MAX;
    }

private:
    static constexpr std::size_t broken = SIZE_MAX;

    free_block* leftmost(free_block* at) const {
        while (at->left != &end_) at = at->left;
        return at;
    }

    void put_in_place_of(free_block* old, free_block* risen) {
        if (old->parent == &end_) {
            root_ = risen;
        } else if (old == old->parent->left) {
            old->parent->left = risen;
        } else {
            old->parent->right = risen;
        }
        risen->parent = old->parent;
    }

    /// Lifts the child on one side above its parent: `Up` is the side of the child.
    template<free_block* free_block::*Up, free_block* free_block::*Down>
    void rotate(free_block* at) {
        free_block* const child = at->*Up;
        at->*Up = child->*Down;
        if (child->*Down != &end_) (child->*Down)->parent = at;
        put_in_place_of(at, child);
        child->*Down = at;
        at->parent = child;
    }
    void rotate(free_block* at, bool child_is_left) {
        if (child_is_left) {
            rotate<&free_block::left, &free_block::right>(at);
        } else {
            rotate<&free_block::right, &free_block::left>(at);
        }
    }

    void balance_after_insert(free_block* at) {
        while (at->parent->red != 0) {
            free_block* const grand = at->parent->parent;
            const bool left = at->parent == grand->left;
            free_block* const uncle = left ? grand->right : grand->left;
            if (uncle->red != 0) {
                at->parent->red = uncle->red = 0;
                grand->red = 1;
                at = grand;
                continue;
            }
            if (at == (left ? at->parent->right : at->parent->left)) {
                at = at->parent;
                rotate(at, !left);
            }
            at->parent->red = 0;
            grand->red = 1;
            rotate(grand, left);
        }
        root_->red = 0;
    }

    void balance_after_remove(free_block* at) {
        while (at != root_ && at->red == 0) {
            free_block* const parent = at->parent;
            const bool left = at == parent->left;
            free_block* sibling = left ? parent->right : parent->left;
            if (sibling->red != 0) {
                sibling->red = 0;
                parent->red = 1;
                rotate(parent, !left);
                sibling = left ? parent->right : parent->left;
            }
            if (sibling->left->red == 0 && sibling->right->red == 0) {
                sibling->red = 1;
                at = parent;
                continue;
            }
            if ((left ? sibling->right : sibling->left)->red == 0) {
                (left ? sibling->left : sibling->right)->red = 0;
                sibling->red = 1;
                rotate(sibling, left);
                sibling = left ? parent->right : parent->left;
            }
            sibling->red = parent->red;
            parent->red = 0;
            (left ? sibling->right : sibling->left)->red = 0;
            rotate(parent, !left);
            at = root_;
        }
        at->red = 0;
    }

    std::size_t black_height(const free_block* at, std::uint64_t lowest, std::uint64_t highest,
                             std::size_t& count) const {
        if (at == &end_) return 0;
        ++count;
        if (at->bytes < lowest || at->bytes > highest || at->used != 0) return broken;
        for (const free_block* child : {at->left, at->right}) {
            if (child != &end_ && (child->parent != at || (at->red != 0 && child->red != 0))) return broken;
        }
        const std::size_t left = black_height(at->left, lowest, at->bytes, count);
        const std::size_t right = black_height(at->right, at->bytes, highest, count);
        return left == broken || left != right ? broken : left + (at->red == 0 ? 1 : 0);
    }

    free_block end_; ///< in place of nullptr: below every leaf and above the root; black
    free_block* root_ = &end_;
};

}
