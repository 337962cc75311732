// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Text that never changes, in UTF-8, passed around by value: every copy and every part knows when it was freed.
///
/// Use it for     names and texts in structures that are copied or shared with another language.
/// Not for        text that is put together: std::string with adapt/stl_allocator.hpp.
/// Memory from    the process heap: one block, with a zero byte behind the text.
/// Cost           make() reads the text once and copies it; a part is O(1) and allocates nothing.
/// Overhead       24 bytes for each copy, as buffer/fixed_buffer.hpp.
/// Threads        any.
/// Fork           as handle/handle_table.hpp.
/// When full      make() returns a string that is not live, as for text that is no UTF-8.
/// Example        examples/handles.cpp

#include <compare>
#include <cstddef>
#include <string_view>

#include <tenure/base/config.hpp>
#include <tenure/base/status.hpp>
#include <tenure/buffer/fixed_buffer.hpp>

namespace tenure::inline TENURE_ABI {

/// Whether the bytes are well-formed UTF-8 (Unicode 15, table 3-7): no byte is missing, none is one too many, no code
/// point is a surrogate, too large or longer than it need be. Cost      O(bytes), eight at a time while they are ASCII.
[[nodiscard]] TENURE_API bool is_utf8(std::string_view text) noexcept;

class TENURE_API fixed_utf8_string {
public:
    static constexpr std::size_t npos = std::string_view::npos;

    /// Not live, and empty.
    constexpr fixed_utf8_string() noexcept = default;

    /// A copy of `text`. `why` says what stood in the way, if anything did: invalid_argument (no UTF-8) or
    /// out_of_memory.
    [[nodiscard]] static fixed_utf8_string make(std::string_view text, status* why = nullptr) noexcept;

    [[nodiscard]] bool is_live() const noexcept { return bytes_.is_live(); }
    [[nodiscard]] explicit operator bool() const noexcept { return is_live(); }
    [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_.size(); }
    [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }
    /// Code points. Cost      O(bytes).
    [[nodiscard]] std::size_t length() const noexcept;

    /// The text: checked now, and not again. One that is not live any more is reported, and the program ends; a default
    /// one is empty.
    [[nodiscard]] std::string_view view() const noexcept;
    [[nodiscard]] tenure::lease<char> lease() const noexcept { return bytes_.lease(); }

    /// Where it begins, in bytes; npos when it is not inside. Cost      as std::string_view::find.
    [[nodiscard]] std::size_t index_of(std::string_view part, std::size_t from = 0) const noexcept;
    [[nodiscard]] std::size_t last_index_of(std::string_view part) const noexcept;
    [[nodiscard]] bool starts_with(std::string_view part) const noexcept { return view().starts_with(part); }
    [[nodiscard]] bool ends_with(std::string_view part) const noexcept { return view().ends_with(part); }

    /// Part of it, in bytes: the same memory, no copy. Returns   one that is not live when it is not inside, or would
    /// begin or end within a code point.
    [[nodiscard]] fixed_utf8_string substring(std::size_t first, std::size_t bytes = npos) const noexcept;

    /// The same text; by code points, which for UTF-8 is by bytes.
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
    /// Equal texts have equal ones in this process: FNV-1a, not for data of an adversary's.
    [[nodiscard]] std::size_t hash() const noexcept;

    status acquire() const noexcept { return bytes_.acquire(); }
    status release() const noexcept { return bytes_.release(); }
    /// Gives the memory back, whichever copy or part it is called on.
    status deallocate() const noexcept { return bytes_.deallocate(); }
    [[nodiscard]] fixed_buffer<char> buffer() const noexcept { return bytes_; }

private:
    explicit fixed_utf8_string(fixed_buffer<char> bytes) noexcept : bytes_(bytes) {}
    fixed_buffer<char> bytes_;
};

}
