// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Arrays that cause no page faults in timed parts.

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <span>
#include <utility>

#include <tenure/base/align.hpp>
#include <tenure/platform/memory.hpp>

namespace tenure::lab {

/// An array in pages of its own, outside every measured allocator. All pages are touched before use.
template<class T>
class page_array {
public:
    explicit page_array(std::size_t count) : count_(count), bytes_(align_up(count * sizeof(T) + 1, page())) {
        void* const pages = platform::map(bytes_, page());
        if (pages == nullptr) std::abort();
        std::memset(pages, 0, bytes_);
        first_ = static_cast<T*>(pages);
    }
    ~page_array() {
        if (first_ != nullptr) platform::unreserve(first_, bytes_);
    }
    page_array(page_array&& other) noexcept
        : first_(std::exchange(other.first_, nullptr)), count_(other.count_), bytes_(other.bytes_) {}
    page_array(const page_array&) = delete;
    page_array& operator=(const page_array&) = delete;

    [[nodiscard]] T& operator[](std::size_t index) const { return first_[index]; }
    [[nodiscard]] T* data() const { return first_; }
    [[nodiscard]] std::size_t size() const { return count_; }
    [[nodiscard]] std::span<T> all() const { return {first_, count_}; }

private:
    static std::size_t page() { return platform::page_bytes(); }

    T* first_ = nullptr;
    std::size_t count_, bytes_;
};

}
