// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Writes the sections of a heap profile's file (base/profile_format.hpp), and the checksum at its end.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <tenure/base/config.hpp>
#include <tenure/base/profile_format.hpp>
#include <tenure/platform/output_file.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Collects what is written, so that the system is called for 8 KiB at a time. It is large: give it static memory.
///
/// Threads   one at a time.
class section_writer {
public:
    static constexpr std::size_t word_bytes = sizeof(std::uint64_t);

    explicit section_writer(std::string_view path) noexcept : file_(path) {}

    /// Requires  `bytes` is a multiple of eight.
    void words(const void* data, std::size_t bytes) noexcept {
        const auto* from = static_cast<const char*>(data);
        while (bytes != 0) {
            const std::size_t part = std::min(bytes, sizeof buffer_ - used_);
            std::memcpy(reinterpret_cast<char*>(buffer_) + used_, from, part);
            used_ += part;
            from += part;
            bytes -= part;
            if (used_ == sizeof buffer_) flush();
        }
    }
    void begin(profile_format::section kind, std::size_t entry_bytes, std::size_t count) noexcept {
        const profile_format::section_header header{kind, static_cast<std::uint32_t>(entry_bytes), count};
        words(&header, sizeof header);
    }
    void text(profile_format::section kind, std::string_view part) noexcept {
        begin(kind, 1, part.size());
        const std::size_t whole = part.size() / word_bytes * word_bytes;
        words(part.data(), whole);
        char last[word_bytes]{};
        if (whole == part.size()) return;
        std::copy(part.begin() + whole, part.end(), last); // substr() would link libstdc++'s throws
        words(last, sizeof last);
    }
    /// Writes the end section. Returns   whether all was written.
    [[nodiscard]] bool finish() noexcept {
        flush();
        const std::uint64_t sum = sum_.value();
        begin(profile_format::section::end, sizeof sum, 1);
        words(&sum, sizeof sum);
        flush();
        return file_.finish();
    }

private:
    void flush() noexcept {
        sum_.add(buffer_, used_ / word_bytes);
        file_.write(buffer_, used_);
        used_ = 0;
    }

    platform::output_file file_;
    profile_format::checksum sum_;
    std::size_t used_ = 0;
    std::uint64_t buffer_[1024];
};

}
