// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Atomic variables and a lock guard for the library's headers, without <atomic> and <mutex>.
///
/// In C++20 these two headers bring <system_error> and <string> with them: 0.2 s for each file that includes a header
/// of this library. The functions compile to the same instructions as those of std::atomic. Sources use <atomic>; its
/// memory orders are accepted here.

#include <type_traits>

#include <tenure/base/compiler.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// The orders of std::memory_order, with the same values.
enum class memory_order : int {
    relaxed = 0,
    acquire = 2,
    release = 3,
    acq_rel = 4,
    seq_cst = 5,
};
/// The default order, as either type.
template<class Order>
constexpr Order sequential_order = static_cast<Order>(static_cast<int>(memory_order::seq_cst));

/// An order as the compiler's functions take it. `Order` is memory_order or std::memory_order.
template<class Order>
[[nodiscard]] TENURE_ALWAYS_INLINE constexpr int order_number(Order order) noexcept {
    static_assert(std::is_enum_v<Order> && sizeof(Order) == sizeof(int));
    return static_cast<int>(order);
}

/// An atomic variable of up to eight bytes, always without a lock.
template<class T>
class atomic {
    // NOLINTNEXTLINE(bugprone-sizeof-expression): a pointer is a value here
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8 && (sizeof(T) & (sizeof(T) - 1)) == 0);

public:
    using value_type = T;

    constexpr atomic() noexcept : value_{} {}
    constexpr atomic(T value) noexcept : value_(value) {} // NOLINT: implicit, as std::atomic's
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;

    template<class Order = memory_order>
    [[nodiscard]] TENURE_ALWAYS_INLINE T load(Order order = sequential_order<Order>) const noexcept {
        return load_of(value_, order_number(order));
    }
    template<class Order = memory_order>
    TENURE_ALWAYS_INLINE void store(T value, Order order = sequential_order<Order>) noexcept {
        store_of(value_, value, order_number(order));
    }
    template<class Order = memory_order>
    TENURE_ALWAYS_INLINE T exchange(T value, Order order = sequential_order<Order>) noexcept {
        return exchange_of(value_, value, order_number(order));
    }

    /// `expected` receives the value that was found. The weak form may fail without a reason.
    template<class Order>
    TENURE_ALWAYS_INLINE bool compare_exchange_strong(T& expected, T desired, Order made, Order failed) noexcept {
        return compare_exchange_of(value_, expected, desired, false, order_number(made), order_number(failed));
    }
    template<class Order>
    TENURE_ALWAYS_INLINE bool compare_exchange_weak(T& expected, T desired, Order made, Order failed) noexcept {
        return compare_exchange_of(value_, expected, desired, true, order_number(made), order_number(failed));
    }
    /// With one order: a failure loads with its loading half.
    template<class Order = memory_order>
    TENURE_ALWAYS_INLINE bool compare_exchange_strong(T& expected, T desired,
                                                      Order order = sequential_order<Order>) noexcept {
        return compare_exchange_of(value_, expected, desired, false, order_number(order), loading_half(order));
    }
    template<class Order = memory_order>
    TENURE_ALWAYS_INLINE bool compare_exchange_weak(T& expected, T desired,
                                                    Order order = sequential_order<Order>) noexcept {
        return compare_exchange_of(value_, expected, desired, true, order_number(order), loading_half(order));
    }

    template<class Order = memory_order>
    TENURE_ALWAYS_INLINE T fetch_add(T value, Order order = sequential_order<Order>) noexcept {
        static_assert(std::is_integral_v<T>);
        return add_of(value_, value, order_number(order));
    }
    template<class Order = memory_order>
    TENURE_ALWAYS_INLINE T fetch_sub(T value, Order order = sequential_order<Order>) noexcept {
        static_assert(std::is_integral_v<T>);
        return subtract_of(value_, value, order_number(order));
    }

    // Sequentially consistent, as std::atomic's.
    TENURE_ALWAYS_INLINE operator T() const noexcept { return load(); } // NOLINT: implicit
    TENURE_ALWAYS_INLINE T operator=(T value) noexcept {                // NOLINT: returns the value
        store(value);
        return value;
    }
    TENURE_ALWAYS_INLINE T operator++() noexcept { return fetch_add(T{1}) + T{1}; }
    TENURE_ALWAYS_INLINE T operator--() noexcept { return fetch_sub(T{1}) - T{1}; }
    TENURE_ALWAYS_INLINE T operator++(int) noexcept { return fetch_add(T{1}); }
    TENURE_ALWAYS_INLINE T operator--(int) noexcept { return fetch_sub(T{1}); }
    TENURE_ALWAYS_INLINE T operator+=(T value) noexcept { return fetch_add(value) + value; }
    TENURE_ALWAYS_INLINE T operator-=(T value) noexcept { return fetch_sub(value) - value; }

private:
    template<class Order>
    [[nodiscard]] static constexpr int loading_half(Order order) noexcept {
        const auto whole = static_cast<memory_order>(order_number(order));
        if (whole == memory_order::release) return order_number(memory_order::relaxed);
        return order_number(whole == memory_order::acq_rel ? memory_order::acquire : whole);
    }

    // NOLINTNEXTLINE(bugprone-sizeof-expression): a pointer is a value here
    alignas(sizeof(T)) T value_;
};

/// Atomic access to a variable that is not atomic elsewhere.
template<class T>
[[nodiscard]] TENURE_ALWAYS_INLINE T load_atomically(const T& from, memory_order order) noexcept {
    return load_of(from, order_number(order));
}
template<class T>
TENURE_ALWAYS_INLINE void store_atomically(T& to, T value, memory_order order) noexcept {
    store_of(to, value, order_number(order));
}

/// Keeps the compiler from moving accesses across it, for what a signal handler on the same thread may see.
TENURE_ALWAYS_INLINE void signal_fence(memory_order order) noexcept { signal_fence_of(order_number(order)); }

}
