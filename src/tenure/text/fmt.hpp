// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Appends to a text_writer with {fmt}'s formats. Include it where {fmt} is installed and linked: the library itself
/// does not use {fmt}, so neither tenure.hpp nor the CMake package asks for it.
///
/// Cost      that of fmt::format_to_n. {fmt} allocates nothing for numbers and text; a formatter of your own may.
/// Compile time   0.4 s for each file that includes it, for <fmt/format.h>.

#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include <tenure/base/config.hpp>
#include <tenure/text/text_writer.hpp>

namespace tenure::inline TENURE_ABI {

/// Appends the text that fmt::format() would return. If it does not fit, the writer appends nothing and counts it, as
/// with every other text. Formats are checked when the program is compiled (C++20).
template<class... Args>
inline text_writer& format_to(text_writer& to, fmt::format_string<Args...> format, Args&&... args) {
    const auto result = fmt::format_to_n(to.room().data(), to.room_bytes(), format, std::forward<Args>(args)...);
    return to.advance(result.size);
}

}
