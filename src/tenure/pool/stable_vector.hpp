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
///                the system provides it only when it is touched. Checked builds: 16 bytes behind the last element.
/// Threads        one at a time. Others may read elements while one appends, if told of them by other means. Checked
///                builds report calls that overlap.
/// Fork           usable in the child.
/// When full      at `max_count` elements, or out of memory, emplace_back returns nullptr and changes nothing.
/// Example        examples/handle_pool.cpp

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>

#include <tenure/base/align.hpp>
#include <tenure/base/check.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/construct.hpp>
#include <tenure/engine/growing_range.hpp>
#include <tenure/engine/sole_user.hpp>
#include <tenure/engine/tail_guard.hpp>
#include <tenure/pool/detail/vector_checks.hpp>

namespace tenure::inline TENURE_ABI {

template<class T>
class stable_vector : detail::vector_parts {
public:
    using value_type = T;
    using iterator = T*;
    using const_iterator = const T*;

    /// Reserves nothing until the first element. If the addresses do not exist, every growth fails.
    [[nodiscard]] explicit stable_vector(std::size_t max_count) noexcept : vector_parts(max_count) { enlist(); }
    ~stable_vector() { clear(); }
    /// The elements stay where they are. The other vector is empty afterwards, with its former maximum.
    [[nodiscard]] stable_vector(stable_vector&& other) noexcept : vector_parts(other.max_count_) { take(other); }
    stable_vector& operator=(stable_vector&& other) noexcept {
        if (this == &other) return *this;
        clear();
        range_.release();
        max_count_ = other.max_count_;
        take(other);
        return *this;
    }

    /// Appends an element, which stays at its address until it is removed.
    /// Returns   nullptr when full or out of memory. When the constructor throws, the vector has no new element.
    template<class... Arguments>
    [[nodiscard]] T* emplace_back(Arguments&&... arguments) {
        const auto call = begin_call();
        if (!call) return nullptr;
        if (size_ == capacity_ && !reserve(size_ + 1)) [[unlikely]]
            return nullptr;
        [[maybe_unused]] const growing_tail tail(*this, 1);
        T* const made = ::new (static_cast<void*>(data() + size_)) T(std::forward<Arguments>(arguments)...);
        ++size_;
        return made;
    }
    /// Appends `count` elements, value-initialised.
    /// Returns   the first one; nullptr when full or out of memory, and nothing has changed.
    [[nodiscard]] T* append(std::size_t count) {
        const auto call = begin_call();
        if (!call) return nullptr;
        if (count > max_count_ - size_ || !reserve(size_ + count)) return nullptr;
        [[maybe_unused]] const growing_tail tail(*this, count);
        T* const first = data() + size_;
        detail::construct_elements(first, count);
        size_ += count;
        return first;
    }
    /// Removes the last element. Requires  the vector is not empty.
    void pop_back() noexcept {
        const auto call = begin_call();
        if (!call) return;
        static_cast<void>(checked_place(size_ - 1));
        remove(1);
    }
    /// Removes all elements. The memory stays.
    void clear() noexcept {
        if (const auto call = begin_call()) remove(size_);
    }
    /// Commits memory for `count` elements in all.
    /// Returns   false when `count` is above max_size() or out of memory; nothing has changed then.
    [[nodiscard]] bool reserve(std::size_t count) noexcept {
        const auto call = begin_call();
        return call && commit(count, sizeof(T), alignof(T));
    }
    /// Returns the memory after the last element to the system. Returns   the bytes of its pages, touched or not.
    std::size_t trim() noexcept {
        const auto call = begin_call();
        return call ? range_.decommit(size_ * sizeof(T) + guard_bytes, range_.committed_bytes()) : 0;
    }

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
    static constexpr std::size_t guard_bytes = detail::tail_guard_bytes; // zero without checks

    /// The memory behind the elements while some are constructed in it.
    class growing_tail {
    public:
        growing_tail(stable_vector& in, [[maybe_unused]] std::size_t count) noexcept : in_(in) {
            if constexpr (checks::caller) {
                in.check_tail();
                detail::open_vector_tail(in.end_address(), count * sizeof(T));
            }
        }
        ~growing_tail() {
            if constexpr (checks::caller) detail::close_vector_tail(in_.end_address());
        }
        growing_tail(const growing_tail&) = delete;
        growing_tail& operator=(const growing_tail&) = delete;

    private:
        [[maybe_unused]] stable_vector& in_;
    };

    void enlist() noexcept {
        if constexpr (checks::caller)
            vector_parts::enlist(sizeof(T), detail::signature_of<T>());
        else
            vector_parts::enlist(sizeof(T), nullptr);
    }
    /// Takes over the elements of a vector with the same maximum. Requires  this one has no memory.
    void take(stable_vector& other) noexcept {
        range_ = std::move(other.range_);
        size_ = std::exchange(other.size_, 0);
        capacity_ = std::exchange(other.capacity_, 0);
        enlist();
    }
    [[nodiscard]] detail::sole_call begin_call() noexcept { return {user_, detail::one_thread_in_vector, this}; }
    [[nodiscard]] std::uintptr_t end_address() const noexcept { return range_.begin() + size_ * sizeof(T); }
    void check_tail() const noexcept { detail::check_vector_tail(range_.begin(), end_address()); }
    /// Removes the last `count` elements.
    void remove(std::size_t count) noexcept {
        if (checks::caller && range_.committed_bytes() != 0) check_tail();
        detail::destroy_elements(data() + (size_ - count), count);
        size_ -= count;
        if (checks::caller && range_.committed_bytes() != 0) detail::shorten_vector(end_address(), count * sizeof(T));
    }
    [[nodiscard]] T* checked_place(std::size_t index) noexcept {
        if (checks::caller && index >= size_) end_for_index();
        return data() + index;
    }
    [[noreturn]] TENURE_COLD void end_for_index() const noexcept {
        report_misuse("an index of a stable_vector is out of range, or the vector is empty", this,
                      "Compare the index with size() before.");
        std::abort();
    }

    [[no_unique_address]] detail::sole_user user_;
};

}
