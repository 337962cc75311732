// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/html/html_words.hpp"

#include <cstddef>

#include <fmt/format.h>

namespace tenure::lab {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

unsigned byte_at(std::string_view text, std::size_t place) {
    return place < text.size() ? static_cast<unsigned char>(text[place]) : 0U;
}

bool continues(unsigned byte) { return (byte & 0xC0U) == 0x80U; }

/// The length in bytes of the well-formed character at `place`; 0 when there is none (Unicode 15, table 3-7).
std::size_t letter_bytes(std::string_view text, std::size_t place) {
    const unsigned first = byte_at(text, place);
    const unsigned second = byte_at(text, place + 1);
    if (first < 0x80U) return 1;
    if (first >= 0xC2U && first <= 0xDFU) return continues(second) ? 2 : 0;
    if (!continues(second) || !continues(byte_at(text, place + 2))) return 0;
    if (first >= 0xE0U && first <= 0xEFU) {
        const bool overlong = first == 0xE0U && second < 0xA0U;
        const bool surrogate = first == 0xEDU && second > 0x9FU;
        return overlong || surrogate ? 0 : 3;
    }
    if (first < 0xF0U || first > 0xF4U || !continues(byte_at(text, place + 3))) return 0;
    const bool overlong = first == 0xF0U && second < 0x90U;
    const bool too_large = first == 0xF4U && second > 0x8FU;
    return overlong || too_large ? 0 : 4;
}

std::string_view escape_of(char letter) {
    switch (letter) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: return {};
    }
}

bool printable(unsigned byte) { return byte >= 0x20U ? byte != 0x7FU : byte == '\t' || byte == '\n'; }

}

std::string escaped(std::string_view text) {
    std::string safe;
    safe.reserve(text.size());
    for (std::size_t place = 0; place < text.size();) {
        const std::size_t bytes = letter_bytes(text, place);
        if (bytes == 0 || (bytes == 1 && !printable(byte_at(text, place)))) {
            safe += replacement;
            ++place;
            continue;
        }
        const std::string_view entity = bytes == 1 ? escape_of(text[place]) : std::string_view();
        safe += entity.empty() ? text.substr(place, bytes) : entity;
        place += bytes;
    }
    return safe;
}

std::string element(std::string_view tag, std::string_view attributes, std::string_view text) {
    return fmt::format("<{}{}{}>{}</{}>", tag, attributes.empty() ? "" : " ", attributes, escaped(text), tag);
}

}
