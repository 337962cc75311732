// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Options from the environment: any text is either a value in the option's range or rejected without effect.

#include <tenure/base/options.hpp>

#include <string_view>

#include "operations.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
    if (count == 0) return 0;
    const std::string_view text(reinterpret_cast<const char*>(bytes) + 1, count - 1);
    const tenure::option_info& option = tenure::option_table()[bytes[0] % tenure::option_count];
    std::uint64_t value = 0x5A5A;
    if (tenure::parse_option(option, text, value)) {
        fuzz::require(value >= option.lowest && value <= option.highest, "a value is in its range");
    } else {
        fuzz::require(value == 0x5A5A, "what is refused changes nothing");
    }
    return 0;
}
