// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/json/json.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/json/json_fields.hpp"
#include "report/json/json_role.hpp"
#include "report/json/json_summary.hpp"
#include "report/letters.hpp"
#include "report/read_file.hpp"
#include "report/result/words.hpp"

namespace tenure::lab {

namespace {

using json = nlohmann::json;

constexpr std::uint64_t max_result_bytes = std::uint64_t{64} << 20U; // two hundred times the largest kept result
constexpr std::size_t deepest_json = 64;                             // a result has eight levels

// The layout compares every contestant with every other for each figure, so these limits bound its work. The largest
// result has 24 contestants in an experiment, 4,000 figures and 30,000 samples in all.
constexpr std::size_t max_contestants = 100; ///< per experiment
constexpr std::size_t max_figures = 10'000;  ///< over all contestants and experiments
constexpr std::size_t max_samples = 250'000;

/// Whether lists and objects are nested deeper than in any result. Each level of nesting takes many times its one byte
/// in the file.
bool is_too_deep(std::string_view text) {
    std::size_t depth = 0;
    bool is_string = false;
    for (std::size_t index = 0; index < text.size(); ++index) {
        const char letter = text[index];
        if (letter == '"') is_string = !is_string;
        if (is_string && letter == '\\') ++index;
        if (is_string) continue;
        if ((letter == '[' || letter == '{') && ++depth > deepest_json) return true;
        if ((letter == ']' || letter == '}') && depth > 0) --depth;
    }
    return false;
}

metric read_metric(fields from) {
    metric made;
    from.read("name", made.name);
    from.read("variant", made.variant);
    from.read("unit", made.unit);
    from.read_word("better", better_words, made.sense);
    from.read("resolution", made.resolution);
    from.read_samples("samples", made.samples);
    return made;
}

series read_series(fields from) {
    series made;
    from.read("name", made.name);
    from.read("variant", made.variant);
    from.read("unit", made.unit);
    from.read_integers("values", made.values);
    return made;
}

left_out_part read_left_out(fields from) {
    left_out_part made;
    from.read("part", made.part);
    from.read("reason", made.reason);
    return made;
}

contestant_result read_contestant(fields from) {
    contestant_result made;
    from.read("name", made.name);
    from.read("version", made.version);
    from.read("kind", made.kind);
    made.role = role_without_field(made.name, made.kind);
    from.read_word("role", role_words, made.role);
    from.read_word("state", outcome_words, made.state);
    from.read("reason", made.reason);
    from.read("proof", made.proof);
    from.read("note", made.note);
    from.read_objects("left_out", made.left_out, read_left_out);
    from.read_objects("metrics", made.metrics, read_metric);
    from.read_objects("lists", made.lists, read_series);
    return made;
}

property_table read_properties(fields from) {
    property_table made;
    from.read("title", made.title);
    from.read_strings("columns", made.columns);
    from.read_rows("rows", made.rows);
    return made;
}

quotient read_quotient(fields from) {
    quotient made;
    from.read("title", made.title);
    from.read("over", made.over);
    from.read("under", made.under);
    return made;
}

figure_pattern read_pattern(fields from) {
    figure_pattern made;
    from.read("metric", made.metric);
    from.read("variant", made.variant);
    return made;
}

parameter read_parameter(fields from) {
    parameter made;
    from.read("name", made.name);
    from.read("value", made.value);
    return made;
}

experiment_result read_experiment(fields from, std::int64_t format) {
    experiment_result made;
    from.read("name", made.name);
    from.read("question", made.question);
    from.read_strings("unfair", made.unfair);
    from.read("baseline", made.baseline);
    from.read_count("rounds", made.rounds);
    from.read_objects("contestants", made.contestants, read_contestant);
    from.read_objects("lists", made.lists, read_series);
    from.read_objects("properties", made.properties, read_properties);
    from.read_objects("quotients", made.quotients, read_quotient);
    from.read("ranking_rule", made.ranking_rule);
    from.read_strings("ranking", made.ranking);
    from.read_strings("unranked", made.unranked);
    if (format == summary_format) {
        read_summary(from, made);
    } else {
        from.read_objects("parameters", made.parameters, read_parameter);
        from.read_objects("primary", made.primary, read_pattern);
    }
    return made;
}

machine_info read_machine(fields from) {
    machine_info made;
    from.read("cpu", made.cpu);
    from.read_count("cores", made.cores);
    from.read_count("memory_bytes", made.memory_bytes);
    from.read("kernel", made.kernel);
    from.read("system", made.system);
    from.read("c_library", made.c_library);
    from.read("huge_pages", made.huge_pages);
    from.read("compiler", made.compiler);
    from.read("flags", made.flags);
    from.read("build_type", made.build_type);
    from.read("commit", made.commit);
    return made;
}

/// Which limit the result exceeds; empty when it exceeds none.
std::string excess_of(const result& found) {
    std::size_t figures = 0;
    std::size_t samples = 0;
    for (const experiment_result& experiment : found.experiments) {
        if (experiment.contestants.size() > max_contestants) {
            return fmt::format("not a result of `tenure bench`: {} contestants in one experiment; the maximum is {}",
                               experiment.contestants.size(), max_contestants);
        }
        if (experiment.summarized) figures += experiment.summarized->figures.size();
        for (const contestant_result& who : experiment.contestants) {
            figures += who.metrics.size();
            for (const metric& one : who.metrics) samples += one.samples.size();
        }
    }
    if (figures > max_figures) {
        return fmt::format("not a result of `tenure bench`: {} figures; the maximum is {}", figures, max_figures);
    }
    if (samples > max_samples) {
        return fmt::format("not a result of `tenure bench`: {} samples; the maximum is {}", samples, max_samples);
    }
    return {};
}

/// Why this file cannot be read at all: it is another kind of file, or from a later version. Empty when it can.
std::string format_error(const json& whole) {
    if (!whole.is_object()) return "not a result of `tenure bench`: the file contains no JSON object";
    const auto format = whole.find("format");
    if (format == whole.end() || !format->is_number_integer() || whole.find("experiments") == whole.end()) {
        return "not a result of `tenure bench`: the fields \"format\" and \"experiments\" are missing";
    }
    if (*format < 1) return fmt::format("unknown format {}", format->dump());
    if (*format > summary_format) {
        return fmt::format("format {} was written by a newer `tenure`; this one reads formats up to {}: update it",
                           format->dump(), summary_format);
    }
    return {};
}

}

loaded_result parse_json(std::string_view text) {
    loaded_result loaded;
    json whole;
    if (is_too_deep(text)) {
        loaded.error =
            fmt::format("not a result of `tenure bench`: more than {} levels of lists and objects", deepest_json);
        return loaded;
    }
    try {
        whole = json::parse(text);
    } catch (const json::exception& refused) {
        // Removes the library's own error number at the beginning of the message.
        const std::string_view said = refused.what();
        const std::size_t bracket = said.find("] ");
        loaded.error =
            fmt::format("not JSON: {}", printable(bracket == std::string_view::npos ? said : said.substr(bracket + 2)));
        return loaded;
    }
    loaded.error = format_error(whole);
    if (!loaded.error.empty()) return loaded;
    fields from(whole, "", loaded.error);
    from.read("tool_version", loaded.value.tool_version);
    from.read("started_at", loaded.value.started_at);
    from.read("command", loaded.value.command);
    from.read("complete", loaded.value.complete);
    loaded.value.machine = read_machine(from.inner("machine"));
    const auto format = whole["format"].get<std::int64_t>();
    from.read_objects("experiments", loaded.value.experiments,
                      [format](fields each) { return read_experiment(std::move(each), format); });
    if (loaded.ok()) loaded.error = excess_of(loaded.value);
    if (!loaded.ok()) loaded.value = {};
    return loaded;
}

loaded_result load_json(const std::filesystem::path& path) {
    std::error_code ignored;
    const std::filesystem::path file = std::filesystem::is_directory(path, ignored) ? path / "results.json" : path;
    const file_text read = read_file(file, max_result_bytes);
    loaded_result loaded;
    if (read.ok()) {
        loaded = parse_json(read.text);
    } else {
        loaded.error = read.error;
    }
    if (!loaded.ok()) loaded.error = fmt::format("{}: {}", printable(file.string()), loaded.error);
    return loaded;
}

}
