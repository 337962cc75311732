// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The lines of a recording, and the fields of a line.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "observe/trace/compression/unpacked_text.hpp"

namespace tenure::lab {

/// Lines end with a line feed. The last one without it is cut off: it is not given, because a number may miss digits.
class recording_lines {
public:
    recording_lines(std::unique_ptr<unpacked_text> text, std::uint64_t max_bytes)
        : text_(std::move(text)), left_bytes_(max_bytes) {}

    /// `line` is valid until the next call. Returns   false at the end, and at damage.
    [[nodiscard]] bool next(std::string_view& line);
    /// Gives the last line again.
    void step_back();
    [[nodiscard]] std::uint64_t number() const { return number_; } ///< of the last line, from 1
    [[nodiscard]] const std::string& damage() const { return damage_; }

private:
    [[nodiscard]] bool read_more();

    std::unique_ptr<unpacked_text> text_;
    std::string buffer_;
    std::size_t at_ = 0, last_ = 0;
    std::uint64_t number_ = 0, left_bytes_;
    std::string damage_;
};

/// Fields are separated by spaces.
class line_fields {
public:
    explicit line_fields(std::string_view line) : left_(line) {}

    /// Reads a field that is a number in digits of this base, and nothing else; 0x may stand before hex digits.
    [[nodiscard]] bool number(std::uint64_t& to, int base);
    [[nodiscard]] bool hex(std::uint64_t& to) { return number(to, 16); }
    [[nodiscard]] bool decimal(std::uint64_t& to) { return number(to, 10); }
    /// Reads a field; an empty one at the end.
    [[nodiscard]] std::string_view word();
    /// Reads a space and as many bytes, whatever they are.
    [[nodiscard]] bool bytes(std::uint64_t count, std::string_view& to);
    /// What follows the next space.
    [[nodiscard]] std::string_view rest();
    [[nodiscard]] bool is_over() const { return left_.find_first_not_of(' ') == std::string_view::npos; }

private:
    std::string_view left_;
};

}
