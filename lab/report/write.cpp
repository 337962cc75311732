// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/write.hpp"

#include <cerrno>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

namespace tenure::lab {

namespace {

std::string refusal(const std::filesystem::path& path, const std::error_code& why) {
    return fmt::format("{}: cannot write the file: {}", path.string(), why.message());
}

std::error_code last_error() { return {errno == 0 ? EIO : errno, std::generic_category()}; }

}

std::filesystem::path followed(std::filesystem::path path) {
    constexpr int most_links = 40; // as the system's own limit
    std::error_code error;
    for (int link = 0; link < most_links && std::filesystem::is_symlink(path, error); ++link) {
        const std::filesystem::path target = std::filesystem::read_symlink(path, error);
        if (error) break;
        path = path.parent_path() / target; // an absolute target stands alone
    }
    return path;
}

namespace {

/// Whether a file is written to as it is. Renaming would replace a device or a pipe by a file, which root may do to
/// /dev/null; and what /dev/stdout names is open already.
[[nodiscard]] bool is_written_in_place(const std::filesystem::path& path) {
    std::error_code not_known;
    if (std::filesystem::is_other(path, not_known)) return true;
    if (!std::filesystem::is_symlink(path, not_known)) return false;
    const std::filesystem::path target = std::filesystem::read_symlink(path, not_known);
    return target.native().starts_with("/proc/self/fd/");
}

}

std::string write_file(const std::filesystem::path& path, std::string_view content) {
    const bool is_stream = is_written_in_place(path);
    const std::filesystem::path final_path = is_stream ? path : followed(path);
    std::error_code not_known;
    if (!is_stream && std::filesystem::is_symlink(final_path, not_known))
        return refusal(path, std::make_error_code(std::errc::too_many_symbolic_link_levels));
    std::filesystem::path partial = final_path;
    if (!is_stream) partial += ".partial";
    errno = 0;
    std::ofstream stream(partial, std::ios::binary | std::ios::trunc);
    if (!stream) return refusal(path, last_error());
    stream.write(content.data(), static_cast<std::streamsize>(content.size()));
    stream.close(); // some errors, such as a full disk, show only here
    std::error_code why;
    if (!stream) why = last_error();
    if (!why && !is_stream) std::filesystem::rename(partial, final_path, why);
    if (!why) return {};
    std::error_code ignored;
    if (!is_stream) std::filesystem::remove(partial, ignored);
    return refusal(path, why);
}

}
