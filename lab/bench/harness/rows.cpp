// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Collects samples by round, the first list of each name or the median of all, and each sentence once. A duplicate
/// name fails its row.

#include "bench/harness/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

namespace tenure::lab {

namespace {

constexpr double no_sample = std::numeric_limits<double>::quiet_NaN();

/// Metric and variant: the key of a figure in tables and in --compare.
using figure_key = std::pair<std::string_view, std::string_view>;

figure_key key_of(const measured_value& value) { return {value.metric, value.variant}; }
figure_key key_of(const metric& each) { return {each.name, each.variant}; }
figure_key key_of(const measured_list& list) { return {list.name, list.variant}; }
figure_key key_of(const series& each) { return {each.name, each.variant}; }

std::string words_of(const figure_key& key) {
    return key.second.empty() ? std::string{key.first} : fmt::format("{}, {}", key.first, key.second);
}

/// The key that occurs twice in a worker's figures; nullptr when none does.
template<class Found>
const Found* repeated(const std::vector<Found>& found) {
    std::set<figure_key> keys;
    for (const Found& each : found) {
        if (!keys.insert(key_of(each)).second) return &each;
    }
    return nullptr;
}

template<class Kept>
bool holds_key(const std::vector<Kept>& kept, const figure_key& key) {
    return std::any_of(kept.begin(), kept.end(), [&](const Kept& each) { return key_of(each) == key; });
}

/// Why the findings of a part cannot be added to the existing ones; empty when they can.
template<class Found, class Kept>
std::string name_conflict(std::string_view what, const std::vector<Found>& found,
                          const std::vector<std::vector<Kept>>& by_part, std::size_t own_part,
                          std::span<const part> parts) {
    if (const Found* twice = repeated(found)) {
        return fmt::format("the {} \"{}\" was recorded twice", what, words_of(key_of(*twice)));
    }
    for (const Found& each : found) {
        for (std::size_t other = 0; other < by_part.size(); ++other) {
            if (other == own_part || !holds_key(by_part[other], key_of(each))) continue;
            return fmt::format(
                "the {} \"{}\" was recorded by the part \"{}\" as well; the variant must tell them apart", what,
                words_of(key_of(each)), parts[other].name);
        }
    }
    return {};
}

metric& metric_for(std::vector<metric>& metrics, const measured_value& value, std::uint32_t rounds) {
    const auto found =
        std::find_if(metrics.begin(), metrics.end(), [&](const metric& each) { return key_of(each) == key_of(value); });
    if (found != metrics.end()) return *found;
    return metrics.emplace_back(
        metric{value.metric, value.variant, value.unit, value.sense, std::vector<double>(rounds, no_sample)});
}

void keep_first(std::vector<series>& lists, const measured_list& list) {
    if (!holds_key(lists, key_of(list))) lists.push_back({list.name, list.variant, list.unit, list.values});
}

/// Replaces each number of a list by its median over the rounds. A round whose list has another length is left out.
void take_medians(series& list, const std::vector<measured_list>& courses) {
    std::vector<const std::vector<std::int64_t>*> rounds;
    for (const measured_list& each : courses)
        if (key_of(each) == key_of(list) && each.values.size() == list.values.size()) rounds.push_back(&each.values);
    if (rounds.empty()) return;
    std::vector<std::int64_t> numbers(rounds.size());
    for (std::size_t place = 0; place < list.values.size(); ++place) {
        for (std::size_t i = 0; i < rounds.size(); ++i) numbers[i] = (*rounds[i])[place];
        const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>((numbers.size() - 1) / 2);
        std::nth_element(numbers.begin(), middle, numbers.end());
        list.values[place] = *middle;
    }
}

template<class T>
std::vector<T> joined(std::vector<std::vector<T>>& by_part) {
    std::vector<T> all;
    for (std::vector<T>& some : by_part) std::move(some.begin(), some.end(), std::back_inserter(all));
    return all;
}

void add_sentence(std::string& text, const std::string& sentence) {
    if (sentence.empty() || text.find(sentence) != std::string::npos) return;
    if (!text.empty()) text += "; ";
    text += sentence;
}

bool is_number(double sample) { return sample == sample; }

bool holds_sample(const metric& each) { return std::any_of(each.samples.begin(), each.samples.end(), is_number); }

std::size_t numbers_of(const metric& each) {
    return static_cast<std::size_t>(std::count_if(each.samples.begin(), each.samples.end(), is_number));
}

}

row_builder::row_builder(std::span<const measured_row> measured_rows, std::span<const part> parts, std::uint32_t rounds)
    : rounds_(rounds), parts_(parts) {
    for (const measured_row& each : measured_rows) {
        row added;
        added.made.name = each.name;
        added.made.version = each.version;
        added.made.kind = each.kind;
        added.made.role = each.role;
        added.made.note = each.note;
        if (!each.missing.empty()) {
            added.made.state = outcome::missing;
            added.made.reason = each.missing;
        }
        added.metrics.resize(parts.size());
        added.lists.resize(parts.size());
        added.courses.resize(parts.size());
        rows_.push_back(std::move(added));
    }
}

void row_builder::leave_out(std::size_t index, std::size_t part, std::string_view reason) {
    rows_[index].made.left_out.push_back({std::string{parts_[part].name}, std::string{reason}});
}

void row_builder::has_no_part(std::size_t index) {
    contestant_result& made = rows_[index].made;
    if (made.state != outcome::measured) return;
    made.state = outcome::missing;
    made.reason =
        made.left_out.empty() ? "it does not take part in any chosen part" : "it is left out of all chosen parts";
}

void row_builder::fail(row& failed, std::uint32_t round, std::size_t part, const std::string& reason) {
    failed.made.state = outcome::failed;
    failed.made.reason = fmt::format("{}, round {}: {}", parts_[part].name, round + 1, reason);
}

void row_builder::add(std::size_t index, std::uint32_t round, std::size_t part, const worker_reply& reply) {
    row& into = rows_[index];
    if (reply.how != ending::finished) return fail(into, round, part, reply.reason);
    const std::optional<worker_findings> found = parse_findings(reply.message);
    if (!found) return fail(into, round, part, "its process ended without a result");
    if (!found->failure.empty()) return fail(into, round, part, found->failure);
    for (const std::string& conflict : {name_conflict("figure", found->values, into.metrics, part, parts_),
                                        name_conflict("list", found->lists, into.lists, part, parts_)}) {
        if (!conflict.empty()) return fail(into, round, part, conflict);
    }
    add_findings(into, round, part, *found);
}

void row_builder::add_findings(row& into, std::uint32_t round, std::size_t part, const worker_findings& found) {
    for (const measured_value& value : found.values) {
        metric_for(into.metrics[part], value, rounds_).samples[round] = value.value;
    }
    for (const measured_list& list : found.lists) {
        keep_first(into.lists[part], list);
        if (list.in_each_round == measured_list::a_sample) into.courses[part].push_back(list);
    }
    for (const std::string& note : found.notes) add_sentence(into.made.note, note);
    if (into.made.proof.empty()) into.made.proof = found.proof;
}

std::uint32_t row_builder::rounds_held() const {
    std::size_t most = 0;
    for (const row& each : rows_) {
        if (each.made.state != outcome::measured) continue;
        for (const std::vector<metric>& part : each.metrics) {
            for (const metric& one : part) most = std::max(most, numbers_of(one));
        }
    }
    return static_cast<std::uint32_t>(most);
}

std::vector<contestant_result> row_builder::take(std::uint32_t rounds_begun) {
    std::vector<contestant_result> taken;
    for (row& each : rows_) {
        contestant_result& made = each.made;
        if (made.state == outcome::measured) {
            made.metrics = joined(each.metrics);
            for (metric& one : made.metrics) one.samples.resize(std::min<std::size_t>(rounds_begun, rounds_));
            for (std::size_t part = 0; part < each.lists.size(); ++part)
                for (series& list : each.lists[part]) take_medians(list, each.courses[part]);
            made.lists = joined(each.lists);
            if (std::none_of(made.metrics.begin(), made.metrics.end(), holds_sample)) {
                made.state = outcome::missing;
                made.reason = "not reached before the run was interrupted";
                made.metrics.clear();
                made.lists.clear();
            }
        }
        taken.push_back(std::move(made));
    }
    return taken;
}

}
