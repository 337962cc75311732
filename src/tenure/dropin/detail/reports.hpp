// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The report on a signal that interrupted a holder of the heap's locks: the next slow call of any thread writes it.

#include <atomic>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::dropin {

/// Set by the signal handler.
extern std::atomic<bool> is_report_wanted;

/// Writes the report, unless another thread does.
TENURE_COLD void write_wanted_report() noexcept;

/// Called at the end of slow calls, when the thread holds no lock.
TENURE_ALWAYS_INLINE void serve_wanted_report() noexcept {
    if (is_report_wanted.load(std::memory_order_relaxed)) [[unlikely]]
        write_wanted_report();
}

}
