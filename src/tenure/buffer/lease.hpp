// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Holds a buffer while it is used: checked once, then as fast as a pointer.

#include <cstddef>
#include <span>
#include <utility>

#include <tenure/base/check.hpp>
#include <tenure/base/config.hpp>
#include <tenure/buffer/detail/buffer_checks.hpp>
#include <tenure/handle/handle_table.hpp>

namespace tenure::inline TENURE_ABI {

/// Keeps memory from being freed until the lease ends. Element access checks only the index, in checked builds only.
///
/// Cost      17 ns to begin and end a lease.
/// Threads   one thread; other threads may have leases of the same buffer.
template<class T>
class [[nodiscard]] lease {
public:
    /// Holds nothing.
    lease() noexcept = default;
    /// Acquires the handle's memory. The lease is empty if the handle is stale.
    [[nodiscard]] TENURE_LOCAL lease(const handle& which, T* first, std::size_t count) noexcept {
        if (handle_table::process().acquire(which) != status::ok) return;
        which_ = which;
        first_ = first;
        count_ = count;
    }
    TENURE_LOCAL ~lease() { end_now(); }
    lease(lease&& other) noexcept
        : which_(std::exchange(other.which_, {})), first_(std::exchange(other.first_, nullptr)),
          count_(std::exchange(other.count_, 0)) {}
    /// Releases what this lease held and takes over from `other`, which holds nothing afterwards.
    TENURE_LOCAL lease& operator=(lease&& other) noexcept {
        lease taken(std::move(other));
        std::swap(which_, taken.which_);
        std::swap(first_, taken.first_);
        std::swap(count_, taken.count_);
        return *this;
    }

    /// Whether it holds memory.
    [[nodiscard]] bool is_live() const noexcept { return which_.entry != 0; }
    [[nodiscard]] explicit operator bool() const noexcept { return is_live(); }

    [[nodiscard]] T* data() const noexcept { return first_; }
    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    [[nodiscard]] T* begin() const noexcept { return first_; }
    [[nodiscard]] T* end() const noexcept { return first_ + count_; }
    [[nodiscard]] std::span<T> span() const noexcept { return {first_, count_}; }
    [[nodiscard]] T& operator[](std::size_t index) const noexcept {
        if constexpr (checks::caller) {
            if (index >= count_) detail::end_for_index(first_, index, count_);
        }
        return first_[index];
    }

    /// Releases the memory before the lease ends.
    TENURE_LOCAL void release() noexcept { end_now(); }

private:
    TENURE_LOCAL void end_now() noexcept {
        if (which_.entry == 0) return;
        static_cast<void>(handle_table::process().release(which_));
        which_ = {};
        first_ = nullptr;
        count_ = 0;
    }

    handle which_;
    T* first_ = nullptr;
    std::size_t count_ = 0;
};

}
