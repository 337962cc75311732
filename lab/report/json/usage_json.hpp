// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Reads what a program's frame_usage_log wrote (tenure/lifetime/frame_usage_log.hpp).

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::lab {

/// One tag: a value per frame. Temp's are the bytes allocated within the frame, the others are live at its end.
struct tag_frames {
    std::string name;
    std::optional<std::uint64_t> limit_bytes, threshold_bytes;
    std::vector<std::int64_t> persistent_bytes, temp_job_bytes, temp_bytes, refusals;

    [[nodiscard]] std::int64_t peak_bytes() const;           ///< of the process heap, to which budgets apply
    [[nodiscard]] bool is_exceeded(std::size_t index) const; ///< past the threshold or the limit, or refused
    [[nodiscard]] std::size_t exceeded_count() const;
};

/// The largest and the last value; 0 without frames.
[[nodiscard]] std::int64_t peak_of(const std::vector<std::int64_t>& values);
[[nodiscard]] std::int64_t last_of(const std::vector<std::int64_t>& values);

struct frame_usages {
    std::vector<std::int64_t> frames;
    std::vector<tag_frames> tags;
    std::string error; ///< empty, or a sentence that begins with the file's name

    [[nodiscard]] bool ok() const { return error.empty(); }
};

/// Fails     for a file that is not such a log, or whose lists have different lengths.
[[nodiscard]] frame_usages parse_usage(std::string_view text, const std::string& name);

/// Fails     also for a path that is not a regular file, and for a file of more than 64 MiB.
[[nodiscard]] frame_usages load_usage(const std::filesystem::path& path);

}
