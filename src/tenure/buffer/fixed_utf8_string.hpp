// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Immutable UTF-8 text that is passed by value: every copy and every part knows whether the memory was freed.
///
/// Use it for     names and texts in structures that are copied or shared with another language.
/// Not for        building text: std::string with adapt/stl_allocator.hpp.
/// Memory from    the process heap: one block, with a terminating zero.
/// Cost           make() reads the text once and copies it; a part is O(1) and allocates nothing.
/// Overhead       24 bytes per copy, as buffer/fixed_buffer.hpp.
/// Threads        any.
/// Fork           as handle/handle_table.hpp.
/// When full      make() returns a string that is not live, as it does for invalid UTF-8.
/// Example        examples/handles.cpp

#include <compare>
#include <cstddef>
#include <string_view>

#include <tenure/base/config.hpp>
#include <tenure/base/status.hpp>
#include <tenure/buffer/fixed_buffer.hpp>

namespace tenure::inline TENURE_ABI {

/// Whether the bytes are well-formed UTF-8 (Unicode 15, table 3-7): no byte missing or extra, and no surrogate,
/// overlong or too large code point. Cost      O(bytes), eight at a time while they are ASCII.
[[nodiscard]] TENURE_API bool is_utf8(std::string_view text) noexcept;

class TENURE_API fixed_utf8_string {
public:
    static constexpr std::size_t npos = std::string_view::npos;

    /// Creates a string that is not live, and empty.
    constexpr fixed_utf8_string() noexcept = default;

    /// Copies `text`. `why` gets the reason for a failure: invalid_argument (not UTF-8) or out_of_memory.
    [[nodiscard]] static fixed_utf8_string make(std::string_view text, status* why = nullptr) noexcept;

    [[nodiscard]] bool is_live() const noexcept { return bytes_.is_live(); }
    [[nodiscard]] explicit operator bool() const noexcept { return is_live(); }
    [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_.size(); }
    [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }
    /// Number of code points. Cost      O(bytes).
    [[nodiscard]] std::size_t length() const noexcept;

    /// The text. Only this call checks it: a freed string is reported, and the program ends. A default string is empty.
    [[nodiscard]] std::string_view view() const noexcept;
    [[nodiscard]] tenure::lease<char> lease() const noexcept { return bytes_.lease(); }

    /// Byte index of the first match; npos if there is none. Cost      as std::string_view::find.
    [[nodiscard]] std::size_t index_of(std::string_view part, std::size_t from = 0) const noexcept;
    [[nodiscard]] std::size_t last_index_of(std::string_view part) const noexcept;
    [[nodiscard]] bool starts_with(std::string_view part) const noexcept { return view().starts_with(part); }
    [[nodiscard]] bool ends_with(std::string_view part) const noexcept { return view().ends_with(part); }

    /// A part of the string, in bytes: the same memory, no copy. Returns   a string that is not live when the part is
    /// out of range or would split a code point.
    [[nodiscard]] fixed_utf8_string substring(std::size_t first, std::size_t bytes = npos) const noexcept;

    /// Compares the texts by code points, which in UTF-8 equals comparing bytes.
    friend bool operator==(const fixed_utf8_string& left, const fixed_utf8_string& right) noexcept {
        return left.view() == right.view();
    }
    friend bool operator==(const fixed_utf8_string& left, std::string_view right) noexcept {
        return left.view() == right;
    }
    friend std::strong_ordering operator<=>(const fixed_utf8_string& left, const fixed_utf8_string& right) noexcept {
        return left.view() <=> right.view();
    }
    friend std::strong_ordering operator<=>(const fixed_utf8_string& left, std::string_view right) noexcept {
        return left.view() <=> right;
    }
    /// Hash by FNV-1a, equal for equal texts within this process. Not for data from an adversary.
    [[nodiscard]] std::size_t hash() const noexcept;

    status acquire() const noexcept { return bytes_.acquire(); }
    status release() const noexcept { return bytes_.release(); }
    /// Frees the whole memory, whichever copy or part this is called on.
    status deallocate() const noexcept { return bytes_.deallocate(); }
    [[nodiscard]] fixed_buffer<char> buffer() const noexcept { return bytes_; }

private:
    explicit fixed_utf8_string(fixed_buffer<char> bytes) noexcept : bytes_(bytes) {}
    fixed_buffer<char> bytes_;
};

}
