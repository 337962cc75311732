// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The raw file of a recording, which grows while the program runs.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tenure::lab::tracer {

/// A descriptor of the file is kept open: after the program has changed its user or its root, the path leads nowhere.
/// Programs close descriptors that are not theirs, and open others with the same numbers. So the descriptor is looked
/// at before each use, and the path is opened where it is another file's. Zeroed memory is a file that is not created.
///
/// Threads   extend(): any. Functions may change errno.
class recording_file {
public:
    static constexpr std::size_t max_path_bytes = 4000; ///< of `wanted`

    /// Creates the file under a name that is free: `WANTED.raw`, and otherwise with numbers before ".raw". It gets a
    /// first part of `bytes`. Returns   that part, mapped; nullptr: `error` is the system's number, and there is no
    /// file.
    [[nodiscard]] void* create(std::string_view wanted, bool is_first_process, std::uint32_t bytes,
                               int& error) noexcept;

    /// Appends a part. Returns   it, mapped, with zeros; nullptr: `error` is the system's number. `end`: the offset
    /// behind it.
    [[nodiscard]] void* extend(std::uint32_t bytes, std::uint64_t& end, int& error) noexcept;

    /// Whether an error may be gone a moment later.
    [[nodiscard]] static bool is_transient(int error) noexcept;

private:
    [[nodiscard]] bool is_this(int descriptor) const noexcept;
    [[nodiscard]] int open_again() noexcept;
    void keep(int descriptor, int before) noexcept;

    std::atomic<int> kept_; ///< zero: none
    std::uint64_t device_, inode_;
    std::atomic<std::uint64_t> next_; ///< offset of the next part
};

}
