// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A fixed-length array that is passed by value: every copy knows whether the memory was freed.
///
/// Use it for     arrays that parts, threads or languages share without one clear owner; members of copied structures.
/// Not for        arrays with one owner: buffer/safe_array.hpp. Arrays that grow: std::vector with
///                adapt/stl_allocator.hpp.
/// Memory from    the process heap.
/// Cost           element access: one load, two compares; through a lease as through a pointer. make() and
///                deallocate(): about 50 ns plus an allocation.
/// Overhead       24 bytes per copy; 60 bytes for the memory's handle entry, plus the heap's rounding.
/// Threads        any. The buffer does not synchronize element accesses. Threads may pass copies to each other.
/// Fork           as handle/handle_table.hpp.
/// When full      make() returns a buffer that is not live.
/// Example        examples/handles.cpp

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include <tenure/base/align.hpp>
#include <tenure/base/check.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/construct.hpp>
#include <tenure/base/min_max.hpp>
#include <tenure/buffer/detail/buffer_checks.hpp>
#include <tenure/buffer/lease.hpp>
#include <tenure/handle/handle_memory.hpp>
#include <tenure/handle/handle_table.hpp>

namespace tenure::inline TENURE_ABI {

/// Element types of fixed buffers: trivially copyable, without a destructor.
template<class T>
concept plain_element = std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T> && !std::is_const_v<T> &&
                        !std::is_volatile_v<T>;

template<plain_element T>
class fixed_buffer {
public:
    using value_type = T;

    /// Creates a buffer that is not live, as after deallocate().
    constexpr fixed_buffer() noexcept = default;

    /// Allocates `count` elements, all zero unless the options say otherwise.
    /// Returns   a buffer that is not live when out of memory, if the size overflows, or if the alignment is invalid.
    [[nodiscard]] static fixed_buffer make(std::size_t count, held_options options = {}) noexcept {
        handle made;
        check_alignment("A fixed_buffer", options.alignment);
        if (count > max_object_bytes / sizeof(T) || !is_power_of_two(options.alignment)) return {};
        options.alignment = detail::max_of(options.alignment, alignof(T));
        if (options.kind == nullptr) options.kind = "fixed_buffer";
        if (allocate_held(count * sizeof(T), options, made) != status::ok) return {};
        return fixed_buffer(static_cast<T*>(made.pointer), count, made);
    }
    /// Allocates a copy of the span.
    [[nodiscard]] static fixed_buffer copy_of(std::span<const T> values, held_options options = {}) noexcept {
        options.how = fill::none;
        const fixed_buffer made = make(values.size(), options);
        if (made.is_live()) detail::copy_elements(values.data(), values.size(), made.first_);
        return made;
    }
    /// Uses the memory of `which` as elements, from its start.
    /// Requires  `which` belongs to the process's table, and its memory has room for `count` elements.
    [[nodiscard]] static fixed_buffer of(const handle& which, std::size_t count) noexcept {
        return fixed_buffer(static_cast<T*>(which.pointer), count, which);
    }

    [[nodiscard]] bool is_live() const noexcept { return handle_table::process().is_live(as_handle()); }
    [[nodiscard]] explicit operator bool() const noexcept { return is_live(); }

    /// Number of elements. It does not change when the buffer is freed.
    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    [[nodiscard]] std::size_t size_bytes() const noexcept { return count_ * sizeof(T); }
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }

    /// Returns an element. An index out of range or a freed buffer is reported, and the program ends.
    [[nodiscard]] T& operator[](std::size_t index) const noexcept {
        if (!is_live()) [[unlikely]]
            detail::end_for_stale_buffer(first_);
        if (index >= count_) [[unlikely]]
            detail::end_for_index(first_, index, count_);
        return first_[index];
    }
    /// Returns   nullptr when the index is out of range or the buffer is freed.
    [[nodiscard]] T* try_at(std::size_t index) const noexcept {
        return index < count_ && is_live() ? first_ + index : nullptr;
    }

    /// All elements. Only this call checks the buffer, and reports one that is not live. A lease keeps the memory.
    [[nodiscard]] std::span<T> span() const noexcept {
        if (!is_live()) [[unlikely]]
            detail::end_for_stale_buffer(first_);
        return {first_, count_};
    }
    [[nodiscard]] T* data() const noexcept { return span().data(); }

    /// Holds the memory: nothing can free it until the lease ends, and loops run at pointer speed. Empty if not live.
    [[nodiscard]] tenure::lease<T> lease() const noexcept { return tenure::lease<T>(as_handle(), first_, count_); }

    /// A part of the buffer, in the same memory, which is always freed as a whole. A slice out of range is reported.
    [[nodiscard]] fixed_buffer slice(std::size_t first, std::size_t count) const noexcept {
        if (first > count_ || count > count_ - first) [[unlikely]]
            detail::end_for_slice(first_, first, count, count_);
        return fixed_buffer(first_ + first, count, as_handle());
    }

    /// The same bytes as elements of another type, as many as fit. Not live if they would be misaligned.
    template<plain_element Other>
    [[nodiscard]] fixed_buffer<Other> as() const noexcept {
        if (address_of(first_) % alignof(Other) != 0) return {};
        auto* const first = static_cast<Other*>(static_cast<void*>(first_));
        return fixed_buffer<Other>(first, size_bytes() / sizeof(Other), as_handle());
    }

    /// Counts one holder more or less: see handle/handle_table.hpp. A lease does both.
    status acquire() const noexcept { return handle_table::process().acquire(as_handle()); }
    status release() const noexcept { return handle_table::process().release(as_handle()); }
    [[nodiscard]] std::uint32_t holders() const noexcept { return handle_table::process().holders(as_handle()); }

    /// Frees the whole memory, whichever copy or slice this is called on. All of them are stale from then on.
    /// Fails     stale_handle: already freed; still_held: nothing has changed.
    status deallocate() const noexcept { return handle_table::process().remove(as_handle()); }

    /// fill() and copy_to() do nothing, and return false, if the buffer is not live.
    bool fill(const T& value) const noexcept {
        const auto held = lease();
        const T each = value; // `value` may be one of the elements
        for (T& element : held) element = each;
        return held.is_live();
    }
    /// Copies as many elements as both have.
    bool copy_to(std::span<T> to) const noexcept {
        const auto held = lease();
        const std::size_t count = detail::min_of(held.size(), to.size());
        if (count != 0) std::memmove(to.data(), held.begin(), count * sizeof(T));
        return held.is_live();
    }

    /// For the handle table and for other languages.
    [[nodiscard]] handle as_handle() const noexcept { return {first_, size_bytes(), entry_, generation_}; }

    /// Whether both are the same part of the same memory, live or not.
    friend bool operator==(const fixed_buffer&, const fixed_buffer&) noexcept = default;

private:
    template<plain_element Other>
    friend class fixed_buffer;

    fixed_buffer(T* first, std::size_t count, const handle& of) noexcept
        : first_(first), count_(count), entry_(of.entry), generation_(of.generation) {}

    T* first_ = nullptr;
    std::size_t count_ = 0;
    std::uint32_t entry_ = 0;
    std::uint32_t generation_ = 0;
};
static_assert(sizeof(fixed_buffer<int>) == 24);
static_assert(std::is_trivially_copyable_v<fixed_buffer<int>>);

}
