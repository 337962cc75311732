// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/no_cancel.hpp>

namespace tenure::inline TENURE_ABI::platform {

// Threads cannot be cancelled.
no_cancel_scope::no_cancel_scope() noexcept { (void)before_; }
no_cancel_scope::~no_cancel_scope() = default;

}
