// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Being told of a fork, so that a child does not find a lock held by a thread that it does not have.

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

using fork_function = void (*)() noexcept;

/// Asks that `before` be called on the thread that forks, then `in_parent` or `in_child`. Returns   false when refused,
/// and where there is no fork.
TENURE_API bool at_fork(fork_function before, fork_function in_parent, fork_function in_child) noexcept;

}
