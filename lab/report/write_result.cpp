// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/write.hpp"

#include <system_error>

#include <fmt/format.h>

#include "report/chart/experiment_chart.hpp"
#include "report/html/html.hpp"
#include "report/json/json.hpp"
#include "report/result/csv.hpp"

namespace tenure::lab {

namespace {

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
