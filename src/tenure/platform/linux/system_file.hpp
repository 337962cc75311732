// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Reads the small text files in which Linux reports figures.

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <string_view>

#include <tenure/base/config.hpp>
#include <tenure/platform/no_cancel.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// Reads the start of a file into `buffer`. Returns   what it read; empty if it cannot be read.
inline std::string_view read_system_file(const char* path, char* buffer, std::size_t capacity) noexcept {
    const no_cancel_scope scope;
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return {};
    const ssize_t count = ::read(file, buffer, capacity);
    ::close(file);
    return count > 0 ? std::string_view{buffer, static_cast<std::size_t>(count)} : std::string_view{};
}

/// The decimal number behind spaces at a position; zero if there is none. Not std::from_chars: its table of digits
/// would be a unique symbol of the library, which then could never be unloaded.
inline std::size_t number_after(std::string_view text, std::size_t position) noexcept {
    while (position < text.size() && (text[position] == ' ' || text[position] == '\t')) ++position;
    std::size_t value = 0;
    for (; position < text.size() && text[position] >= '0' && text[position] <= '9'; ++position)
        value = value * 10 + static_cast<std::size_t>(text[position] - '0');
    return value;
}

}
