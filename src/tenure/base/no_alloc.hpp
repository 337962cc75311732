// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A thread's promise not to allocate, and the permission to break it.
///
/// Use it for     audio callbacks, frames, request loops: what must not wait for memory, and must stay so.
/// Cost           a scope: an add, a load and a test of thread-local state at each end; two calls where somebody
///                observes. An allocation: nothing; in checked builds a load and a test.
/// Seen           in checked builds every allocation and reallocation through this library, by the call that makes it;
///                under the hardened drop-in or `tenure watch` every malloc and operator new as well. Frees are
///                allowed, and so is what the library takes for itself where nobody asked it for memory.
/// Reported       at once, as the caller's mistake, which by default writes the stack and aborts. Where a handler
///                returns, the allocation goes on. Of calls within each other the outermost is reported, once. Under
///                `tenure watch` counted, by place, until the program has ended.
/// Threads        a promise is its thread's, and says nothing of others.
/// Example        examples/no_alloc.cpp

#include <cstddef>
#include <string_view>
#include <type_traits>

#include <tenure/base/config.hpp>
#include <tenure/base/observed.hpp>

namespace tenure::inline TENURE_ABI {

/// While it lives, the calling thread allocates nothing. Scopes nest, and end on the thread that began them.
class [[nodiscard]] no_alloc_scope {
public:
    TENURE_LOCAL no_alloc_scope() noexcept {
        detail::begin_observed(detail::this_thread_scopes.promises, detail::observed::no_alloc_begin);
    }
    TENURE_LOCAL ~no_alloc_scope() {
        detail::end_observed(detail::this_thread_scopes.promises, detail::observed::no_alloc_end);
    }
    no_alloc_scope(const no_alloc_scope&) = delete;
    no_alloc_scope& operator=(const no_alloc_scope&) = delete;

    /// Whether an allocation by the calling thread would break a promise now.
    [[nodiscard]] TENURE_LOCAL static bool is_active() noexcept {
        detail::thread_scopes const& scopes = detail::this_thread_scopes;
        return scopes.promises != 0 && scopes.permissions == 0;
    }
};

/// While it lives, the calling thread may allocate whatever was promised, also inside a no_alloc_scope that is opened
/// within: who permits answers for what is called. For a report, a first use, a path that is known to be rare.
class [[nodiscard]] allow_alloc_scope {
public:
    TENURE_LOCAL allow_alloc_scope() noexcept {
        detail::begin_observed(detail::this_thread_scopes.permissions, detail::observed::allow_alloc_begin);
    }
    TENURE_LOCAL ~allow_alloc_scope() {
        detail::end_observed(detail::this_thread_scopes.permissions, detail::observed::allow_alloc_end);
    }
    allow_alloc_scope(const allow_alloc_scope&) = delete;
    allow_alloc_scope& operator=(const allow_alloc_scope&) = delete;
};

namespace detail {

/// Around what the library does for itself: what the C library allocates meanwhile breaks no promise. Costs nothing
/// and looks for nobody where there is no promise.
class own_work {
public:
    TENURE_LOCAL own_work() noexcept : is_permitted_(no_alloc_scope::is_active()) {
        if (is_permitted_) [[unlikely]]
            begin_observed(this_thread_scopes.permissions, observed::allow_alloc_begin);
    }
    TENURE_LOCAL ~own_work() {
        if (is_permitted_) [[unlikely]]
            end_observed(this_thread_scopes.permissions, observed::allow_alloc_end);
    }
    own_work(const own_work&) = delete;
    own_work& operator=(const own_work&) = delete;

protected:
    bool is_permitted_;
};

/// `bytes` of zero: nobody knows how many.
TENURE_API TENURE_COLD void report_broken_promise(std::string_view what, std::size_t bytes) noexcept;

/// What stands at the begin of every function that allocates for a caller: reports it inside a no_alloc_scope, and then
/// nothing more until the function returns, neither itself nor what it calls.
class reported_allocation : own_work {
public:
    TENURE_LOCAL explicit reported_allocation(std::string_view what, std::size_t bytes = 0) noexcept {
        if (is_permitted_) [[unlikely]]
            report_broken_promise(what, bytes);
    }
};

/// What stands there without checks.
struct unreported_allocation {
    constexpr explicit unreported_allocation(std::string_view, std::size_t = 0) noexcept {}
};

using caller_allocation = std::conditional_t<checks::caller, reported_allocation, unreported_allocation>;

}

}
