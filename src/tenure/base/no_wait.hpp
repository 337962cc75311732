// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// No-wait scopes: a thread promises to allocate nothing, to free nothing and to take no lock.
///
/// Use it for     the loop of a parallel region: code that must not wait for another thread, not even inside a library.
/// Cost           a scope: an add, a load and a test of thread-local state at each end, plus two calls if an observer
///                is present. A free: nothing; in checked builds a load and a test.
/// Detected       in checked builds every allocation (see no_alloc.hpp) and every free through this library, at the
///                call that makes it. The hardened drop-in also detects malloc, free and the operators. `tenure watch`
///                also detects locks, whether they are free or held: the lock functions of pthread and <threads.h>,
///                condition variables, semaphores, barriers, joins, futexes through syscall(), sleeps, the locks of
///                OpenMP and TBB, and the functions of the C library that take one of its locks (stdio, time zones,
///                random numbers, the environment).
/// Null frees     count through malloc, operator delete as a function, a heap, TempJob or Persistent: some allocators
///                take a lock before they look at the pointer. Those of pools, affinity groups and Temp return at once.
/// Not detected   spin locks and futexes that the program inlines, the C library's calls within itself, and system
///                calls that bypass it. A try that fails does not wait and does not count. To rewind or clear an arena
///                and to end a temp_scope is no free; memory that they return to a heap is one.
/// Reported       allocations and frees at once, as misuse: the default handler writes the stack and aborts. If a
///                handler returns, the call continues. `tenure watch` counts violations by place until the program
///                ends, and fails with `--fail-on allocation,free,lock,wait`.
/// Permitted      by an allow_alloc_scope, which permits frees and locks as well, because an allocation may need both.
/// Threads        a promise applies to the calling thread only.
/// Fork           the promise of the thread that forks holds in the child. `tenure watch` sees it from the child's next
///                scope on.
/// Example        examples/no_alloc.cpp

#include <string_view>
#include <type_traits>

#include <tenure/base/config.hpp>
#include <tenure/base/no_alloc.hpp>
#include <tenure/base/observed.hpp>

namespace tenure::inline TENURE_ABI {

/// While it exists, the calling thread promises to allocate and free nothing and to take no lock. Scopes nest, also
/// with no_alloc_scopes, and end on the thread that began them.
class [[nodiscard]] no_wait_scope {
public:
    [[nodiscard]] TENURE_LOCAL no_wait_scope() noexcept {
        detail::begin_observed(detail::this_thread_scopes().no_waits, detail::observed::no_wait_begin);
    }
    TENURE_LOCAL ~no_wait_scope() {
        detail::end_observed(detail::this_thread_scopes().no_waits, detail::observed::no_wait_end);
    }
    no_wait_scope(const no_wait_scope&) = delete;
    no_wait_scope& operator=(const no_wait_scope&) = delete;

    /// Whether a free or a lock on the calling thread would violate a promise now. no_alloc_scope::is_active() is true
    /// then, too.
    [[nodiscard]] TENURE_LOCAL static bool is_active() noexcept {
        const detail::thread_scopes& scopes = detail::this_thread_scopes();
        return scopes.no_waits != 0 && scopes.permissions == 0;
    }
};

namespace detail {

/// `block` may be null: the free of a null pointer.
TENURE_API TENURE_COLD void report_broken_wait_promise(std::string_view what, const void* block) noexcept;

/// Begins every function that frees for a caller. Reports a free inside a no_wait_scope, then suppresses further
/// reports from this function and its callees until the function returns.
class reported_release : own_work {
public:
    TENURE_LOCAL reported_release(std::string_view what, const void* block) noexcept
        : own_work(no_wait_scope::is_active()) {
        if (is_permitted_) [[unlikely]]
            report_broken_wait_promise(what, block);
    }
};

/// Replaces reported_release in builds without checks.
struct unreported_release {
    constexpr unreported_release(std::string_view, const void*) noexcept {}
};

/// For functions that are called for every block.
using promised_release = std::conditional_t<checks::caller, reported_release, unreported_release>;

/// For slow functions, which also tell the hooks.
class caller_release : promised_release, hooked_call {
public:
    TENURE_LOCAL caller_release(std::string_view what, const void* block, bool is_told = true) noexcept
        : promised_release(what, block), hooked_call(what, 0, is_told) {}
};

}

}
