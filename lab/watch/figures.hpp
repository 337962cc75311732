// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Figures of the watch as people read them: shares, counts and sizes.

#include <cstdint>
#include <string>
#include <string_view>

namespace tenure::lab {

/// "12.5 %", "< 0.1 %", "0 %".
[[nodiscard]] std::string percent_text(double part, double whole);

/// "123,456".
[[nodiscard]] std::string whole_text(double value);
[[nodiscard]] std::string whole_text(std::uint64_t value);

/// "1 wait", "2,000 waits": the number and the noun, with an s where it is not one.
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view noun);

/// "512 B", "1.5 MiB".
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

}
