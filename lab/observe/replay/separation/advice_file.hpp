// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The text of an advice file, written and read. See docs/design/advice-format.md.

#include <cstdint>
#include <string>
#include <string_view>

#include "observe/replay/separation/separation.hpp"

namespace tenure::lab {

inline constexpr std::uint64_t max_advice_bytes = std::uint64_t{1} << 20;

/// `remark`: lines about the program and the figures, without the sign of a comment; may be empty.
/// Requires  `advised` is within the limits of separation.hpp.
[[nodiscard]] std::string to_advice_text(const separation& advised, std::string_view remark = {});

struct read_advice {
    separation advised;
    std::string error; ///< empty when all is valid; otherwise what is wrong in which line, as a sentence without a stop

    [[nodiscard]] bool ok() const { return error.empty(); }
};
[[nodiscard]] read_advice parse_advice(std::string_view text);

/// Reads a file. Errors are sentences that begin with its name.
[[nodiscard]] read_advice load_advice(const std::string& path);

}
