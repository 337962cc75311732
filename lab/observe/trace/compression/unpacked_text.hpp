// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Decompresses a foreign file part by part, so that a small file with a very long text costs little memory.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace tenure::lab {

class unpacked_text {
public:
    static constexpr std::size_t part_bytes = 65'536;

    virtual ~unpacked_text() = default;
    /// Appends the next part of the text, at most part_bytes. Returns   false at the end, and at damage.
    [[nodiscard]] virtual bool append_next(std::string& to) = 0;
    /// Whether the file is damaged or ends early.
    [[nodiscard]] bool is_damaged() const { return is_damaged_; }

protected:
    bool is_damaged_ = false;
};

enum class text_packing : std::uint8_t { plain, gzip, zstd, zip };

/// How a file is packed, by its first bytes.
[[nodiscard]] text_packing packing_of(std::string_view file);

/// `file` must stay valid. Returns   null for a kind that this build cannot read: zip, and zstd in a build without it.
[[nodiscard]] std::unique_ptr<unpacked_text> unpack(std::string_view file, text_packing packing);

/// One of the two files zstd.cpp and without_zstd.cpp. Memory: a window of 128 MiB at most.
[[nodiscard]] std::unique_ptr<unpacked_text> unpack_zstd(std::string_view file);

}
