// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/letters.hpp"

#include <algorithm>

namespace tenure::lab {

namespace {

bool begins_letter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }

/// The length in bytes of the UTF-8 character at `index`; 0 for invalid bytes and overlong forms.
std::size_t letter_bytes(std::string_view text, std::size_t index) {
    const auto byte = static_cast<unsigned char>(text[index]);
    std::size_t bytes = 0;
    if (byte < 0x80U) bytes = 1;
    if (byte >= 0xC2U && byte <= 0xDFU) bytes = 2;
    if (byte >= 0xE0U && byte <= 0xEFU) bytes = 3;
    if (byte >= 0xF0U && byte <= 0xF4U) bytes = 4;
    if (bytes == 0 || index + bytes > text.size()) return 0;
    for (std::size_t next = 1; next < bytes; ++next) {
        if (begins_letter(text[index + next])) return 0;
    }
    const auto second = bytes > 2 ? static_cast<unsigned char>(text[index + 1]) : 0xFFU;
    return (byte == 0xE0U && second < 0xA0U) || (byte == 0xF0U && second < 0x90U) ? 0 : bytes;
}

/// U+0000 to U+001F, U+007F, and U+0080 to U+009F, which are two bytes; and the three-byte U+202A to U+202E and U+2066
/// to U+2069, which change the text direction, so that the text reads as a different one.
bool is_control(std::string_view letter) {
    const auto byte = static_cast<unsigned char>(letter.front());
    if (letter.size() == 3 && letter.starts_with("\xE2\x80")) {
        const auto last = static_cast<unsigned char>(letter[2]);
        return last >= 0xAAU && last <= 0xAEU;
    }
    if (letter.size() == 3 && letter.starts_with("\xE2\x81")) {
        const auto last = static_cast<unsigned char>(letter[2]);
        return last >= 0xA6U && last <= 0xA9U;
    }
    if (letter.size() == 2) return byte == 0xC2U && static_cast<unsigned char>(letter[1]) <= 0x9FU;
    return letter.size() == 1 && (byte < 0x20U || byte == 0x7FU);
}

/// How many bytes the first `letters` letters take.
std::size_t bytes_of(std::string_view text, std::size_t letters) {
    std::size_t bytes = 0;
    for (std::size_t begun = 0; bytes < text.size(); ++bytes) {
        if (begins_letter(text[bytes]) && begun++ == letters) break;
    }
    return bytes;
}

}

std::size_t columns_of(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_letter));
}

std::string clipped(std::string_view text, std::size_t width) {
    if (columns_of(text) <= width) return std::string(text);
    return std::string(text.substr(0, bytes_of(text, std::max<std::size_t>(width, 1) - 1))) + "…";
}

std::string elided(std::string_view text, std::size_t width) {
    const std::size_t columns = columns_of(text);
    if (columns <= width) return std::string(text);
    const std::size_t kept = std::max<std::size_t>(width, 1) - 1;
    const std::size_t at_end = kept / 2;
    std::string made(text.substr(0, bytes_of(text, kept - at_end)));
    made += "…";
    return made.append(text.substr(bytes_of(text, columns - at_end)));
}

std::string printable(std::string_view text) {
    std::string made;
    made.reserve(text.size());
    for (std::size_t index = 0; index < text.size();) {
        const std::size_t bytes = letter_bytes(text, index);
        const std::string_view letter = text.substr(index, std::max<std::size_t>(bytes, 1));
        const bool is_stray_control = bytes == 0 && static_cast<unsigned char>(letter.front()) <= 0x9FU;
        made += is_stray_control || is_control(letter) ? " " : letter;
        index += letter.size();
    }
    return made;
}

}
