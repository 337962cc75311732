// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/result/csv.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "report/analysis/distances.hpp"
#include "report/analysis/metric_value.hpp"
#include "report/numbers.hpp"

namespace tenure::lab {

namespace {

constexpr std::size_t longest_name = 100;

/// The number of allocations in one measurement, from the experiment's parameters.
std::optional<double> operations(const experiment_result& found) {
    for (const parameter& given : found.parameters) {
        if (given.name != "--count" && given.name != "count") continue;
        std::int64_t count = 0;
        const char* end = given.value.data() + given.value.size();
        if (std::from_chars(given.value.data(), end, count).ptr == end && count > 0) {
            return static_cast<double>(count);
        }
    }
    return std::nullopt;
}

/// The article's name for one of our metrics; empty when the article has no such row.
std::string_view operation_word(std::string_view metric) {
    if (metric.starts_with("alloc")) return "Allocate";
    if (metric.starts_with("free") || metric.starts_with("dealloc")) return "Deallocate";
    return {};
}

/// Rounds a product such as 1.05 * 1000 to thousandths, which removes the digits that binary fractions add.
double thousandths(double value) { return std::round(value * 1000.0) / 1000.0; }

std::string times_text(const contestant_result& who, std::string_view variant, std::optional<double> count) {
    std::string rows;
    std::set<std::string_view> written;
    for (const metric& measured : who.metrics) {
        const std::string_view word = operation_word(measured.name);
        if (word.empty() || measured.variant != variant || !measured.unit.starts_with("ns")) continue;
        const double each = value_of(measured).median;
        if (std::isnan(each) || !written.insert(word).second) continue;
        const bool per_operation = measured.unit != "ns";
        rows += fmt::format("{},{}\n", word, exact_text(thousandths(per_operation && count ? each * *count : each)));
    }
    if (rows.empty()) return {};
    return fmt::format("Operation,{}\n{}", count ? "Time_ns" : "Time_ns_per_operation", rows);
}

std::string distances_text(const std::vector<std::int64_t>& distances) {
    std::string text = "Distance\n";
    for (const std::int64_t distance : distances) text += fmt::format("{}\n", distance);
    return text;
}

std::string buckets_text(const std::vector<std::int64_t>& distances) {
    std::string text = "Distance,Count\n";
    for (const bucket& one : buckets_of(distances)) text += fmt::format("{},{}\n", one.distance, one.count);
    return text;
}

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    return text;
}

/// `name`, or `name-2` and so on when the name is taken. Case is ignored, because some file systems ignore it.
std::string unique_name(std::string name, std::set<std::string>& taken) {
    std::string candidate = name;
    for (int number = 2; !taken.insert(lower(candidate)).second; ++number) {
        candidate = fmt::format("{}-{}", name, number);
    }
    return candidate;
}

bool several_variants(const experiment_result& found) {
    std::set<std::string_view> variants;
    for (const contestant_result& who : found.contestants) {
        for (const series& list : who.lists) {
            if (list.name == distances_name) variants.insert(list.variant);
        }
    }
    return variants.size() > 1;
}

bool is_reserved(const std::string& name) {
    static const std::set<std::string> devices{"con", "prn", "aux", "nul"};
    const std::string stem = lower(name.substr(0, name.find('.')));
    const bool port = stem.size() == 4 && (stem.starts_with("com") || stem.starts_with("lpt"));
    return devices.contains(stem) || port;
}

}

std::string safe_file_name(std::string_view name) {
    std::string safe;
    for (const char letter : name.substr(0, longest_name)) {
        const bool plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                           (letter >= '0' && letter <= '9') || letter == '.';
        if (plain) {
            safe += letter;
        } else if (!safe.empty() && safe.back() != '-') {
            safe += '-';
        }
    }
    safe.erase(0, safe.find_first_not_of(".-"));
    safe.erase(safe.find_last_not_of(".-") + 1);
    if (safe.empty()) return "unnamed";
    return is_reserved(safe) ? safe + "-" : safe;
}

std::vector<named_text> article_files(const experiment_result& found) {
    std::vector<named_text> files;
    std::set<std::string> taken;
    const std::optional<double> count = operations(found);
    const bool name_variants = several_variants(found);
    for (const contestant_result& who : found.contestants) {
        if (who.state != outcome::measured) continue;
        for (const series& list : who.lists) {
            if (list.name != distances_name) continue;
            std::string stem = safe_file_name(who.name);
            if (name_variants && !list.variant.empty()) stem += "_" + safe_file_name(list.variant);
            stem = unique_name(stem, taken);
            std::string times = times_text(who, list.variant, count);
            if (!times.empty()) files.push_back({stem + "_times.csv", std::move(times)});
            files.push_back({stem + "_distances.csv", distances_text(list.values)});
            files.push_back({stem + "_buckets.csv", buckets_text(list.values)});
        }
    }
    return files;
}

}
