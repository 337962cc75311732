// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// No-allocation scopes: a thread promises not to allocate, and permits exceptions.
///
/// Use it for     audio callbacks, frames, request loops: code that must not wait for memory.
/// Cost           a scope: an add, a load and a test of thread-local state at each end, plus two calls if an observer
///                is present. An allocation: nothing; in checked builds a load and a test.
/// Detected       in checked builds every allocation and reallocation through this library, at the call that makes it.
///                The hardened drop-in and `tenure watch` also detect every malloc and operator new. Frees (no_wait.hpp
///                forbids them) and the library's own internal allocations are allowed.
/// Reported       at once, as misuse: the default handler writes the stack and aborts. If a handler returns, the
///                allocation continues. Of nested calls only the outermost one is reported, once. `tenure watch` counts
///                violations by place until the program ends.
/// Threads        a promise applies to the calling thread only.
/// Example        examples/no_alloc.cpp

#include <cstddef>
#include <string_view>
#include <type_traits>

#include <tenure/base/config.hpp>
#include <tenure/base/hooks.hpp>
#include <tenure/base/observed.hpp>

namespace tenure::inline TENURE_ABI {

/// While it exists, the calling thread promises not to allocate. Scopes nest, and end on the thread that began them.
class [[nodiscard]] no_alloc_scope {
public:
    [[nodiscard]] TENURE_LOCAL no_alloc_scope() noexcept {
        detail::begin_observed(detail::this_thread_scopes().promises, detail::observed::no_alloc_begin);
    }
    TENURE_LOCAL ~no_alloc_scope() {
        detail::end_observed(detail::this_thread_scopes().promises, detail::observed::no_alloc_end);
    }
    no_alloc_scope(const no_alloc_scope&) = delete;
    no_alloc_scope& operator=(const no_alloc_scope&) = delete;

    /// Whether an allocation on the calling thread would violate a promise now, of this kind or of a no_wait_scope.
    [[nodiscard]] TENURE_LOCAL static bool is_active() noexcept {
        const detail::thread_scopes& scopes = detail::this_thread_scopes();
        return (scopes.promises | scopes.no_waits) != 0 && scopes.permissions == 0;
    }
};

/// While it exists, the calling thread may allocate, even inside a no_alloc_scope that is opened within it. Inside a
/// no_wait_scope it may also free and lock. The permission covers everything that is called. Use it for a report, a
/// first use, or a path that is known to be rare.
class [[nodiscard]] allow_alloc_scope {
public:
    [[nodiscard]] TENURE_LOCAL allow_alloc_scope() noexcept {
        detail::begin_observed(detail::this_thread_scopes().permissions, detail::observed::allow_alloc_begin);
    }
    TENURE_LOCAL ~allow_alloc_scope() {
        detail::end_observed(detail::this_thread_scopes().permissions, detail::observed::allow_alloc_end);
    }
    allow_alloc_scope(const allow_alloc_scope&) = delete;
    allow_alloc_scope& operator=(const allow_alloc_scope&) = delete;
};

namespace detail {

/// Surrounds the library's internal work: allocations of the C library during it violate no promise. Without a promise
/// it costs nothing and does not look for an observer.
class own_work {
public:
    TENURE_LOCAL own_work() noexcept : own_work(no_alloc_scope::is_active()) {}
    /// `is_needed`: a promise is active that the work would violate.
    TENURE_LOCAL explicit own_work(bool is_needed) noexcept : is_permitted_(is_needed) {
        if (is_permitted_) [[unlikely]]
            begin_observed(this_thread_scopes().permissions, observed::allow_alloc_begin);
    }
    TENURE_LOCAL ~own_work() {
        if (is_permitted_) [[unlikely]]
            end_observed(this_thread_scopes().permissions, observed::allow_alloc_end);
    }
    own_work(const own_work&) = delete;
    own_work& operator=(const own_work&) = delete;

protected:
    bool is_permitted_;
};

/// `bytes` of zero means that the size is unknown.
TENURE_API TENURE_COLD void report_broken_promise(std::string_view what, std::size_t bytes) noexcept;

/// Begins every function that allocates for a caller. Reports an allocation inside a no_alloc_scope, then suppresses
/// further reports from this function and its callees until the function returns.
class reported_allocation : own_work {
public:
    TENURE_LOCAL explicit reported_allocation(std::string_view what, std::size_t bytes = 0) noexcept {
        if (is_permitted_) [[unlikely]]
            report_broken_promise(what, bytes);
    }
};

/// Replaces reported_allocation in builds without checks.
struct unreported_allocation {
    constexpr explicit unreported_allocation(std::string_view, std::size_t = 0) noexcept {}
};

/// For functions that are called for every block.
using promised_allocation = std::conditional_t<checks::caller, reported_allocation, unreported_allocation>;

/// For slow functions, which also tell the hooks.
class caller_allocation : promised_allocation, hooked_call {
public:
    TENURE_LOCAL explicit caller_allocation(std::string_view what, std::size_t bytes = 0, bool is_told = true) noexcept
        : promised_allocation(what, bytes), hooked_call(what, bytes, is_told) {}
};

}

}
