// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/letters.hpp"

#include <algorithm>

namespace tenure::lab {

namespace {

bool begins_letter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }

}

std::size_t columns_of(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_letter));
}

std::string clipped(std::string_view text, std::size_t width) {
    if (columns_of(text) <= width) return std::string(text);
    const std::size_t kept = std::max<std::size_t>(width, 1) - 1;
    std::size_t bytes = 0;
    for (std::size_t letters = 0; bytes < text.size(); ++bytes) {
        if (begins_letter(text[bytes]) && letters++ == kept) break;
    }
    return std::string(text.substr(0, bytes)) + "…";
}

}
