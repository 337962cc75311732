// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The parts of base that take part in a fork. platform/fork_handler.cpp calls them.

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Locks the registry of owner tags. No other lock is taken under this one.
void lock_tags() noexcept;
void unlock_tags() noexcept;
[[nodiscard]] bool are_tags_locked() noexcept;

/// Called in the child: lets the next option_value() read the environment, if another thread was just reading it.
void forget_reader_of_options() noexcept;

}
