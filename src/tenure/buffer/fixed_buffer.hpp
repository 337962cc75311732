// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// An array of a fixed length, passed around by value: every copy knows when it was freed.
///
/// Use it for     arrays that are shared between parts, threads or languages without one clear owner; members of
///                structures that are copied.
/// Not for        what has one owner: buffer/safe_array.hpp. What grows: std::vector with adapt/stl_allocator.hpp.
/// Memory from    the process heap.
/// Cost           an element one load, two compares; through a lease those of a pointer. make() and deallocate() about
///                50 ns and an allocation.
/// Overhead       24 bytes for each copy; 60 for the entry of its memory, and what the heap rounds up.
/// Threads        any; elements are as plain memory is. A copy is passed between threads as any other value.
/// Fork           as handle/handle_table.hpp.
/// When full      make() returns a buffer that is not live.
/// Example        examples/handles.cpp

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include <tenure/base/align.hpp>
#include <tenure/base/config.hpp>
#include <tenure/buffer/buffer_checks.hpp>
#include <tenure/buffer/lease.hpp>
#include <tenure/handle/handle_memory.hpp>
#include <tenure/handle/handle_table.hpp>

namespace tenure::inline TENURE_ABI {

/// What fixed buffers hold: elements that need neither a constructor nor a destructor.
template<class T>
concept plain_element = std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T> && !std::is_const_v<T> &&
                        !std::is_volatile_v<T>;

template<plain_element T>
class fixed_buffer {
public:
    using value_type = T;

    /// Not live, as after deallocate().
    constexpr fixed_buffer() noexcept = default;

    /// `count` elements, all zero unless the options say otherwise.
    /// Returns   a buffer that is not live when memory is refused, the size overflows or the alignment is no power
    ///           of two.
    [[nodiscard]] static fixed_buffer make(std::size_t count, held_options options = {}) noexcept {
        handle made;
        if (count > max_object_bytes / sizeof(T) || !is_power_of_two(options.alignment)) return {};
        options.alignment = std::max(options.alignment, alignof(T));
        if (options.kind == nullptr) options.kind = "fixed_buffer";
        if (allocate_held(count * sizeof(T), options, made) != status::ok) return {};
        return fixed_buffer(static_cast<T*>(made.pointer), count, made);
    }
    /// With a copy of what the span has.
    [[nodiscard]] static fixed_buffer copy_of(std::span<const T> values, held_options options = {}) noexcept {
        options.how = fill::none;
        fixed_buffer const made = make(values.size(), options);
        if (made.is_live()) std::copy(values.begin(), values.end(), made.first_);
        return made;
    }
    /// What stands for the memory of `which` as elements from its begin on.
    /// Requires  `which` is of the process's table, and there is room for `count` elements.
    [[nodiscard]] static fixed_buffer of(const handle& which, std::size_t count) noexcept {
        return fixed_buffer(static_cast<T*>(which.pointer), count, which);
    }

    [[nodiscard]] bool is_live() const noexcept { return handle_table::process().is_live(as_handle()); }
    [[nodiscard]] explicit operator bool() const noexcept { return is_live(); }

    /// Elements. What it was, when it is not live any more.
    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    [[nodiscard]] std::size_t size_bytes() const noexcept { return count_ * sizeof(T); }
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }

    /// The element. One that is not there, or not any more, is reported, and the program ends.
    [[nodiscard]] T& operator[](std::size_t index) const noexcept {
        if (!is_live()) [[unlikely]]
            detail::end_for_stale_buffer(first_);
        if (index >= count_) [[unlikely]]
            detail::end_for_index(first_, index, count_);
        return first_[index];
    }
    /// Null when it is not there, or not any more.
    [[nodiscard]] T* try_at(std::size_t index) const noexcept {
        return index < count_ && is_live() ? first_ + index : nullptr;
    }

    /// All elements: checked now, and not again. Only a lease keeps them. A buffer that is not live is reported.
    [[nodiscard]] std::span<T> span() const noexcept {
        if (!is_live()) [[unlikely]]
            detail::end_for_stale_buffer(first_);
        return {first_, count_};
    }
    [[nodiscard]] T* data() const noexcept { return span().data(); }

    /// Holds it: until its end nobody can free it, and loops run at the speed of a pointer. Empty when not live.
    [[nodiscard]] tenure::lease<T> lease() const noexcept { return tenure::lease<T>(as_handle(), first_, count_); }

    /// Part of it: the same memory, which any of them frees as a whole. Reported when it is not inside.
    [[nodiscard]] fixed_buffer slice(std::size_t first, std::size_t count) const noexcept {
        if (first > count_ || count > count_ - first) [[unlikely]]
            detail::end_for_slice(first_, first, count, count_);
        return fixed_buffer(first_ + first, count, as_handle());
    }

    /// The same bytes as elements of another type, as many as fit. Not live when they would not be aligned.
    template<plain_element Other>
    [[nodiscard]] fixed_buffer<Other> as() const noexcept {
        if (address_of(first_) % alignof(Other) != 0) return {};
        auto* const first = static_cast<Other*>(static_cast<void*>(first_));
        return fixed_buffer<Other>(first, size_bytes() / sizeof(Other), as_handle());
    }

    /// Counts one more, or one less, who hold it: see handle/handle_table.hpp. A lease does both.
    status acquire() const noexcept { return handle_table::process().acquire(as_handle()); }
    status release() const noexcept { return handle_table::process().release(as_handle()); }
    [[nodiscard]] std::uint32_t holders() const noexcept { return handle_table::process().holders(as_handle()); }

    /// Gives the memory back, whichever copy or slice it is called on; all are stale from then on.
    /// Fails     stale_handle: it was done already; still_held: nothing has changed.
    status deallocate() const noexcept { return handle_table::process().remove(as_handle()); }

    /// The two below do nothing to a buffer that is not live. Returns   whether they did.
    bool fill(const T& value) const noexcept {
        auto const held = lease();
        std::fill(held.begin(), held.end(), value);
        return held.is_live();
    }
    /// Copies as many as both have.
    bool copy_to(std::span<T> to) const noexcept {
        auto const held = lease();
        std::copy_n(held.begin(), std::min(held.size(), to.size()), to.begin());
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
