// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// From here on, this file compiles the library's own headers and sources for the explorer: the atomic variables are
/// orders::atomic, the thread pointer is the fiber's, and all names are in an ABI namespace of their own, beside those
/// of the library that the test is linked with. What was included before remains the library's. Include it once, in a
/// test that is compiled alone.

#include <atomic>
#include <type_traits>

#include <tenure/base/atomic.hpp>
#include <tenure/base/check.hpp>
#include <tenure/base/config.hpp>

#include "orders/atomic.hpp"

namespace std { // NOLINT: for std::atomic in sources
template<class T>
using explored_atomic = orders::atomic<T>;
}
namespace orders {
template<class T>
using explored_atomic = atomic<T>;
}
namespace tenure::inline TENURE_ABI::detail {} // the library's
namespace tenure::library_detail {
using namespace tenure::TENURE_ABI::detail;
}
namespace tenure::inline TENURE_EXPLORED::detail {
using namespace tenure::library_detail;
template<class T>
using explored_atomic = orders::atomic<T>;
template<class T>
[[nodiscard]] T explored_load(const T& from, memory_order order, orders::place at = orders::place::current()) noexcept {
    std::uint64_t raw = from;
    const std::uint64_t value = orders::load(&from, raw, static_cast<std::memory_order>(order_number(order)), at);
    const_cast<T&>(from) = static_cast<T>(raw);
    return static_cast<T>(value);
}
template<class T>
void explored_store(T& to, T value, memory_order order, orders::place at = orders::place::current()) noexcept {
    std::uint64_t raw = to;
    orders::store(&to, raw, value, static_cast<std::memory_order>(order_number(order)), at);
    to = static_cast<T>(raw);
}
}

#undef TENURE_ABI
#define TENURE_ABI TENURE_EXPLORED
#define atomic explored_atomic
#define load_atomically explored_load
#define store_atomically explored_store
#define __builtin_thread_pointer() orders::thread_pointer()
