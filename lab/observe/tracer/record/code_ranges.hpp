// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Where a process had code mapped when its mappings were written.

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tenure::lab::tracer {

/// Zeroed memory is a valid object without ranges.
class code_ranges {
public:
    void clear() noexcept { count_ = 0; }

    /// Requires  ranges come in the order of their addresses.
    void add(std::uintptr_t begin, std::uintptr_t end) noexcept {
        if (count_ != 0 && ranges_[count_ - 1].end == begin) {
            ranges_[count_ - 1].end = end;
        } else if (count_ < capacity) {
            ranges_[count_++] = {begin, end};
        }
    }

    /// Returns   true as well if there were more ranges than this has room for.
    [[nodiscard]] bool contain(std::uintptr_t address) const noexcept {
        const range* const after =
            std::upper_bound(ranges_, ranges_ + count_, address,
                             [](std::uintptr_t at, const range& each) noexcept { return at < each.begin; });
        return count_ == capacity || (after != ranges_ && address < after[-1].end);
    }

private:
    struct range {
        std::uintptr_t begin, end;
    };
    static constexpr std::size_t capacity = 2048;

    std::size_t count_;
    range ranges_[capacity];
};

}
