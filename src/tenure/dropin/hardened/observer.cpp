// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// What the hardened drop-in hears of promises not to allocate: they become promises of its own copy of the library,
/// whose heap then reports every malloc and operator new that breaks one. Regions and marks are nothing to it.

#include <tenure/base/no_alloc.hpp>
#include <tenure/base/observer.hpp>

namespace {

using tenure::detail::this_thread_scopes;

// Whoever tells counts; but an end too many, of somebody who does not, must not become a promise for ever.
void end(std::uint32_t& depth) noexcept { depth -= depth != 0 ? 1 : 0; }

void promise() noexcept { ++this_thread_scopes.promises; }
void end_promise() noexcept { end(this_thread_scopes.promises); }
void permit() noexcept { ++this_thread_scopes.permissions; }
void end_permission() noexcept { end(this_thread_scopes.permissions); }

}

extern "C" {
extern __attribute__((visibility("default"))) const tenure_observer_table tenure_observer;
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
};
}
