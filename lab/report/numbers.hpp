// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Formats numbers for people: three significant digits, grouped thousands, the same in every locale.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "report/analysis/statistics.hpp"

namespace tenure::lab {

/// "0.041", "1.05", "11.4", "329", "456,000"; a dash for NaN.
[[nodiscard]] std::string value_text(double value);

/// A fact: whole numbers in full, with the spread in brackets when the rounds disagree: "819", "7.12 (7.01–7.30)".
[[nodiscard]] std::string fact_text(const summary& found);

/// "×0.40", "×14.2"; a dash for NaN.
[[nodiscard]] std::string ratio_text(double ratio);

/// "1.02–1.10"; one number when both ends read the same; a dash for fewer than three rounds.
[[nodiscard]] std::string spread_text(const summary& found);

/// "140,685,055,869,340", "−28".
[[nodiscard]] std::string integer_text(std::int64_t value);

/// "140T", "8.4M", "−28": short enough for an axis.
[[nodiscard]] std::string short_text(double value);

/// "82 %", "99.8 %", "< 0.1 %", "> 99.9 %": 100 and 0 only if it is all or none; a dash when the total is zero.
[[nodiscard]] std::string share_text(std::size_t part, std::size_t whole);
/// The same of a share from 0 to 1.
[[nodiscard]] std::string share_text(double share);

/// "8 bytes", "1 byte": the number and the noun, with an s unless the number is one.
[[nodiscard]] std::string count_text(std::size_t count, std::string_view noun);

/// The shortest decimal that reads back as the same number; "nan" for NaN. For machine-readable output.
[[nodiscard]] std::string exact_text(double value);

}
