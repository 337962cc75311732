// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// An array with one owner. Other code can hold its memory through buffers and leases, which know when it is freed.
///
/// Use it for     arrays of any object type that other code reads: elements are constructed and destroyed.
/// Not for        copies by value: buffer/fixed_buffer.hpp. Arrays larger than memory: buffer/huge_array.hpp.
/// Memory from    the process heap.
/// Cost           as buffer/fixed_buffer.hpp, plus a constructor and a destructor call per element.
/// Overhead       as buffer/fixed_buffer.hpp.
/// Threads        one at a time for the owner; any for leases. The array does not synchronize element accesses.
/// Checks         code with a copy of the handle can free the memory before the owner does; is_live() is then false. In
///                checked builds size() is then zero, and an access is reported and ends the program. Take a lease to
///                prevent this.
/// Fork           as handle/handle_table.hpp.
/// When full      make() returns an array that is empty and not live.
/// Example        examples/handles.cpp

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include <tenure/base/align.hpp>
#include <tenure/base/check.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/construct.hpp>
#include <tenure/base/min_max.hpp>
#include <tenure/buffer/detail/buffer_checks.hpp>
#include <tenure/buffer/fixed_buffer.hpp>
#include <tenure/buffer/lease.hpp>
#include <tenure/handle/handle_memory.hpp>

namespace tenure::inline TENURE_ABI {

template<class T>
class safe_array {
    static_assert(std::is_nothrow_destructible_v<T>);

public:
    using value_type = T;

    /// Creates an empty array.
    safe_array() noexcept = default;

    /// Allocates `count` elements, each initialised as T(): numbers are zero.
    [[nodiscard]] static safe_array make(std::size_t count, held_options options = {}) noexcept {
        static_assert(std::is_nothrow_default_constructible_v<T>);
        constexpr bool is_plain = std::is_trivially_default_constructible_v<T>;
        safe_array made;
        if (!is_plain) options.how = fill::none; // the constructors initialise the memory
        if (!made.reserve(count, options)) return made;
        if constexpr (!is_plain) detail::construct_elements(made.first(), count);
        return made;
    }
    /// Allocates copies of the span's elements.
    [[nodiscard]] static safe_array copy_of(std::span<const T> values, held_options options = {}) noexcept {
        static_assert(std::is_nothrow_copy_constructible_v<T>);
        safe_array made;
        options.how = fill::none;
        if (made.reserve(values.size(), options)) detail::copy_elements(values.data(), values.size(), made.first());
        return made;
    }

    safe_array(safe_array&& other) noexcept
        : memory_(std::exchange(other.memory_, {})), count_(std::exchange(other.count_, 0)) {}
    /// Ends the current array, as the destructor does, and takes over from `other`, which is empty afterwards.
    safe_array& operator=(safe_array&& other) noexcept {
        safe_array taken(std::move(other));
        std::swap(memory_, taken.memory_);
        std::swap(count_, taken.count_);
        return *this;
    }
    /// Destroys the elements and frees the memory. If the memory is held, reports this and never frees it.
    TENURE_LOCAL ~safe_array() {
        std::uint32_t holders = 0;
        if (deallocate(&holders) == status::still_held) detail::report_held_at_end(memory_.pointer, holders);
    }

    [[nodiscard]] bool is_live() const noexcept { return handle_table::process().is_live(memory_); }
    [[nodiscard]] explicit operator bool() const noexcept { return is_live(); }
    [[nodiscard]] std::size_t size() const noexcept { return is_lost() ? 0 : count_; }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }

    /// Returns an element. An index out of range is reported, and the program ends.
    [[nodiscard]] T& operator[](std::size_t index) const noexcept {
        if (index >= count_) [[unlikely]]
            detail::end_for_index(memory_.pointer, index, count_);
        return checked_first()[index];
    }
    [[nodiscard]] T* try_at(std::size_t index) const noexcept { return index < size() ? first() + index : nullptr; }
    [[nodiscard]] T* begin() const noexcept { return checked_first(); }
    [[nodiscard]] T* end() const noexcept { return checked_first() + count_; }
    [[nodiscard]] std::span<T> span() const noexcept { return {checked_first(), count_}; }

    /// A handle for other code. It goes stale when the array ends.
    template<plain_element Element = T>
    [[nodiscard]] fixed_buffer<Element> buffer() const noexcept {
        return fixed_buffer<Element>::of(memory_, count_);
    }
    /// Keeps the array's memory until the lease ends. The owner must not end before.
    [[nodiscard]] tenure::lease<T> lease() const noexcept { return tenure::lease<T>(memory_, first(), count_); }
    [[nodiscard]] std::uint32_t holders() const noexcept { return handle_table::process().holders(memory_); }
    [[nodiscard]] const handle& as_handle() const noexcept { return memory_; }

    /// Ends the array now. Fails     still_held: nothing has changed; stale_handle: empty, or freed by other code.
    status deallocate(std::uint32_t* holders = nullptr) noexcept {
        handle_table& table = handle_table::process();
        if (memory_.entry == 0) return status::stale_handle;
        const status how = table.remove(memory_, holders);
        if (how == status::still_held) return how;
        memory_ = {};
        count_ = 0;
        return how;
    }

protected:
    /// Takes ownership of memory that already has a handle. Requires  the array is empty.
    void adopt(const handle& memory, std::size_t count) noexcept {
        memory_ = memory;
        count_ = count;
    }

private:
    /// Called when no lease can hold the memory any more: a lease never sees destroyed elements.
    TENURE_LOCAL static void end_elements(void* memory, std::size_t bytes) noexcept {
        std::destroy_n(static_cast<T*>(memory), bytes / sizeof(T));
        deallocate_held(memory, bytes);
    }

    [[nodiscard]] T* first() const noexcept { return static_cast<T*>(memory_.pointer); }
    /// Whether other code has freed the memory. Checked builds only, because it costs a load at every access.
    [[nodiscard]] bool is_lost() const noexcept { return checks::caller && memory_.entry != 0 && !is_live(); }
    [[nodiscard]] T* checked_first() const noexcept {
        if (is_lost()) [[unlikely]]
            detail::end_for_stale_buffer(memory_.pointer);
        return first();
    }

    [[nodiscard]] bool reserve(std::size_t count, held_options options) noexcept {
        check_alignment("A safe_array", options.alignment);
        if (count > max_object_bytes / sizeof(T) || !is_power_of_two(options.alignment)) return false;
        options.alignment = detail::max_of(options.alignment, alignof(T));
        if (options.kind == nullptr) options.kind = "safe_array";
        if constexpr (!std::is_trivially_destructible_v<T>) options.releaser = &end_elements;
        if (allocate_held(count * sizeof(T), options, memory_) != status::ok) return false;
        count_ = count;
        return true;
    }

    handle memory_;
    std::size_t count_ = 0;
};

}
