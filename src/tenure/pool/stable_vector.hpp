// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// stable_vector: a contiguous array that grows and never moves.
///
/// Use it for     arrays of unknown length that others point into: entities, components, logs, streamed data.
/// Not for        many small arrays: each takes a mapping of its own. Lists in Temp: lifetime/chunked_list.hpp.
/// Memory from    the operating system: addresses for `max_count` elements are reserved at the first one, and committed
///                in doubling steps from 64 KiB on.
/// Cost           emplace_back O(1): a compare, and the constructor; a system call for each doubling, and no copies.
///                Access: as an array.
/// Overhead       48 bytes; addresses for `max_count` elements; at most half of the committed memory is unused, and
///                the system provides it only when it is touched.
/// Threads        one at a time. Others may read elements while one appends, if told of them by other means.
/// Fork           usable in the child.
/// When full      at `max_count` elements, or out of memory, emplace_back returns nullptr and changes nothing.
/// Example        examples/handle_pool.cpp

#include <cstddef>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>

#include <tenure/base/align.hpp>
#include <tenure/base/check.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/construct.hpp>
#include <tenure/base/min_max.hpp>
#include <tenure/engine/growing_range.hpp>

namespace tenure::inline TENURE_ABI {

template<class T>
class stable_vector {
public:
    using value_type = T;
    using iterator = T*;
    using const_iterator = const T*;

    /// Reserves nothing until the first element. If the addresses do not exist, every growth fails.
    [[nodiscard]] explicit stable_vector(std::size_t max_count) noexcept : max_count_(max_count) {}
    ~stable_vector() { clear(); }
    /// The elements stay where they are. The other vector is empty afterwards, with its former maximum.
    [[nodiscard]] stable_vector(stable_vector&& other) noexcept
        : range_(std::move(other.range_)), size_(std::exchange(other.size_, 0)),
          capacity_(std::exchange(other.capacity_, 0)), max_count_(other.max_count_) {}
    stable_vector& operator=(stable_vector&& other) noexcept {
        if (this == &other) return *this;
        clear();
        range_.release();
        range_ = std::move(other.range_);
        size_ = std::exchange(other.size_, 0);
        capacity_ = std::exchange(other.capacity_, 0);
        max_count_ = other.max_count_;
        return *this;
    }

    /// Appends an element, which stays at its address until it is removed.
    /// Returns   nullptr when full or out of memory. When the constructor throws, the vector has no new element.
    template<class... Arguments>
    [[nodiscard]] T* emplace_back(Arguments&&... arguments) {
        if (size_ == capacity_ && !reserve(size_ + 1)) [[unlikely]]
            return nullptr;
        T* const made = ::new (static_cast<void*>(data() + size_)) T(std::forward<Arguments>(arguments)...);
        ++size_;
        return made;
    }
    /// Appends `count` elements, value-initialised.
    /// Returns   the first one; nullptr when full or out of memory, and nothing has changed.
    [[nodiscard]] T* append(std::size_t count) {
        if (count > max_count_ - size_ || !reserve(size_ + count)) return nullptr;
        T* const first = data() + size_;
        detail::construct_elements(first, count);
        size_ += count;
        return first;
    }
    /// Removes the last element. Requires  the vector is not empty.
    void pop_back() noexcept {
        detail::destroy_elements(checked_place(size_ - 1), 1);
        --size_;
    }
    /// Removes all elements. The memory stays.
    void clear() noexcept {
        detail::destroy_elements(data(), size_);
        size_ = 0;
    }
    /// Commits memory for `count` elements in all.
    /// Returns   false when `count` is above max_size() or out of memory; nothing has changed then.
    [[nodiscard]] bool reserve(std::size_t count) noexcept {
        if (count > max_count_ || max_count_ > max_object_bytes / sizeof(T)) return false;
        if (!range_.grow(count * sizeof(T), max_count_ * sizeof(T), alignof(T))) return false;
        capacity_ = detail::min_of(range_.committed_bytes() / sizeof(T), max_count_);
        return true;
    }
    /// Returns the memory after the last element to the system. Returns   the bytes of its pages, touched or not.
    std::size_t trim() noexcept { return range_.decommit(size_ * sizeof(T), range_.committed_bytes()); }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    /// Elements that fit into the committed memory.
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
    [[nodiscard]] std::size_t max_size() const noexcept { return max_count_; }

    /// The first element's address: the same from the first growth to the end of the vector.
    [[nodiscard]] T* data() noexcept { return static_cast<T*>(pointer_at(range_.begin())); }
    [[nodiscard]] const T* data() const noexcept { return static_cast<const T*>(pointer_at(range_.begin())); }
    [[nodiscard]] T* begin() noexcept { return data(); }
    [[nodiscard]] T* end() noexcept { return data() + size_; }
    [[nodiscard]] const T* begin() const noexcept { return data(); }
    [[nodiscard]] const T* end() const noexcept { return data() + size_; }

    /// Requires  `index` is below size(); checked builds end the program otherwise.
    [[nodiscard]] T& operator[](std::size_t index) noexcept { return *checked_place(index); }
    [[nodiscard]] const T& operator[](std::size_t index) const noexcept {
        return *const_cast<stable_vector*>(this)->checked_place(index);
    }
    [[nodiscard]] T& back() noexcept { return *checked_place(size_ - 1); }

private:
    [[nodiscard]] T* checked_place(std::size_t index) noexcept {
        if (checks::caller && index >= size_) end_for_index();
        return data() + index;
    }
    [[noreturn]] TENURE_COLD void end_for_index() const noexcept {
        report_misuse("an index of a stable_vector is out of range, or the vector is empty", this,
                      "Compare the index with size() before.");
        std::abort();
    }

    detail::growing_range range_;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
    std::size_t max_count_;
};

}
