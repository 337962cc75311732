// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Checked builds: whether an object of C (tn_pool, tn_arena) was created, and not destroyed since.
///
/// Each such structure ends with an owner_life. Freed memory of checked builds is filled, so a destroyed object is told
/// from a pointer that is none. Not detected is an object whose memory has become another one of its type.

#include <cstdint>
#include <string_view>
#include <type_traits>

#include <tenure/base/align.hpp>
#include <tenure/base/atomic.hpp>
#include <tenure/base/config.hpp>
#include <tenure/heap/make.hpp>
#include <tenure/platform/sanitizer.hpp>

namespace tenure::inline TENURE_ABI::capi {

class checked_life {
public:
    checked_life() noexcept : mark_(mark_of_live()) {}
    ~checked_life() { mark_.store(ended, detail::memory_order::relaxed); }
    checked_life(const checked_life&) = delete;
    checked_life& operator=(const checked_life&) = delete;

    [[nodiscard]] bool is_live() const noexcept { return mark() == mark_of_live(); }
    /// Whether the object was live once. Otherwise nothing is known.
    [[nodiscard]] bool has_ended() const noexcept {
        constexpr std::uint64_t freed = 0xDFDF'DFDF'DFDF'DFDF; // the fill of freed memory
        return mark() == ended || mark() == freed;
    }

private:
    static constexpr std::uint64_t ended = 0xE2DE'D000'0B1E'C7ED;
    [[nodiscard]] std::uint64_t mark_of_live() const noexcept { return 0xA11F'E000'0B1E'C7ED ^ address_of(this); }
    // Freed memory is poisoned.
    [[nodiscard]] std::uint64_t mark() const noexcept { return platform::read_hidden(&mark_); }

    detail::atomic<std::uint64_t> mark_; // relaxed: a check for mistakes, which may miss a race between threads
};
/// Replaces it in builds without checks.
struct unknown_life {};
using owner_life = std::conditional_t<checks::caller, checked_life, unknown_life>;

/// Reports a call with an object that is not live. `type` is the name of its structure.
TENURE_COLD void report_no_owner(std::string_view call, std::string_view type, const void* owner,
                                 bool has_ended) noexcept;

/// Whether the object of a call is live. Checked builds report one that is not; the call then does nothing.
template<class Owner>
[[nodiscard]] bool is_live(const Owner* owner, std::string_view call) noexcept {
    if constexpr (checks::caller) {
        if (owner == nullptr || !owner->life.is_live()) [[unlikely]] {
            report_no_owner(call, Owner::type_name, owner, owner != nullptr && owner->life.has_ended());
            return false;
        }
    }
    return true;
}

/// Destroys an object of make(). nullptr is allowed and does nothing.
template<class Owner>
void destroy_live(Owner* owner, std::string_view call) noexcept {
    if (owner != nullptr && is_live(owner, call)) destroy(owner);
}

}
