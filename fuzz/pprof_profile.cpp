// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Profiles in pprof's format: any bytes are either read, or refused with a reason.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "observe/profile/pprof/pprof_file.hpp"
#include "operations.hpp"

namespace {

void check(const tenure::lab::pprof_profile& found) {
    if (!found.ok()) return;
    double live = 0;
    for (const tenure::lab::profile_stack& each : found.profile.stacks) {
        fuzz::require(each.live.bytes >= 0 && each.allocated.bytes >= 0, "a stack holds something or nothing");
        fuzz::require(std::isfinite(each.live.variance) && std::isfinite(each.allocated.variance),
                      "an error is a number");
        for (const tenure::lab::profile_frame& frame : each.frames)
            fuzz::require(!frame.functions.empty(), "a frame has a function");
        live += each.live.bytes;
    }
    fuzz::require(std::fabs(live - found.profile.live.bytes) <= 1e-6 * live, "stacks add up");
}

/// Begins with the kind of values and the texts that it needs, so that most of the inputs come past them: two messages
/// in a row are one with the fields of both.
std::string with_values(std::string_view rest) {
    constexpr std::string_view type{"\x0A\x04\x08\x01\x10\x02", 6};        // sample_type: texts 1 and 2
    constexpr std::string_view texts{"\x32\x00\x32\x0Binuse_space\x32\x05" // string_table: "", and these
                                     "bytes",
                                     22};
    return std::string{type}.append(texts).append(rest);
}

}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
    const std::string_view text(reinterpret_cast<const char*>(bytes), count);
    check(tenure::lab::read_pprof(text));
    check(tenure::lab::read_pprof_message(text));
    check(tenure::lab::read_pprof_message(with_values(text)));
    return 0;
}
