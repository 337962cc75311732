// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <set>
#include <tuple>

#include "report/json/json_summary.hpp"
#include "report/result/words.hpp"

namespace tenure::lab {

namespace {

using json = nlohmann::json;

std::string item(const std::string& where, std::size_t index) { return fmt::format("{}[{}]", where, index); }

/// Whether `value` is a list of `size` items; notes an error if not.
bool is_list_of(fields& from, const json& value, const std::string& where, std::size_t size, std::string_view of) {
    if (value.is_array() && value.size() == size) return true;
    from.note(where, value.is_array() ? fmt::format("a list of {} ({}), not of {}", size, of, value.size())
                                      : fmt::format("a list of {} ({})", size, of));
    return false;
}

/// Whether `value` is a list of at most `size` items; notes an error if not.
bool is_list_up_to(fields& from, const json& value, const std::string& where, std::size_t size, std::string_view of) {
    if (value.is_array() && value.size() <= size) return true;
    from.note(where, value.is_array() ? fmt::format("a list of at most {} ({}), not of {}", size, of, value.size())
                                      : fmt::format("a list of at most {} ({})", size, of));
    return false;
}

/// Reads the figures of one experiment.
class figure_reader {
public:
    explicit figure_reader(experiment_result& into) : into_(into) {}

    void read(fields row, const std::string& variant) {
        judged_figure made;
        metric measured;
        made.variant = variant;
        read_names(row, made);
        measured.name = made.metric;
        measured.variant = made.variant;
        measured.unit = made.unit;
        row.read_word("better", better_words, measured.sense);
        std::size_t rounds = into_.rounds;
        row.read_count("rounds", rounds);
        read_values(row, measured, rounds);
        read_best(row, made);
        read_verdict(row, made, rounds);
        into_.summarized->figures.push_back(std::move(made));
    }

private:
    void read_names(fields& row, judged_figure& into) {
        const json* names = row.find("figure");
        const std::string where = row.place("figure");
        if (names == nullptr) return row.note(where, "a list of 2 (metric, unit)");
        if (!is_list_of(row, *names, where, 2, "metric, unit")) return;
        row.text_of((*names)[0], item(where, 0), into.metric);
        row.text_of((*names)[1], item(where, 1), into.unit);
        if (!row.ok()) return;
        const bool is_new = known_.emplace(into.metric, into.variant, into.unit).second;
        if (!is_new) row.note(where, "a figure that is not in the experiment yet");
    }

    void read_values(fields& row, metric& measured, std::size_t rounds) {
        const json* values = row.find("values");
        const std::string where = row.place("values");
        if (values == nullptr) return row.note(where, "a list with an item for each contestant");
        if (!is_list_up_to(row, *values, where, into_.contestants.size(), "an item for each contestant")) return;
        has_.assign(into_.contestants.size(), false);
        for (std::size_t index = 0; index < values->size() && row.ok(); ++index) {
            const json& cell = (*values)[index];
            if (cell.is_null()) continue;
            measured.summarized = read_cell(row, cell, item(where, index), rounds);
            has_[index] = measured.summarized->value.count != 0 && into_.contestants[index].state == outcome::measured;
            into_.contestants[index].metrics.push_back(measured);
        }
    }

    /// [median], [median, ratio], [median, low, high], and the ratio and the rounds after these three.
    static metric_summary read_cell(fields& row, const json& cell, const std::string& where, std::size_t rounds) {
        metric_summary made;
        if (!is_list_up_to(row, cell, where, 5, "median, low, high, ratio, rounds") || cell.empty()) return made;
        const bool has_spread = cell.size() > 2;
        const std::size_t ratio = has_spread ? 3 : 1;
        std::size_t count = rounds;
        row.number_of(cell[0], item(where, 0), made.value.median);
        made.value.low = made.value.high = made.value.median;
        if (has_spread) {
            row.number_of(cell[1], item(where, 1), made.value.low);
            row.number_of(cell[2], item(where, 2), made.value.high);
        }
        if (cell.size() > ratio) row.number_of(cell[ratio], item(where, ratio), made.ratio.median);
        if (cell.size() == 5) row.count_of(cell[4], item(where, 4), count);
        if (count == 0) row.note(where, "a number of rounds above 0, here or for the figure or the experiment");
        made.value.count = count;
        made.ratio.count = made.ratio.median == made.ratio.median ? count : 0;
        return made;
    }

    void read_best(fields& row, judged_figure& into) {
        row.read_list("best", [&](const json& one, const std::string& where) {
            into.best.push_back(contestant(row, one, where));
        });
    }

    void read_verdict(fields& row, judged_figure& into, std::size_t rounds) {
        const json* all = row.find("verdict");
        if (all == nullptr) return;
        const std::string where = row.place("verdict");
        if (!is_list_up_to(row, *all, where, 5, "ours, reference, other, standing, ratio")) return;
        const auto has = [&](std::size_t index) { return index < all->size() && !(*all)[index].is_null(); };
        const auto name = [&](std::size_t index) {
            return has(index) ? contestant(row, (*all)[index], item(where, index)) : std::string();
        };
        into.ours = name(0);
        into.reference = name(1);
        into.other = name(2);
        if (has(3)) row.word_of((*all)[3], item(where, 3), standing_words, into.stands);
        if (has(4)) row.number_of((*all)[4], item(where, 4), into.against.median);
        into.against.count = has(4) ? rounds : 0;
        const bool has_both = !into.ours.empty() && !into.other.empty();
        if (!has_both && into.stands != standing::none) row.note(item(where, 3), "none, because ours or other is null");
    }

    /// The name of a contestant that has the figure.
    std::string contestant(fields& row, const json& value, const std::string& where) const {
        std::size_t index = 0;
        row.count_of(value, where, index);
        if (!row.ok()) return {};
        if (index < has_.size() && has_[index]) return into_.contestants[index].name;
        row.note(where, "the index of a contestant that has this figure");
        return {};
    }

    experiment_result& into_;
    std::set<std::tuple<std::string, std::string, std::string>> known_;
    std::vector<bool> has_; ///< the contestants that have the current figure
};

std::string contestant_of(fields& from, const json& value, const std::string& where, const experiment_result& found) {
    std::size_t index = 0;
    from.count_of(value, where, index);
    if (from.ok() && index < found.contestants.size()) return found.contestants[index].name;
    from.note(where, fmt::format("the index of a contestant, below {}", found.contestants.size()));
    return {};
}

quotient_row read_quotients(fields from, std::size_t count) {
    quotient_row made;
    from.read("figure", made.figure);
    const json* values = from.find("values");
    const std::string list = from.place("values");
    if (values == nullptr) {
        from.note(list, "a list with an item for each quotient");
        return made;
    }
    if (!is_list_of(from, *values, list, count, "one item for each quotient")) return made;
    for (std::size_t index = 0; index < count; ++index) {
        const json& one = (*values)[index];
        const std::string where = item(list, index);
        summary& found = made.all.emplace_back(summarize({}));
        if (one.is_array() && one.empty()) continue;
        if (!is_list_of(from, one, where, 4, "median, low, high, rounds")) break;
        from.number_of(one[0], item(where, 0), found.median);
        from.number_of(one[1], item(where, 1), found.low);
        from.number_of(one[2], item(where, 2), found.high);
        from.count_of(one[3], item(where, 3), found.count);
    }
    return made;
}

void read_rank(fields& from, experiment_result& into) {
    from.read_list("rank", [&](const json& one, const std::string& where) {
        if (!is_list_of(from, one, where, 4, "contestant, score, measured, possible")) return;
        ranked& made = into.summarized->order.emplace_back();
        made.name = contestant_of(from, one[0], item(where, 0), into);
        from.number_of(one[1], item(where, 1), made.score);
        from.count_of(one[2], item(where, 2), made.measured);
        from.count_of(one[3], item(where, 3), made.possible);
    });
}

void read_distances(fields& from, experiment_result& into) {
    from.read_list("distances", [&](const json& object, const std::string& where) {
        fields row = from.at(object, where);
        distance_row made;
        if (const json* who = row.find("contestant")) {
            made.contestant = contestant_of(row, *who, row.place("contestant"), into);
        } else {
            row.note(row.place("contestant"), "the index of a contestant");
        }
        row.read_strings("variants", made.variants);
        const json* values = row.find("values");
        const std::string list = row.place("values");
        if (values == nullptr) return row.note(list, "a list of 7 numbers");
        if (!is_list_of(row, *values, list, 7, "count, usual, its count, distinct, backwards, lowest, highest")) return;
        row.count_of((*values)[0], item(list, 0), made.found.count);
        row.integer_of((*values)[1], item(list, 1), made.found.usual);
        row.count_of((*values)[2], item(list, 2), made.found.usual_count);
        row.count_of((*values)[3], item(list, 3), made.found.distinct);
        row.count_of((*values)[4], item(list, 4), made.found.backwards);
        row.integer_of((*values)[5], item(list, 5), made.found.lowest);
        row.integer_of((*values)[6], item(list, 6), made.found.highest);
        into.summarized->distances.push_back(std::move(made));
    });
}

/// Reads a list of pairs of strings.
template<class Pair>
void read_pairs(fields& from, const char* key, std::vector<Pair>& into, std::string Pair::*first,
                std::string Pair::*second, std::string_view of) {
    from.read_list(key, [&](const json& one, const std::string& where) {
        if (!is_list_of(from, one, where, 2, of)) return;
        Pair& made = into.emplace_back();
        from.text_of(one[0], item(where, 0), made.*first);
        from.text_of(one[1], item(where, 1), made.*second);
    });
}

}

void read_summary(fields& from, experiment_result& into) {
    read_pairs(from, "parameters", into.parameters, &parameter::name, &parameter::value, "name, value");
    read_pairs(from, "primary", into.primary, &figure_pattern::metric, &figure_pattern::variant, "metric, variant");
    into.summarized.emplace();
    for (contestant_result& who : into.contestants) {
        who.metrics.clear();
        who.lists.clear();
    }
    if (from.find("variants") == nullptr) {
        from.note(from.place("variants"), "a list, which every experiment of a summary has");
    }
    figure_reader figures(into);
    from.read_list("variants", [&](const json& object, const std::string& where) {
        fields variant = from.at(object, where);
        std::string name;
        variant.read("variant", name);
        if (variant.find("figures") == nullptr)
            variant.note(variant.place("figures"), "a list of the figures of the variant");
        variant.read_list(
            "figures", [&](const json& row, const std::string& place) { figures.read(variant.at(row, place), name); });
    });
    from.read_objects("quotient_values", into.summarized->quotients,
                      [&](fields row) { return read_quotients(std::move(row), into.quotients.size()); });
    read_rank(from, into);
    read_distances(from, into);
}

}
