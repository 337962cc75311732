// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/buffer/fixed_utf8_string.hpp>

#include <cstdint>
#include <cstring>

namespace tenure::inline TENURE_ABI {

namespace {

[[nodiscard]] constexpr bool is_inside_code_point(char byte) noexcept {
    return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

/// What may follow a lead byte: the number of bytes, and the bounds of the first of them.
struct sequence {
    std::size_t more;
    unsigned char lowest, highest;
};

[[nodiscard]] constexpr sequence sequence_of(unsigned char lead) noexcept {
    if (lead >= 0xC2 && lead <= 0xDF) return {1, 0x80, 0xBF};
    if (lead == 0xE0) return {2, 0xA0, 0xBF};
    if (lead == 0xED) return {2, 0x80, 0x9F}; // no surrogates
    if (lead >= 0xE1 && lead <= 0xEF) return {2, 0x80, 0xBF};
    if (lead == 0xF0) return {3, 0x90, 0xBF};
    if (lead >= 0xF1 && lead <= 0xF3) return {3, 0x80, 0xBF};
    if (lead == 0xF4) return {3, 0x80, 0x8F}; // up to U+10FFFF
    return {0, 0, 0};
}

}

bool is_utf8(std::string_view text) noexcept {
    std::size_t at = 0;
    while (at < text.size()) {
        std::uint64_t eight = 0;
        while (at + sizeof eight <= text.size()) {
            std::memcpy(&eight, text.data() + at, sizeof eight);
            if ((eight & 0x8080'8080'8080'8080) != 0) break;
            at += sizeof eight;
        }
        if (at == text.size()) return true;
        const auto lead = static_cast<unsigned char>(text[at]);
        if (lead < 0x80) {
            ++at;
            continue;
        }
        const sequence wanted = sequence_of(lead);
        if (wanted.more == 0 || wanted.more >= text.size() - at) return false;
        const auto second = static_cast<unsigned char>(text[at + 1]);
        if (second < wanted.lowest || second > wanted.highest) return false;
        for (std::size_t more = 2; more <= wanted.more; ++more) {
            if (!is_inside_code_point(text[at + more])) return false;
        }
        at += wanted.more + 1;
    }
    return true;
}

fixed_utf8_string fixed_utf8_string::make(std::string_view text, status* why) noexcept {
    status how = status::ok;
    fixed_utf8_string made;
    if (!is_utf8(text)) {
        how = status::invalid_argument;
    } else {
        handle memory;
        held_options options;
        options.alignment = 8;
        options.how = fill::none;
        options.kind = "fixed_utf8_string";
        how = text.size() < max_object_bytes ? allocate_held(text.size() + 1, options, memory) : status::out_of_memory;
        if (how == status::ok) {
            made = fixed_utf8_string(fixed_buffer<char>::of(memory, text.size()));
            auto* const first = static_cast<char*>(memory.pointer);
            if (!text.empty()) std::memcpy(first, text.data(), text.size());
            first[text.size()] = '\0';
        }
    }
    if (why != nullptr) *why = how;
    return made;
}

std::string_view fixed_utf8_string::view() const noexcept {
    if (bytes_ == fixed_buffer<char>{}) return {};
    const auto text = bytes_.span();
    return {text.data(), text.size()};
}

std::size_t fixed_utf8_string::length() const noexcept {
    std::size_t count = 0;
    for (const char byte : view()) count += !is_inside_code_point(byte);
    return count;
}

std::size_t fixed_utf8_string::index_of(std::string_view part, std::size_t from) const noexcept {
    return view().find(part, from);
}

std::size_t fixed_utf8_string::last_index_of(std::string_view part) const noexcept { return view().rfind(part); }

fixed_utf8_string fixed_utf8_string::substring(std::size_t first, std::size_t bytes) const noexcept {
    const std::string_view all = view();
    if (first > all.size()) return {};
    const std::size_t count = bytes == npos ? all.size() - first : bytes;
    if (count > all.size() - first) return {};
    const auto is_border = [&](std::size_t at) { return at == all.size() || !is_inside_code_point(all[at]); };
    if (!is_border(first) || !is_border(first + count)) return {};
    return fixed_utf8_string(bytes_.slice(first, count));
}

std::size_t fixed_utf8_string::hash() const noexcept {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char byte : view()) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
    return static_cast<std::size_t>(hash);
}

}
