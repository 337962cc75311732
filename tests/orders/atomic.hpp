// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Variables of explored programs: orders::atomic has the functions of tenure::detail::atomic and of std::atomic, so
/// sources of the library compile with it; orders::plain is a variable whose races are found.

#include <bit>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <type_traits>

#include "orders/explorer.hpp"

namespace orders {

using place = std::source_location;

template<class T>
class atomic {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t));

public:
    using value_type = T;

    constexpr atomic() noexcept : atomic(T{}) {}
    constexpr atomic(T value) noexcept : value_(value) { // NOLINT: implicit, as std::atomic's
        if (!std::is_constant_evaluated()) initialise(this, bits(value));
    }
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;

    template<class Order = std::memory_order>
    [[nodiscard]] T load(Order order = Order{__ATOMIC_SEQ_CST}, place from = place::current()) const noexcept {
        return value_of(orders::load(this, latest(), standard(order), from));
    }
    template<class Order = std::memory_order>
    void store(T value, Order order = Order{__ATOMIC_SEQ_CST}, place from = place::current()) noexcept {
        orders::store(this, latest(), bits(value), standard(order), from);
    }
    template<class Order = std::memory_order>
    T exchange(T value, Order order = Order{__ATOMIC_SEQ_CST}, place from = place::current()) noexcept {
        constexpr change by = [](std::uint64_t, std::uint64_t wanted) noexcept { return wanted; };
        return value_of(modify(this, latest(), by, bits(value), standard(order), from, "exchange"));
    }
    template<class Order>
    bool compare_exchange_strong(T& expected, T desired, Order made, Order failed,
                                 place from = place::current()) noexcept {
        std::uint64_t found = bits(expected);
        const bool is_made =
            compare_exchange(this, latest(), found, bits(desired), standard(made), standard(failed), from);
        expected = value_of(found);
        return is_made;
    }
    template<class Order = std::memory_order>
    bool compare_exchange_strong(T& expected, T desired, Order order = Order{__ATOMIC_SEQ_CST},
                                 place from = place::current()) noexcept {
        std::uint64_t found = bits(expected);
        const std::memory_order made = standard(order);
        // The failure follows from the one order that is written: see compare_exchange().
        const bool is_made = compare_exchange(this, latest(), found, bits(desired), made, loading_half(made), from);
        expected = value_of(found);
        return is_made;
    }
    template<class Order>
    bool compare_exchange_weak(T& expected, T desired, Order made, Order failed,
                               place from = place::current()) noexcept {
        return compare_exchange_strong(expected, desired, made, failed, from);
    }
    template<class Order = std::memory_order>
    bool compare_exchange_weak(T& expected, T desired, Order order = Order{__ATOMIC_SEQ_CST},
                               place from = place::current()) noexcept {
        return compare_exchange_strong(expected, desired, order, from);
    }
    template<class Order = std::memory_order>
    T fetch_add(T value, Order order = Order{__ATOMIC_SEQ_CST}, place from = place::current()) noexcept {
        constexpr change by = [](std::uint64_t before, std::uint64_t more) noexcept {
            return bits(static_cast<T>(value_of(before) + value_of(more)));
        };
        return value_of(modify(this, latest(), by, bits(value), standard(order), from, "fetch_add"));
    }
    template<class Order = std::memory_order>
    T fetch_sub(T value, Order order = Order{__ATOMIC_SEQ_CST}, place from = place::current()) noexcept {
        constexpr change by = [](std::uint64_t before, std::uint64_t less) noexcept {
            return bits(static_cast<T>(value_of(before) - value_of(less)));
        };
        return value_of(modify(this, latest(), by, bits(value), standard(order), from, "fetch_sub"));
    }
    /// A loop of loads that ends when it reads `wanted`.
    template<class Order = std::memory_order>
    void await(T wanted, Order order, place from = place::current()) const noexcept {
        orders::await(this, latest(), bits(wanted), true, standard(order), from);
    }
    /// A loop of loads that ends when it reads another value than `unwanted`.
    template<class Order = std::memory_order>
    T await_other(T unwanted, Order order, place from = place::current()) const noexcept {
        return value_of(orders::await(this, latest(), bits(unwanted), false, standard(order), from));
    }
    /// futex(2) on the bits of `mask`.
    void wait_in_kernel(T expected, std::uint64_t mask = ~std::uint64_t{0}) const noexcept {
        futex_wait(this, latest(), mask, bits(expected));
    }
    void wake_in_kernel() const noexcept { futex_wake(this); }

    /// The value after every thread's end, or while the program is set up.
    [[nodiscard]] T last() const noexcept { return value_; }

private:
    static std::uint64_t bits(T value) noexcept {
        std::uint64_t word = 0;
        std::memcpy(&word, &value, sizeof value);
        return word;
    }
    static T value_of(std::uint64_t word) noexcept {
        T value;
        std::memcpy(&value, &word, sizeof value);
        return value;
    }
    template<class Order>
    static constexpr std::memory_order standard(Order order) noexcept {
        return static_cast<std::memory_order>(static_cast<int>(order));
    }
    static constexpr std::memory_order loading_half(std::memory_order order) noexcept {
        if (order == std::memory_order_release) return std::memory_order_relaxed;
        return order == std::memory_order_acq_rel ? std::memory_order_acquire : order;
    }

    /// What the engine reads before the first operation, and writes after each.
    class latest_value {
    public:
        explicit latest_value(T& value) noexcept : value_(value), word_(bits(value)) {}
        ~latest_value() { value_ = value_of(word_); }
        latest_value(const latest_value&) = delete;
        latest_value& operator=(const latest_value&) = delete;
        operator std::uint64_t&() noexcept { return word_; } // NOLINT: implicit, as an argument

    private:
        T& value_;
        std::uint64_t word_;
    };
    [[nodiscard]] latest_value latest() const noexcept { return latest_value{value_}; }

    alignas(sizeof(T)) mutable T value_;
};

/// A variable that is no atomic.
template<class T>
class plain {
public:
    constexpr plain() noexcept = default;
    explicit plain(T value) noexcept : value_(value) {}
    [[nodiscard]] T get(const char* name = "a plain variable") const noexcept {
        note_read(this, name);
        return value_;
    }
    void set(T value, const char* name = "a plain variable") noexcept {
        note_write(this, name);
        value_ = value;
    }

private:
    T value_{};
};

}
