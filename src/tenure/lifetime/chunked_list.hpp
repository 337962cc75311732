// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A list that grows by chunks: elements never move.
///
/// Use it for     elements that others point to while the list grows; lists of unknown length in Temp, where a growing
///                array would leave its former copies behind.
/// Not for        arrays that must be contiguous: std::vector with adapt/stl_allocator.hpp. Elements that are erased in
///                the middle: pool/pool.hpp.
/// Memory from    the lifetime of the list: Temp, TempJob or Persistent, in chunks of 4 KiB, or of eight elements if
///                they are larger.
/// Cost           emplace_back and pop_back O(1), plus O(chunks) each time the table of chunks doubles. Element access:
///                two loads; through for_each_chunk as through a pointer.
/// Overhead       40 bytes per list; 8 to 16 bytes per chunk; the free rest of the last chunk.
/// Threads        one at a time. A list in Temp stays on its thread.
/// Fork           usable in the child, as its lifetime.
/// When full      emplace_back returns nullptr and changes nothing.
/// Example        examples/lifetimes.cpp

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <span> // and the iterator tags
#include <type_traits>
#include <utility>

#include <tenure/base/align.hpp>
#include <tenure/base/check.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/construct.hpp>
#include <tenure/base/min_max.hpp>
#include <tenure/lifetime/lifetime.hpp>

namespace tenure::inline TENURE_ABI {

/// A list in Temp must not be used after the scope, job or frame has ended in which it got its first element; checked
/// builds then report the next use and end the program. It may be destroyed, reset() or assigned later only if T has no
/// destructor: then it reads nothing, because its memory ended with the scope. After reset() it begins anew.
template<class T>
class chunked_list {
    template<bool IsConst>
    class position;

public:
    using value_type = T;
    using iterator = position<false>;
    using const_iterator = position<true>;

    /// Elements per chunk: a power of two.
    static constexpr std::size_t chunk_elements = std::bit_floor(detail::max_of<std::size_t>(4096 / sizeof(T), 8));

    /// Allocates nothing.
    [[nodiscard]] explicit chunked_list(lifetime held) noexcept : held_(held) {}
    ~chunked_list() { reset(); }
    /// The other list is empty afterwards.
    [[nodiscard]] chunked_list(chunked_list&& other) noexcept
        : chunks_(std::exchange(other.chunks_, nullptr)), size_(std::exchange(other.size_, 0)),
          chunk_count_(std::exchange(other.chunk_count_, 0)), table_size_(std::exchange(other.table_size_, 0)),
          held_(other.held_), origin_(other.origin_) {}
    chunked_list& operator=(chunked_list&& other) noexcept {
        if (this == &other) return *this;
        reset();
        held_ = other.held_;
        origin_ = other.origin_;
        chunks_ = std::exchange(other.chunks_, nullptr);
        size_ = std::exchange(other.size_, 0);
        chunk_count_ = std::exchange(other.chunk_count_, 0);
        table_size_ = std::exchange(other.table_size_, 0);
        return *this;
    }

    /// Appends an element, which stays at its address until it is removed.
    /// Returns   nullptr when out of memory. When the constructor throws, the list has no new element.
    template<class... Arguments>
    [[nodiscard]] T* emplace_back(Arguments&&... arguments) {
        if (size_ == chunk_count_ * chunk_elements && !add_chunk()) [[unlikely]]
            return nullptr;
        check_alive();
        T* const made = ::new (static_cast<void*>(place(size_))) T(std::forward<Arguments>(arguments)...);
        ++size_;
        return made;
    }
    /// Removes the last element. Its chunk stays. Requires  the list is not empty.
    void pop_back() noexcept {
        if (checks::caller && size_ == 0) end_for_index();
        check_alive();
        place(--size_)->~T();
    }
    /// Removes all elements. The chunks stay.
    void clear() noexcept {
        if constexpr (!std::is_trivially_destructible_v<T>)
            for_each_chunk([](std::span<T> elements) { detail::destroy_elements(elements.data(), elements.size()); });
        size_ = 0;
    }
    /// Removes all elements and frees the chunks; those in Temp are freed with their scope.
    void reset() noexcept {
        clear();
        if (chunks_ != nullptr && held_ != lifetime::temp) {
            for (std::size_t index = chunk_count_; index-- > 0;) tenure::deallocate(chunks_[index], chunk_bytes, held_);
            deallocate_table(chunks_, table_size_);
        }
        chunks_ = nullptr;
        chunk_count_ = table_size_ = 0;
    }
    /// Allocates chunks for `count` elements in all.
    /// Returns   false when out of memory; what was allocated until then stays.
    [[nodiscard]] bool reserve(std::size_t count) noexcept {
        while (capacity() < count)
            if (!add_chunk()) return false;
        return true;
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] std::size_t capacity() const noexcept { return chunk_count_ * chunk_elements; }
    [[nodiscard]] lifetime held() const noexcept { return held_; }

    /// Requires  `index` is below size(); checked builds end the program otherwise.
    [[nodiscard]] T& operator[](std::size_t index) noexcept { return *checked_place(index); }
    [[nodiscard]] const T& operator[](std::size_t index) const noexcept { return *checked_place(index); }
    [[nodiscard]] T& back() noexcept { return *checked_place(size_ - 1); }
    [[nodiscard]] const T& back() const noexcept { return *checked_place(size_ - 1); }

    /// Calls `visit(std::span<T>)` for the elements of each chunk, in order.
    template<class Visit>
    void for_each_chunk(Visit&& visit) {
        if (size_ != 0) check_alive();
        for (std::size_t first = 0; first < size_; first += chunk_elements)
            visit(std::span<T>(place(first), detail::min_of(chunk_elements, size_ - first)));
    }
    template<class Visit>
    void for_each_chunk(Visit&& visit) const {
        if (size_ != 0) check_alive();
        for (std::size_t first = 0; first < size_; first += chunk_elements)
            visit(std::span<const T>(place(first), detail::min_of(chunk_elements, size_ - first)));
    }

    [[nodiscard]] iterator begin() noexcept { return iterator(this, 0); }
    [[nodiscard]] iterator end() noexcept { return iterator(this, size_); }
    [[nodiscard]] const_iterator begin() const noexcept { return const_iterator(this, 0); }
    [[nodiscard]] const_iterator end() const noexcept { return const_iterator(this, size_); }

private:
    static constexpr std::size_t chunk_bytes = chunk_elements * sizeof(T);
    static constexpr std::size_t chunk_alignment = detail::max_of(alignof(T), default_alignment);
    static constexpr std::size_t first_table_size = 8;

    [[nodiscard]] T* place(std::size_t index) const noexcept {
        return chunks_[index / chunk_elements] + index % chunk_elements;
    }
    [[nodiscard]] T* checked_place(std::size_t index) const noexcept {
        if (checks::caller && index >= size_) end_for_index();
        check_alive();
        return place(index);
    }
    void check_alive() const noexcept {
        if constexpr (checks::caller) {
            if (held_ != lifetime::temp) return;
            const detail::temp_end ended = origin_.end();
            if (ended != detail::temp_end::none) [[unlikely]]
                end_for_scope(ended);
        }
    }
    [[noreturn]] TENURE_COLD void end_for_scope(detail::temp_end ended) const noexcept {
        detail::report_outlived(ended, this);
        std::abort();
    }
    [[noreturn]] TENURE_COLD void end_for_index() const noexcept {
        report_misuse("an index of a chunked_list is out of range, or the list is empty", this,
                      "Compare the index with size() before.");
        std::abort();
    }
    [[nodiscard]] bool add_chunk() noexcept {
        if (checks::caller && held_ == lifetime::temp && chunks_ != nullptr) {
            check_alive();
            origin_.check_growth();
        }
        if (chunk_count_ == table_size_ && !grow_table()) return false;
        void* const chunk = tenure::allocate(chunk_bytes, held_, chunk_alignment);
        if (chunk == nullptr) return false;
        chunks_[chunk_count_++] = static_cast<T*>(chunk);
        return true;
    }
    void restart_origin() noexcept { origin_ = origin(); }
    [[nodiscard]] bool grow_table() noexcept {
        const std::size_t wanted = detail::max_of(first_table_size, table_size_ * 2);
        auto* const grown = static_cast<T**>(tenure::allocate(wanted * sizeof(T*), held_));
        if (grown == nullptr) return false;
        for (std::size_t index = 0; index < chunk_count_; ++index) grown[index] = chunks_[index];
        if (chunks_ != nullptr) deallocate_table(chunks_, table_size_);
        if (checks::caller && held_ == lifetime::temp && chunks_ == nullptr) restart_origin();
        chunks_ = grown;
        table_size_ = wanted;
        return true;
    }
    void deallocate_table(T** table, std::size_t size) noexcept { tenure::deallocate(table, size * sizeof(T*), held_); }

    T** chunks_ = nullptr;
    std::size_t size_ = 0;
    std::size_t chunk_count_ = 0;
    std::size_t table_size_ = 0;
    lifetime held_;
    // When a list in Temp got its first chunk, in checked builds.
    struct no_origin {
        constexpr void check_growth() const noexcept {}
        [[nodiscard]] static constexpr detail::temp_end end() noexcept { return detail::temp_end::none; }
    };
    using origin = std::conditional_t<checks::caller, detail::temp_list_origin, no_origin>;
    [[no_unique_address]] origin origin_;
};

/// A random-access iterator. It stays valid while the list lives and its element is not removed.
template<class T>
template<bool IsConst>
class chunked_list<T>::position {
    using list = std::conditional_t<IsConst, const chunked_list, chunked_list>;

public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using reference = std::conditional_t<IsConst, const T&, T&>;
    using iterator_concept = std::random_access_iterator_tag;

    position() = default;
    [[nodiscard]] reference operator*() const noexcept { return (*list_)[index_]; }
    [[nodiscard]] auto operator->() const noexcept { return &**this; }
    [[nodiscard]] reference operator[](difference_type steps) const noexcept { return *(*this + steps); }
    position& operator+=(difference_type steps) noexcept {
        index_ += static_cast<std::size_t>(steps);
        return *this;
    }
    position& operator-=(difference_type steps) noexcept { return *this += -steps; }
    position& operator++() noexcept { return *this += 1; }
    position& operator--() noexcept { return *this -= 1; }
    position operator++(int) noexcept { return std::exchange(*this, *this + 1); }
    position operator--(int) noexcept { return std::exchange(*this, *this - 1); }
    [[nodiscard]] friend position operator+(position at, difference_type steps) noexcept { return at += steps; }
    [[nodiscard]] friend position operator+(difference_type steps, position at) noexcept { return at += steps; }
    [[nodiscard]] friend position operator-(position at, difference_type steps) noexcept { return at -= steps; }
    [[nodiscard]] friend difference_type operator-(const position& left, const position& right) noexcept {
        return static_cast<difference_type>(left.index_ - right.index_);
    }
    [[nodiscard]] friend bool operator==(const position& left, const position& right) noexcept {
        return left.index_ == right.index_;
    }
    [[nodiscard]] friend auto operator<=>(const position& left, const position& right) noexcept {
        return left.index_ <=> right.index_;
    }

private:
    friend chunked_list;
    position(list* of, std::size_t index) noexcept : list_(of), index_(index) {}

    list* list_ = nullptr;
    std::size_t index_ = 0;
};

}
