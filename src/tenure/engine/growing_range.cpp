// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/engine/growing_range.hpp>

#include <algorithm>

#include <tenure/base/align.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/sanitizer.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {
constexpr std::size_t first_commit_bytes = 64 * 1024;
}

bool growing_range::grow(std::size_t bytes, std::size_t max_bytes, std::size_t alignment) noexcept {
    const std::size_t page = platform::page_bytes();
    if (max_bytes > max_object_bytes - page || bytes > max_bytes) return false;
    if (begin_ == 0) {
        const std::size_t wanted = align_up(std::max<std::size_t>(max_bytes, 1), page);
        void* const range = platform::reserve(wanted, alignment);
        if (range == nullptr) return false;
        platform::add_leak_root(range, wanted);
        begin_ = address_of(range);
        reserved_bytes_ = wanted;
    }
    if (bytes <= committed_bytes_) return true;
    const std::size_t doubled = std::max(first_commit_bytes, committed_bytes_ * 2);
    const std::size_t target = std::min(std::max(align_up(bytes, page), doubled), reserved_bytes_);
    if (!platform::commit(pointer_at(begin_ + committed_bytes_), target - committed_bytes_)) return false;
    committed_bytes_ = target;
    return true;
}

std::size_t growing_range::decommit(std::size_t from, std::size_t to) noexcept {
    const std::size_t page = platform::page_bytes();
    const std::size_t first = align_up(from, page);
    const std::size_t last = align_down(std::min(to, committed_bytes_), page);
    if (first >= last || !platform::decommit(pointer_at(begin_ + first), last - first)) return 0;
    return last - first;
}

void growing_range::release() noexcept {
    if (begin_ == 0) return;
    if constexpr (checks::caller) platform::unpoison(pointer_at(begin_), committed_bytes_);
    platform::remove_leak_root(pointer_at(begin_), reserved_bytes_);
    platform::unreserve(pointer_at(begin_), reserved_bytes_);
    begin_ = committed_bytes_ = reserved_bytes_ = 0;
}

}
