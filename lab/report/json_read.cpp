// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/json.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/json_role.hpp"
#include "report/letters.hpp"
#include "report/read_file.hpp"
#include "report/words.hpp"

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

/// Reads the fields of one object. Records the first error anywhere with its place and skips the rest.
class fields {
public:
    fields(const json& object, std::string path, std::string& error)
        : object_(object), path_(std::move(path)), error_(error) {
        if (!object_.is_object()) fail("", "an object");
    }

    void read(const char* key, std::string& into) {
        const json* value = find(key);
        if (value == nullptr) return;
        if (!value->is_string()) return fail(key, "a string");
        into = printable(value->get_ref<const std::string&>());
    }

    void read(const char* key, bool& into) {
        const json* value = find(key);
        if (value == nullptr) return;
        if (!value->is_boolean()) return fail(key, "true or false");
        into = value->get<bool>();
    }

    template<class Unsigned>
    void read_count(const char* key, Unsigned& into) {
        const json* value = find(key);
        if (value == nullptr) return;
        if (!value->is_number_unsigned() || value->get<std::uint64_t>() > std::numeric_limits<Unsigned>::max()) {
            return fail(key, "a whole number that is not negative");
        }
        into = static_cast<Unsigned>(value->get<std::uint64_t>());
    }

    template<class Enum>
    void read_word(const char* key, std::span<const std::string_view> words, Enum& into) {
        std::string text;
        if (find(key) == nullptr) return;
        read(key, text);
        const auto place = std::find(words.begin(), words.end(), text);
        if (place == words.end()) return fail(key, fmt::format("one of {}", fmt::join(words, ", ")));
        into = static_cast<Enum>(place - words.begin());
    }

    /// Calls `each` with every item of a list and its place in the file.
    template<class Each>
    void read_list(const char* key, Each each) {
        const json* value = find(key);
        if (value == nullptr) return;
        if (!value->is_array()) return fail(key, "a list");
        for (std::size_t index = 0; index < value->size() && error_.empty(); ++index) {
            each((*value)[index], fmt::format("{}[{}]", place(key), index));
        }
    }

    template<class T, class Make>
    void read_objects(const char* key, std::vector<T>& into, Make make) {
        read_list(key, [&](const json& item, const std::string& where) {
            into.push_back(make(fields(item, where, error_)));
        });
    }

    void read_strings(const char* key, std::vector<std::string>& into) {
        read_list(key, [&](const json& item, const std::string& where) { append_string(item, where, into); });
    }

    void read_rows(const char* key, std::vector<std::vector<std::string>>& into) {
        read_list(key, [&](const json& row, const std::string& where) {
            if (!row.is_array()) return note(where, "a list of strings");
            into.emplace_back();
            for (const json& item : row) append_string(item, where, into.back());
        });
    }

    void read_samples(const char* key, std::vector<double>& into) {
        read_list(key, [&](const json& item, const std::string& where) {
            constexpr double infinity = std::numeric_limits<double>::infinity();
            if (item.is_number()) {
                into.push_back(item.get<double>());
            } else if (item.is_null()) {
                into.push_back(std::numeric_limits<double>::quiet_NaN());
            } else if (item == "inf" || item == "-inf") {
                into.push_back(item == "inf" ? infinity : -infinity);
            } else {
                note(where, "a number or null");
            }
        });
    }

    void read_integers(const char* key, std::vector<std::int64_t>& into) {
        read_list(key, [&](const json& item, const std::string& where) {
            constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
            const bool fits =
                item.is_number_unsigned() ? item.get<std::uint64_t>() <= largest : item.is_number_integer();
            if (!fits) return note(where, "a whole number of at most 63 bits");
            into.push_back(item.get<std::int64_t>());
        });
    }

    [[nodiscard]] const json* find(const char* key) const {
        if (!error_.empty()) return nullptr;
        const auto place = object_.find(key);
        return place == object_.end() ? nullptr : &*place;
    }

    [[nodiscard]] fields inner(const char* key) {
        static const json empty = json::object();
        const json* value = find(key);
        return {value == nullptr ? empty : *value, place(key), error_};
    }

private:
    void append_string(const json& item, const std::string& where, std::vector<std::string>& into) {
        if (!item.is_string()) return note(where, "a string");
        into.push_back(printable(item.get_ref<const std::string&>()));
    }

    [[nodiscard]] std::string place(std::string_view key) const {
        if (key.empty()) return path_;
        return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
    }

    void fail(std::string_view key, std::string_view expected) { note(place(key), expected); }

    void note(std::string_view where, std::string_view expected) {
        if (!error_.empty()) return;
        error_ = fmt::format("{}: expected {}", where.empty() ? "the whole file" : where, expected);
    }

    const json& object_;
    std::string path_;
    std::string& error_;
};

metric read_metric(fields from) {
    metric made;
    from.read("name", made.name);
    from.read("variant", made.variant);
    from.read("unit", made.unit);
    from.read_word("better", better_words, made.sense);
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

experiment_result read_experiment(fields from) {
    experiment_result made;
    from.read("name", made.name);
    from.read("question", made.question);
    from.read_strings("unfair", made.unfair);
    from.read("baseline", made.baseline);
    from.read_objects("parameters", made.parameters, read_parameter);
    from.read_count("rounds", made.rounds);
    from.read_objects("contestants", made.contestants, read_contestant);
    from.read_objects("properties", made.properties, read_properties);
    from.read_objects("quotients", made.quotients, read_quotient);
    from.read("ranking_rule", made.ranking_rule);
    from.read_strings("ranking", made.ranking);
    from.read_strings("unranked", made.unranked);
    from.read_objects("primary", made.primary, read_pattern);
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
    if (*format > result_format) {
        return fmt::format("format {} was written by a newer `tenure`; this one reads formats up to {}: update it",
                           format->dump(), result_format);
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
    from.read_objects("experiments", loaded.value.experiments, read_experiment);
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
