// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/readable.hpp>

#include <cstdint>
#include <cstring>

#include <tenure/base/align.hpp>

namespace tenure::inline TENURE_ABI::platform {

std::string_view text_or(const char* text, std::string_view instead) noexcept {
    constexpr std::uintptr_t least_page_bytes = 4096; // of any system: all of such a part can be read, or nothing of it
    for (std::uintptr_t at = address_of(text);;) {
        const std::size_t count = align_down(at, least_page_bytes) + least_page_bytes - at;
        if (!is_readable(pointer_at(at), count)) return instead;
        if (const void* const end = std::memchr(pointer_at(at), '\0', count); end != nullptr)
            return {text, address_of(end) - address_of(text)};
        at += count;
    }
}

std::string_view text_or(std::string_view text, std::string_view instead) noexcept {
    return is_readable(text.data(), text.size()) ? text : instead;
}

}
