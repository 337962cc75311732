// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/trace/import/recording_lines.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

#include <fmt/format.h>

namespace tenure::lab {

bool recording_lines::next(std::string_view& line) {
    constexpr std::size_t max_line_bytes = std::size_t{4} << 20; // command lines and names of functions are long
    if (!damage_.empty()) return false;
    std::size_t searched = at_;
    while (true) {
        if (const std::size_t end = buffer_.find('\n', searched); end != std::string::npos) {
            last_ = at_;
            line = std::string_view(buffer_).substr(at_, end - at_);
            if (line.ends_with('\r')) line.remove_suffix(1);
            at_ = end + 1;
            ++number_;
            return true;
        }
        if (buffer_.size() - at_ > max_line_bytes) {
            damage_ = fmt::format("Line {} has more than {} bytes.", number_ + 1, max_line_bytes);
            return false;
        }
        buffer_.erase(0, at_);
        at_ = last_ = 0;
        searched = buffer_.size();
        if (!read_more()) return false;
    }
}

void recording_lines::step_back() {
    at_ = last_;
    --number_;
}

bool recording_lines::read_more() {
    const std::size_t before = buffer_.size();
    if (left_bytes_ == 0) {
        damage_ = fmt::format("The text is too long: only the first {} lines were read.", number_);
    } else if (text_->append_next(buffer_)) {
        left_bytes_ -= std::min<std::uint64_t>(left_bytes_, buffer_.size() - before);
        return true;
    } else if (text_->is_damaged()) {
        damage_ = fmt::format("The compressed file is damaged or ends early, in line {}.", number_ + 1);
    } else if (!buffer_.empty()) {
        damage_ = fmt::format("The file ends early, in line {}.", number_ + 1);
    }
    return false;
}

bool line_fields::number(std::uint64_t& to, int base) {
    std::string_view field = word();
    if (base == 16 && field.starts_with("0x")) field.remove_prefix(2);
    const auto [last, error] = std::from_chars(field.data(), field.data() + field.size(), to, base);
    return error == std::errc{} && last == field.data() + field.size();
}

std::string_view line_fields::word() {
    left_.remove_prefix(std::min(left_.find_first_not_of(' '), left_.size()));
    const std::string_view field = left_.substr(0, left_.find(' '));
    left_.remove_prefix(field.size());
    return field;
}

bool line_fields::bytes(std::uint64_t count, std::string_view& to) {
    const std::string_view all = rest();
    if (count > all.size()) return false;
    to = all.substr(0, count);
    left_ = all.substr(count);
    return true;
}

std::string_view line_fields::rest() {
    const std::string_view all = left_.starts_with(' ') ? left_.substr(1) : left_;
    left_ = {};
    return all;
}

}
