// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/dropin/detail/advice_file.hpp>

#include <algorithm>
#include <cstring>

#include <tenure/platform/output_file.hpp>

namespace tenure::inline TENURE_ABI::dropin {

namespace {

/// Takes what is in front of the first `end`, and that.
[[nodiscard]] std::string_view take_word(std::string_view& text, char end = ' ') noexcept {
    const std::size_t bytes = std::min(text.find(end), text.size());
    const std::string_view word{text.data(), bytes};
    text.remove_prefix(std::min(bytes + 1, text.size()));
    return word;
}

[[nodiscard]] int value_of_digit(char digit, unsigned base) noexcept {
    const int value = digit >= '0' && digit <= '9' ? digit - '0' : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : 16;
    return value < static_cast<int>(base) ? value : -1;
}

[[nodiscard]] bool read_number(std::string_view text, unsigned base, std::uint64_t& to) noexcept {
    to = 0;
    for (const char each : text) {
        const int digit = value_of_digit(each, base);
        if (digit < 0 || to > (UINT64_MAX - 15) / base) return false;
        to = to * base + static_cast<unsigned>(digit);
    }
    return !text.empty();
}

[[nodiscard]] bool read_id(std::string_view text, platform::build_id& to) noexcept {
    to.count = 0;
    if (text == "-") return true;
    if (text.size() % 2 != 0 || text.size() / 2 > platform::build_id::max_bytes) return false;
    for (std::size_t index = 0; index < text.size(); index += 2) {
        const int high = value_of_digit(text[index], 16), low = value_of_digit(text[index + 1], 16);
        if (high < 0 || low < 0) return false;
        to.bytes[to.count++] = static_cast<unsigned char>(high << 4 | low);
    }
    return to.count != 0;
}

constexpr std::string_view first_line = "tenure-advice 1";

}

std::uint64_t hash_of_path(std::string_view path) noexcept {
    std::uint64_t hash = 0xCBF2'9CE4'8422'2325; // FNV-1a
    for (const char each : path) hash = (hash ^ static_cast<unsigned char>(each)) * 0x0000'0100'0000'01B3;
    return hash;
}

bool advice_file::read(const char* path) noexcept {
    char buffer[4096];
    const bool is_read = platform::read_in_parts(
        path, buffer, sizeof buffer,
        [](void* self, std::string_view part) noexcept { static_cast<advice_file*>(self)->take(part); }, this,
        max_bytes);
    if (!is_read) why_ = "it cannot be read, or is larger than 1 MiB";
    if (why_.empty() && length_ != 0) {
        ++line_count_;
        why_ = "its last line is cut off";
    }
    if (why_.empty() && line_count_ == 0) why_ = "it is empty";
    if (!why_.empty()) site_count_ = object_count_ = 0;
    return why_.empty();
}

void advice_file::take(std::string_view part) noexcept {
    for (const char each : part) {
        if (!why_.empty()) return;
        if (each != '\n') {
            if (length_ == sizeof text_) {
                ++line_count_;
                why_ = "the line is too long";
                return;
            }
            text_[length_++] = each;
            continue;
        }
        ++line_count_;
        take_line({text_, length_});
        length_ = 0;
    }
}

void advice_file::take_line(std::string_view line) noexcept {
    if (line_count_ == 1) {
        if (line != first_line) why_ = "its first line is not \"tenure-advice 1\"";
        return;
    }
    if (line.empty() || line.front() == '#') return;
    const std::string_view kind = take_word(line);
    const bool is_valid = kind == "object"  ? take_object(line)
                          : kind == "class" ? take_group(line)
                                            : kind == "site" && take_site(line);
    if (!is_valid) why_ = "the line is not an object, class or site within the limits";
}

bool advice_file::take_object(std::string_view rest) noexcept {
    std::uint64_t index = 0;
    if (object_count_ == max_objects || !read_number(take_word(rest), 10, index) || index != object_count_)
        return false;
    advised_object& added = objects_[object_count_];
    if (!read_id(take_word(rest), added.id) || rest.empty()) return false;
    added.path_hash = hash_of_path(rest);
    ++object_count_;
    return true;
}

bool advice_file::take_group(std::string_view rest) noexcept {
    std::uint64_t group = 0;
    if (!read_number(take_word(rest), 10, group) || group == 0 || group > max_groups) return false;
    if (rest.empty() || rest.size() > max_name || names_[group][0] != '\0') return false;
    std::memcpy(names_[group], rest.data(), rest.size());
    return true;
}

bool advice_file::take_site(std::string_view rest) noexcept {
    std::uint64_t group = 0;
    if (site_count_ == max_sites || !read_number(take_word(rest), 10, group) || group > max_groups) return false;
    if (group != 0 && names_[group][0] == '\0') return false;
    advised_site& added = sites_[site_count_];
    added.group = static_cast<std::uint8_t>(group);
    while (!rest.empty()) {
        std::string_view offset = take_word(rest);
        const std::string_view number = take_word(offset, '+');
        std::uint64_t object = 0;
        if (added.count == max_site_frames || !read_number(number, 10, object) || object >= object_count_) return false;
        if (!read_number(offset, 16, added.offsets[added.count])) return false;
        added.objects[added.count++] = static_cast<std::uint8_t>(object);
    }
    if (added.count == 0) return false;
    ++site_count_;
    return true;
}

}
