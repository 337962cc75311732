// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Text of numbers and words, one after the other, into memory that is there.
///
/// Use it for     records, tables and messages whose size has a bound: printf without its locks and allocations.
/// Not for        text without a bound: std::string; records by many threads: text/paged_writer.hpp, over this.
/// Memory from    the caller: a buffer and its size.
/// Cost           5 to 13 ns for a number of at most eight digits, 10 to 40 for a longer one; a copy for text.
/// Overhead       none in the text: no zero behind it, no padding.
/// Threads        one thread at a time; give each thread its own.
/// Fork           usable in the child, unless another thread was using it just then.
/// When full      writes nothing more, whole calls only, and goes on counting: needed_bytes() is what all of it takes.
/// Example        examples/text.cpp

#include <concepts>
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
    /// Requires  `room` outlives the writer; all of it may be written to, also what lies behind the text.
    explicit text_writer(std::span<char> room) noexcept
        : first_(room.data()), cursor_(room.data()), end_(room.data() + room.size()) {}
    text_writer(char* to, std::size_t room_bytes) noexcept : text_writer(std::span<char>(to, room_bytes)) {}

    /// A letter. Neither this nor any other form takes a bool, a float or an enumeration by a conversion.
    template<std::same_as<char> Letter>
    text_writer& append(Letter letter) noexcept;
    text_writer& append(std::string_view text) noexcept;
    /// A decimal number, with a sign when it is negative.
    template<text_integer Integer>
    text_writer& append(Integer number) noexcept;
    /// One of two words.
    text_writer& append_choice(bool value, std::string_view when_true, std::string_view when_false) noexcept {
        return append(value ? when_true : when_false);
    }

    /// As printf's "%.*f", exactly: see format.hpp. The precision as a template's argument is the fast form.
    template<unsigned Precision, text_float Float>
    text_writer& append_fixed(Float value) noexcept;
    template<text_float Float>
    text_writer& append_fixed(Float value, unsigned precision) noexcept {
        return advance(format_fixed(cursor_, room_bytes(), value, precision));
    }

    /// Where the next text goes, for functions that write by themselves: advance() says how much they wrote.
    [[nodiscard]] std::span<char> room() const noexcept { return {cursor_, room_bytes()}; }
    [[nodiscard]] std::size_t room_bytes() const noexcept { return static_cast<std::size_t>(end_ - cursor_); }

    /// Takes as text what was written to room(), or, where it is more than that, counts it as what did not fit. (A text
    /// of exactly the room is whole only if no zero had to be behind it, as snprintf's.)
    text_writer& advance(std::size_t bytes) noexcept;

    /// Whether everything was written.
    [[nodiscard]] bool fits() const noexcept { return missed_bytes_ == 0; }
    [[nodiscard]] std::size_t size_bytes() const noexcept { return static_cast<std::size_t>(cursor_ - first_); }
    /// The room that everything so far takes, written or not.
    [[nodiscard]] std::size_t needed_bytes() const noexcept { return size_bytes() + missed_bytes_; }
    /// What was written: all of it, or what came before the first call that did not fit.
    [[nodiscard]] std::string_view text() const noexcept { return {first_, size_bytes()}; }

private:
    char* first_;
    char* cursor_;
    char* end_; // of the room; the cursor, once something did not fit
    std::size_t missed_bytes_ = 0;
};

inline text_writer& text_writer::advance(std::size_t bytes) noexcept {
    if (bytes <= room_bytes()) [[likely]] {
        cursor_ += bytes;
    } else {
        missed_bytes_ += bytes;
        end_ = cursor_; // a later text that would fit must not stand in its place
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
    std::uint64_t const size = detail::size_of_integer(number);
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
