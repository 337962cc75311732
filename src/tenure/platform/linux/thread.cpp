// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/thread.hpp>

#include <unistd.h>

namespace tenure::inline TENURE_ABI::platform {

std::uint64_t thread_id() noexcept { return static_cast<std::uint64_t>(::gettid()); }

}
