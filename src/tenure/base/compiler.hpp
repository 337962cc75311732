// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What compilers offer beyond the language, under one name each: atomic access, numbers of two words, arithmetic that
/// tells of an overflow, prefetches and traps. Attributes are macros of config.hpp.
///
/// Each has the form of GCC and Clang and, where there is one, that of Microsoft's compiler, for x64 and ARM64.

#include <bit>
#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

#if defined(_MSC_VER) && !defined(__clang__)

// Atomic access. Read-modify-writes are sequentially consistent, whatever was asked for. Loads acquire and stores
// release; one that is sequentially consistent is an exchange.

template<std::size_t Bytes>
struct interlocked;
template<>
struct interlocked<1> {
    using word = char;
    static word exchange(volatile word* at, word to) noexcept { return _InterlockedExchange8(at, to); }
    static word compare(volatile word* at, word to, word from) noexcept {
        return _InterlockedCompareExchange8(at, to, from);
    }
    static word add(volatile word* at, word more) noexcept { return _InterlockedExchangeAdd8(at, more); }
};
template<>
struct interlocked<2> {
    using word = short;
    static word exchange(volatile word* at, word to) noexcept { return _InterlockedExchange16(at, to); }
    static word compare(volatile word* at, word to, word from) noexcept {
        return _InterlockedCompareExchange16(at, to, from);
    }
    static word add(volatile word* at, word more) noexcept { return _InterlockedExchangeAdd16(at, more); }
};
template<>
struct interlocked<4> {
    using word = long;
    static word exchange(volatile word* at, word to) noexcept { return _InterlockedExchange(at, to); }
    static word compare(volatile word* at, word to, word from) noexcept {
        return _InterlockedCompareExchange(at, to, from);
    }
    static word add(volatile word* at, word more) noexcept { return _InterlockedExchangeAdd(at, more); }
};
template<>
struct interlocked<8> {
    using word = long long;
    static word exchange(volatile word* at, word to) noexcept { return _InterlockedExchange64(at, to); }
    static word compare(volatile word* at, word to, word from) noexcept {
        return _InterlockedCompareExchange64(at, to, from);
    }
    static word add(volatile word* at, word more) noexcept { return _InterlockedExchangeAdd64(at, more); }
};
template<class T>
using interlocked_word = typename interlocked<sizeof(T)>::word;
template<class T>
[[nodiscard]] volatile interlocked_word<T>* interlocked_at(const T& variable) noexcept {
    return reinterpret_cast<volatile interlocked_word<T>*>(const_cast<T*>(&variable));
}

TENURE_ALWAYS_INLINE void signal_fence_of(int) noexcept { _ReadWriteBarrier(); }
TENURE_ALWAYS_INLINE void order_accesses() noexcept {
#    if defined(_M_ARM64)
    __dmb(0xB); // inner shareable
#    endif
    _ReadWriteBarrier();
}

template<class T>
[[nodiscard]] TENURE_ALWAYS_INLINE T load_of(const T& from, int) noexcept {
    const interlocked_word<T> word = *interlocked_at(from);
    order_accesses();
    return std::bit_cast<T>(word);
}
template<class T>
TENURE_ALWAYS_INLINE T exchange_of(T& at, T value, int) noexcept {
    using word = interlocked_word<T>;
    return std::bit_cast<T>(interlocked<sizeof(T)>::exchange(interlocked_at(at), std::bit_cast<word>(value)));
}
template<class T>
TENURE_ALWAYS_INLINE void store_of(T& to, T value, int order) noexcept {
    constexpr int sequential = 5;
    if (order == sequential) return static_cast<void>(exchange_of(to, value, order));
    order_accesses();
    *interlocked_at(to) = std::bit_cast<interlocked_word<T>>(value);
}
template<class T>
TENURE_ALWAYS_INLINE bool compare_exchange_of(T& at, T& expected, T desired, bool, int, int) noexcept {
    using word = interlocked_word<T>;
    const auto wanted = std::bit_cast<word>(expected);
    const word found = interlocked<sizeof(T)>::compare(interlocked_at(at), std::bit_cast<word>(desired), wanted);
    expected = std::bit_cast<T>(found);
    return found == wanted;
}
template<class T>
TENURE_ALWAYS_INLINE T add_of(T& at, T more, int) noexcept {
    return static_cast<T>(interlocked<sizeof(T)>::add(interlocked_at(at), static_cast<interlocked_word<T>>(more)));
}
template<class T>
TENURE_ALWAYS_INLINE T subtract_of(T& at, T less, int order) noexcept {
    return add_of(at, static_cast<T>(T{0} - less), order);
}

// Numbers.

[[nodiscard]] TENURE_ALWAYS_INLINE std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) noexcept {
    return (a * b) ^ __umulh(a, b);
}
[[nodiscard]] TENURE_ALWAYS_INLINE bool multiply_overflows(std::size_t a, std::size_t b, std::size_t& to) noexcept {
    to = a * b;
    return __umulh(a, b) != 0;
}
[[nodiscard]] TENURE_ALWAYS_INLINE bool add_overflows(std::size_t a, std::size_t b, std::size_t& to) noexcept {
    to = a + b;
    return to < a;
}

struct word_pair {
    std::uint64_t words[2];

    [[nodiscard]] std::uint64_t operator[](std::size_t index) const noexcept { return words[index]; }
    friend word_pair operator+(word_pair a, std::uint64_t b) noexcept { return {a[0] + b, a[1] + b}; }
    friend word_pair operator^(word_pair a, word_pair b) noexcept { return {a[0] ^ b[0], a[1] ^ b[1]}; }
    friend word_pair operator|(word_pair a, word_pair b) noexcept { return {a[0] | b[0], a[1] | b[1]}; }
    word_pair& operator|=(word_pair b) noexcept { return *this = *this | b; }
};

TENURE_ALWAYS_INLINE void prefetch_line(const void* address) noexcept {
#    if defined(_M_ARM64)
    __prefetch(address);
#    else
    _mm_prefetch(static_cast<const char*>(address), 1); // into all caches
#    endif
}
[[noreturn]] TENURE_ALWAYS_INLINE void trap() noexcept { __fastfail(7); } // FAST_FAIL_FATAL_APP_EXIT

#else

// Atomic access. An order is the number of a std::memory_order, as order_number() of atomic.hpp gives it. Each compiles
// to the instructions of std::atomic.

template<class T>
[[nodiscard]] TENURE_ALWAYS_INLINE T load_of(const T& from, int order) noexcept {
    T value;
    __atomic_load(&from, &value, order);
    return value;
}
template<class T>
TENURE_ALWAYS_INLINE void store_of(T& to, T value, int order) noexcept {
    __atomic_store(&to, &value, order);
}
template<class T>
TENURE_ALWAYS_INLINE T exchange_of(T& at, T value, int order) noexcept {
    T before;
    __atomic_exchange(&at, &value, &before, order);
    return before;
}
template<class T>
TENURE_ALWAYS_INLINE bool compare_exchange_of(T& at, T& expected, T desired, bool is_weak, int made,
                                              int failed) noexcept {
    return __atomic_compare_exchange(&at, &expected, &desired, is_weak, made, failed);
}
template<class T>
TENURE_ALWAYS_INLINE T add_of(T& at, T more, int order) noexcept {
    return __atomic_fetch_add(&at, more, order);
}
template<class T>
TENURE_ALWAYS_INLINE T subtract_of(T& at, T less, int order) noexcept {
    return __atomic_fetch_sub(&at, less, order);
}
TENURE_ALWAYS_INLINE void signal_fence_of(int order) noexcept { __atomic_signal_fence(order); }

// Numbers.

/// A number of 128 bits. Microsoft's compiler has none: formatting and quotients of vectors need another one.
__extension__ typedef unsigned __int128 wide_word;

/// Both halves of a product, one upon the other: each bit depends on all bits of both numbers.
[[nodiscard]] TENURE_ALWAYS_INLINE std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) noexcept {
    const auto product = static_cast<wide_word>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// Multiplies. Returns   whether the product has more than 64 bits; `to` is then its lower half.
[[nodiscard]] TENURE_ALWAYS_INLINE bool multiply_overflows(std::size_t a, std::size_t b, std::size_t& to) noexcept {
    return __builtin_mul_overflow(a, b, &to);
}
/// The same for a sum.
[[nodiscard]] TENURE_ALWAYS_INLINE bool add_overflows(std::size_t a, std::size_t b, std::size_t& to) noexcept {
    return __builtin_add_overflow(a, b, &to);
}

/// A vector register of every processor, with the operators of numbers.
using word_pair = std::uint64_t __attribute__((vector_size(16)));

/// A hint that the cache line is written soon. Any address is allowed.
TENURE_ALWAYS_INLINE void prefetch_line(const void* address) noexcept { __builtin_prefetch(address, 1); }

/// Ends the process at once, without any handler of the program's.
[[noreturn]] TENURE_ALWAYS_INLINE void trap() noexcept { __builtin_trap(); }

#endif

}
