// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Bytes of a large file, read where they are needed: a core file can be larger than memory.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace tenure::lab {

/// Threads   one at a time.
class core_bytes {
public:
    core_bytes() = default;
    virtual ~core_bytes() = default;
    core_bytes(const core_bytes&) = delete;
    core_bytes& operator=(const core_bytes&) = delete;

    [[nodiscard]] virtual std::uint64_t size() const = 0;
    /// Returns   false when they are not all there.
    [[nodiscard]] virtual bool read(std::uint64_t at, void* to, std::size_t count) const = 0;
    /// The first byte from `at` on that may be other than zero: files can have holes.
    [[nodiscard]] virtual std::uint64_t next_data(std::uint64_t at) const { return at; }
};

/// A file, or the reason why there is none.
struct opened_bytes {
    std::unique_ptr<core_bytes> bytes;
    std::string error; ///< the end of a sentence that begins with the file's name
};
/// Fails     for what is no regular file, without blocking.
[[nodiscard]] opened_bytes open_bytes(const std::string& path);

/// Bytes in memory.
[[nodiscard]] std::unique_ptr<core_bytes> bytes_of(std::string text);

}
