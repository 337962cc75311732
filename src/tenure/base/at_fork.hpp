// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What of base a fork must know, for platform/fork_handler.cpp, which calls it.

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// The registry of owner tags: a lock, under which no other is taken.
void lock_tags() noexcept;
void unlock_tags() noexcept;

/// In the child: if a thread was reading the environment for the options, it is gone, and the next question reads it.
void forget_reader_of_options() noexcept;

}
