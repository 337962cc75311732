// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The mitigations of checked builds that option::heap_mitigations switches.

#include <cstdint>

#include <tenure/base/config.hpp>
#include <tenure/base/options.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// A set of tenure::mitigation values.
using mitigation_set = std::uint32_t;

[[nodiscard]] constexpr bool has(mitigation_set set, mitigation one) noexcept {
    return (set & static_cast<mitigation_set>(one)) != 0;
}
[[nodiscard]] inline mitigation_set mitigations_on() noexcept {
    return static_cast<mitigation_set>(option_value(option::heap_mitigations));
}

}
