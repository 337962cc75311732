// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Appends numbers and words as text to memory that you provide.
///
/// Use it for     records, tables and messages of bounded size: printf without its locks and allocations.
/// Not for        text without a bound: std::string. Records by many threads: text/paged_writer.hpp, built on this.
/// Memory from    the caller: a buffer and its size.
/// Cost           5 to 13 ns for a number of at most eight digits, 10 to 40 for a longer one; a copy for text.
/// Overhead       none in the text: no terminating zero, no padding.
/// Threads        one thread at a time; give each thread its own.
/// Fork           usable in the child, unless another thread was using it at the fork.
/// When full      writes nothing more, not even part of a call, and keeps counting: needed_bytes() is the total.
/// Example        examples/text.cpp

#include <concepts>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include <tenure/base/config.hpp>
#include <tenure/text/format.hpp>

namespace tenure::inline TENURE_ABI {

class text_writer {
public:
    /// Requires  `room` outlives the writer. All of it may be written to, including bytes after the text.
    explicit text_writer(std::span<char> room) noexcept
        : first_(room.data()), cursor_(room.data()), end_(room.data() + room.size()) {}
    text_writer(char* to, std::size_t room_bytes) noexcept : text_writer(std::span<char>(to, room_bytes)) {}

    /// Appends a character. No overload takes a bool, float or enumeration by conversion.
    template<std::same_as<char> Letter>
    text_writer& append(Letter letter) noexcept;
    text_writer& append(std::string_view text) noexcept;
    /// Appends a decimal number, with a sign if it is negative.
    template<text_integer Integer>
    text_writer& append(Integer number) noexcept;
    /// Appends one of two words.
    text_writer& append_choice(bool value, std::string_view when_true, std::string_view when_false) noexcept {
        return append(value ? when_true : when_false);
    }

    /// Same as printf's "%.*f", exactly: see format.hpp. The form with the precision as template argument is faster.
    template<unsigned Precision, text_float Float>
    text_writer& append_fixed(Float value) noexcept;
    template<text_float Float>
    text_writer& append_fixed(Float value, unsigned precision) noexcept {
        return advance(format_fixed(cursor_, room_bytes(), value, precision));
    }

    /// Same as printf: see format_printf.hpp. A refused format appends nothing, and checked builds report it.
    TENURE_FORMAT(2, 3) TENURE_API text_writer& append_printf(const char* format, ...) noexcept;
    TENURE_FORMAT(2, 0) TENURE_API text_writer& append_vprintf(const char* format, std::va_list arguments) noexcept;

    /// Space for the next text, for functions that write by themselves. Tell advance() how much they wrote.
    [[nodiscard]] std::span<char> room() const noexcept { return {cursor_, room_bytes()}; }
    [[nodiscard]] std::size_t room_bytes() const noexcept { return static_cast<std::size_t>(end_ - cursor_); }

    /// Appends what was written to room(). If `bytes` exceeds the room, it only counts as text that did not fit. (With
    /// snprintf, a text of exactly the room's size lacks its last character: the terminating zero takes its place.)
    text_writer& advance(std::size_t bytes) noexcept;

    /// Whether everything fitted and was written.
    [[nodiscard]] bool fits() const noexcept { return missed_bytes_ == 0; }
    [[nodiscard]] std::size_t size_bytes() const noexcept { return static_cast<std::size_t>(cursor_ - first_); }
    /// Bytes that all text so far needs, written or not.
    [[nodiscard]] std::size_t needed_bytes() const noexcept { return size_bytes() + missed_bytes_; }
    /// The text written: everything, or the part before the first call that did not fit.
    [[nodiscard]] std::string_view text() const noexcept { return {first_, size_bytes()}; }

private:
    char* first_;
    char* cursor_;
    char* end_; // of the room; equal to the cursor once something did not fit
    std::size_t missed_bytes_ = 0;
};

inline text_writer& text_writer::advance(std::size_t bytes) noexcept {
    if (bytes <= room_bytes()) [[likely]] {
        cursor_ += bytes;
    } else {
        missed_bytes_ += bytes;
        end_ = cursor_; // no later text that would fit may take its place
    }
    return *this;
}

template<std::same_as<char> Letter>
inline text_writer& text_writer::append(Letter letter) noexcept {
    if (cursor_ == end_) [[unlikely]]
        return advance(1);
    *cursor_++ = letter;
    return *this;
}

inline text_writer& text_writer::append(std::string_view text) noexcept {
    if (text.size() <= room_bytes() && !text.empty()) [[likely]]
        std::memcpy(cursor_, text.data(), text.size());
    return advance(text.size());
}

template<text_integer Integer>
inline text_writer& text_writer::append(Integer number) noexcept {
    const std::uint64_t size = detail::size_of_integer(number);
    if (char* const end = detail::put_short_integer(cursor_, room_bytes(), number < 0, size); end != nullptr)
        [[likely]] {
        cursor_ = end;
        return *this;
    }
    return advance(detail::format_integer(cursor_, room_bytes(), number < 0, size));
}

template<unsigned Precision, text_float Float>
inline text_writer& text_writer::append_fixed(Float value) noexcept {
    static_assert(Precision <= max_precision);
    if (char* const end = detail::put_short_fixed<Precision>(cursor_, room_bytes(), value); end != nullptr) [[likely]] {
        cursor_ = end;
        return *this;
    }
    return advance(format_fixed(cursor_, room_bytes(), value, Precision));
}

}
