// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Text in a room of a fixed size: what does not fit is counted and left out, as snprintf does. Nothing is written
/// behind the text.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

class bounded_text {
public:
    bounded_text(char* to, std::size_t room_bytes) noexcept : end_(to), room_(room_bytes) {}

    /// Out of line: inline, GCC 12 takes the branches for long texts for errors where it knows that the text is short.
    TENURE_NOINLINE void put(const char* text, std::size_t bytes) noexcept {
        needed_ += bytes;
        const std::size_t written = std::min(bytes, room_);
        copy(end_, text, written);
        end_ += written;
        room_ -= written;
    }
    void put(char letter) noexcept {
        ++needed_;
        if (room_ == 0) return;
        *end_++ = letter;
        --room_;
    }
    void fill(char letter, std::uint64_t count) noexcept {
        needed_ += count;
        const auto written = static_cast<std::size_t>(std::min<std::uint64_t>(count, room_));
        if (written == 0) return;
        std::memset(end_, letter, written);
        end_ += written;
        room_ -= written;
    }

    /// Bytes of the whole text, written or not.
    [[nodiscard]] std::uint64_t needed_bytes() const noexcept { return needed_; }
    [[nodiscard]] char* end() const noexcept { return end_; }

private:
    /// Most texts are short, and a call of memcpy takes as long as formatting them: two words that overlap.
    static void copy(char* to, const char* from, std::size_t bytes) noexcept {
        if (bytes > 32) [[unlikely]]
            std::memcpy(to, from, bytes);
        else if (bytes >= 16)
            copy_ends<16>(to, from, bytes);
        else if (bytes >= 8)
            copy_ends<8>(to, from, bytes);
        else if (bytes >= 4)
            copy_ends<4>(to, from, bytes);
        else if (bytes >= 2)
            copy_ends<2>(to, from, bytes);
        else if (bytes == 1)
            *to = *from;
    }
    template<std::size_t Bytes>
    static void copy_ends(char* to, const char* from, std::size_t bytes) noexcept {
        char first[Bytes], last[Bytes];
        std::memcpy(first, from, Bytes);
        std::memcpy(last, from + bytes - Bytes, Bytes);
        std::memcpy(to, first, Bytes);
        std::memcpy(to + bytes - Bytes, last, Bytes);
    }

    char* end_;
    std::size_t room_;
    std::uint64_t needed_ = 0;
};

}
