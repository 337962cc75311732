// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The file of advice, as the process keeps it: docs/design/advice-format.md.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tenure/dropin/detail/advice.hpp>
#include <tenure/platform/build_id.hpp>

namespace tenure::inline TENURE_ABI::dropin {

/// Where a part of a file's code is mapped.
struct code_range {
    std::uintptr_t begin, end;
    std::uint64_t offset; ///< of `begin` in the file

    [[nodiscard]] friend bool operator==(const code_range&, const code_range&) noexcept = default;
};

/// All code of a file: linkers make one part of it, and by their options and scripts more.
struct mapped_code {
    static constexpr std::size_t max_ranges = 8;

    std::uintptr_t base = 0; ///< the file's first mapping
    std::size_t count = 0;   ///< zero: it is not mapped
    code_range ranges[max_ranges]{};

    [[nodiscard]] bool is_same(const mapped_code& other) const noexcept {
        return count == other.count && std::equal(ranges, ranges + count, other.ranges);
    }
};

struct advised_object {
    platform::build_id id;       ///< empty: it is known by its path
    std::uint64_t path_hash = 0; ///< hash_of_path()
    bool is_permanent = false;   ///< it was there at the start, so it is never unloaded
    mapped_code code;
};

struct advised_site {
    std::uint8_t group;
    std::uint8_t count; ///< of frames
    bool is_added;      ///< to the table
    bool is_hopeless;   ///< the table had no room, or a frame cannot be followed
    std::uint8_t objects[max_site_frames];
    std::uint64_t offsets[max_site_frames]; ///< of the return addresses in their files
};

[[nodiscard]] std::uint64_t hash_of_path(std::string_view path) noexcept;

/// Reads the file line by line. Static memory: it is large.
class advice_file {
public:
    static constexpr std::size_t max_objects = 64, max_sites = 1024, max_name = 24;
    static constexpr std::size_t max_bytes = std::size_t{1} << 20;

    /// Returns   false if there is no such file, or not of this format; why() then says it.
    [[nodiscard]] bool read(const char* path) noexcept;
    [[nodiscard]] std::string_view why() const noexcept { return why_; }
    /// Number of the line that is wrong.
    [[nodiscard]] std::size_t line() const noexcept { return line_count_; }

    [[nodiscard]] advised_object* begin_of_objects() noexcept { return objects_; }
    [[nodiscard]] advised_object* end_of_objects() noexcept { return objects_ + object_count_; }
    [[nodiscard]] advised_site* begin_of_sites() noexcept { return sites_; }
    [[nodiscard]] advised_site* end_of_sites() noexcept { return sites_ + site_count_; }
    /// Empty: the file has no group of that number.
    [[nodiscard]] std::string_view name_of_group(unsigned group) const noexcept { return names_[group]; }

private:
    void take(std::string_view part) noexcept;
    void take_line(std::string_view line) noexcept;
    [[nodiscard]] bool take_object(std::string_view rest) noexcept;
    [[nodiscard]] bool take_group(std::string_view rest) noexcept;
    [[nodiscard]] bool take_site(std::string_view rest) noexcept;

    advised_object objects_[max_objects]{};
    advised_site sites_[max_sites]{};
    char names_[max_groups + 1][max_name + 1]{};
    std::size_t object_count_ = 0, site_count_ = 0, line_count_ = 0, length_ = 0;
    std::string_view why_;
    char text_[4352]{}; ///< a line
};

}
