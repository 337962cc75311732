// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Receives no-allocation and no-wait promises in the hardened drop-in and repeats them in its own copy of the library,
/// whose heap then reports every malloc, free and operator that breaks one. It ignores regions, marks and frames.

#include <tenure/base/no_alloc.hpp>
#include <tenure/base/observer.hpp>

namespace {

using tenure::detail::this_thread_scopes;

// Callers count their scopes. An extra end from a caller that does not must not turn into an endless promise.
void end(std::uint32_t& depth) noexcept { depth -= depth != 0 ? 1 : 0; }

void promise() noexcept { ++this_thread_scopes().promises; }
void end_promise() noexcept { end(this_thread_scopes().promises); }
void promise_no_wait() noexcept { ++this_thread_scopes().no_waits; }
void end_no_wait() noexcept { end(this_thread_scopes().no_waits); }
void permit() noexcept { ++this_thread_scopes().permissions; }
void end_permission() noexcept { end(this_thread_scopes().permissions); }

}

extern "C" {
extern TENURE_VISIBLE const tenure_observer_table tenure_observer;
constinit const tenure_observer_table tenure_observer = {
    sizeof(tenure_observer_table),
    tenure_observer_version,
    nullptr,
    nullptr,
    &promise,
    &end_promise,
    &permit,
    &end_permission,
    nullptr,
    &promise_no_wait,
    &end_no_wait,
    nullptr,
};
}
