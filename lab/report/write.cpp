// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/write.hpp"

#include <cerrno>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "report/chart/experiment_chart.hpp"
#include "report/html/html.hpp"
#include "report/json/json.hpp"
#include "report/result/csv.hpp"

namespace tenure::lab {

namespace {

std::string refusal(const std::filesystem::path& path, const std::error_code& why) {
    return fmt::format("{}: cannot write the file: {}", path.string(), why.message());
}

std::error_code last_error() { return {errno == 0 ? EIO : errno, std::generic_category()}; }

std::string make_directory(const std::filesystem::path& path) {
    std::error_code why;
    std::filesystem::create_directories(path, why);
    if (!why && !std::filesystem::is_directory(path, why)) why = std::make_error_code(std::errc::not_a_directory);
    return why ? fmt::format("{}: cannot create the folder: {}", path.string(), why.message()) : std::string();
}

std::string write_articles(const experiment_result& found, const std::filesystem::path& directory) {
    const std::vector<named_text> files = article_files(found);
    if (files.empty()) return {};
    const std::filesystem::path folder = directory / safe_file_name(found.name);
    std::string error = make_directory(folder);
    for (const named_text& file : files) {
        if (!error.empty()) return error;
        error = write_file(folder / file.name, file.text);
    }
    return error;
}

std::string write_chart(const result& found, const experiment_result& shown, const std::filesystem::path& directory) {
    const std::string picture = experiment_chart(found, shown);
    return picture.empty() ? std::string() : write_file(directory / (safe_file_name(shown.name) + ".svg"), picture);
}

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

std::string write_all(const result& found, const std::filesystem::path& directory) {
    std::string error = make_directory(directory);
    if (error.empty()) error = write_file(directory / "results.json", to_json(found));
    if (error.empty()) error = write_file(directory / "results.csv", to_csv(found));
    for (const experiment_result& experiment : found.experiments) {
        if (error.empty()) error = write_articles(experiment, directory);
        if (error.empty()) error = write_chart(found, experiment, directory);
    }
    if (error.empty()) error = write_file(directory / "report.html", to_html(found));
    return error;
}

}
