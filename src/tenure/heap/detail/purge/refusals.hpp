// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How long the heap waits before it asks again for a thread that the system refused.
///
/// A shortage of threads or memory can last for days and then end, so there is no last attempt. The interval doubles
/// with each refusal in a row, up to a minute.

#include <algorithm>
#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

class refusals {
public:
    static constexpr std::uint64_t least_wait_ns = 1'000'000'000, longest_wait_ns = 64 * least_wait_ns;

    /// Counts a refusal. Returns   the time until the next attempt.
    [[nodiscard]] std::uint64_t next_wait_ns() noexcept {
        last_wait_ns_ = std::clamp(2 * last_wait_ns_, least_wait_ns, longest_wait_ns);
        return last_wait_ns_;
    }
    /// After a start that succeeded: the next shortage is another one.
    void forget() noexcept { last_wait_ns_ = 0; }

private:
    std::uint64_t last_wait_ns_ = 0;
};

}
