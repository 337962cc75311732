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

/// Called in the child. If a thread of the parent was reading the options from the environment, the next caller of
/// option_value() reads them.
void forget_reader_of_options() noexcept;

}
