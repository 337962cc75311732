// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Misuse that is found under a lock and reported after unlocking, because the report handler may use the allocator.

#include <cstddef>
#include <string_view>

#include <tenure/base/check.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Records the first eight mistakes. Allocates nothing.
///
/// Threads   one at a time: the lock under which misuse is found protects the log.
class misuse_log {
public:
    static constexpr std::size_t capacity = 8;

    /// Requires  the texts live until report(), as literals do.
    TENURE_COLD void add(std::string_view what, const void* at, std::string_view advice) noexcept {
        if (count_ < capacity) entries_[count_++] = {what.data(), what.size(), advice.data(), advice.size(), at};
    }
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }

    /// Requires  the lock is not held.
    TENURE_COLD void report() const noexcept {
        for (std::size_t index = 0; index < count_; ++index) {
            const entry& each = entries_[index];
            report_misuse({each.what, each.what_bytes}, each.at, {each.advice, each.advice_bytes});
        }
    }

private:
    struct entry { // trivial: a log on the stack of a slow path costs one store
        const char* what;
        std::size_t what_bytes;
        const char* advice;
        std::size_t advice_bytes;
        const void* at;
    };
    std::size_t count_ = 0;
    entry entries_[capacity]; // the first count_ are valid
};

}
