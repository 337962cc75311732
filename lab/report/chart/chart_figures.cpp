// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/chart/chart_figures.hpp"

#include <algorithm>
#include <string_view>

#include "report/result/primary.hpp"

namespace tenure::lab {

namespace {

/// Whether a figure has a bar to draw: some value that is not zero.
bool has_bar(const table& whole, std::size_t index) {
    return std::any_of(whole.rows.begin(), whole.rows.end(), [index](const table_row& row) {
        const summary& value = row.cells[index].value;
        return value.count != 0 && value.median != 0.0;
    });
}

/// Primary figures of the table, those declared first at the front.
std::vector<std::size_t> in_declared_order(const experiment_result& found, const table& whole) {
    std::vector<std::size_t> order;
    for (const figure_pattern& pattern : found.primary) {
        for (std::size_t index = 0; index < whole.figures.size(); ++index) {
            const figure& column = whole.figures[index];
            const bool covered = matches(pattern.metric, column.metric) && matches(pattern.variant, column.variant);
            if (covered && std::find(order.begin(), order.end(), index) == order.end()) order.push_back(index);
        }
    }
    return order;
}

class chooser {
public:
    chooser(const table& whole, std::vector<std::size_t> declared) : whole_(whole), declared_(std::move(declared)) {}

    [[nodiscard]] std::vector<std::size_t> choose() {
        const bool has_memory = std::any_of(declared_.begin(), declared_.end(), [this](std::size_t index) {
            return whole_.figures[index].kind == figure_kind::memory;
        });
        take(figure_kind::timed, once::per_variant, has_memory ? max_panels - 1 : max_panels);
        take(figure_kind::memory, once::per_variant, std::max(chosen_.size() + 1, max_panels - 1));
        take(figure_kind::timed, once::per_figure, has_memory ? max_panels - 1 : max_panels);
        take(figure_kind::memory, once::per_figure, max_panels);
        return chosen_;
    }

private:
    enum class once : std::uint8_t { per_variant, per_figure };

    [[nodiscard]] bool is_shown(std::size_t index, once rule) const {
        return std::any_of(chosen_.begin(), chosen_.end(), [&](std::size_t shown) {
            const figure &one = whole_.figures[shown], &other = whole_.figures[index];
            return shown == index ||
                   (rule == once::per_variant && one.variant == other.variant && one.kind == other.kind);
        });
    }

    /// Adds figures of one kind until `limit` are chosen. Variants come in the order of the table.
    void take(figure_kind kind, once rule, std::size_t limit) {
        std::vector<std::size_t> order = declared_;
        if (rule == once::per_variant) {
            std::stable_sort(order.begin(), order.end(),
                             [this](std::size_t a, std::size_t b) { return variant_of(a) < variant_of(b); });
        }
        for (const std::size_t index : order) {
            if (chosen_.size() >= limit) return;
            if (whole_.figures[index].kind == kind && !is_shown(index, rule)) chosen_.push_back(index);
        }
    }

    /// The place of the figure's variant: the table's figures are grouped by variant.
    [[nodiscard]] std::size_t variant_of(std::size_t index) const {
        while (index > 0 && whole_.figures[index - 1].variant == whole_.figures[index].variant) --index;
        return index;
    }

    const table& whole_;
    std::vector<std::size_t> declared_;
    std::vector<std::size_t> chosen_;
};

}

chart_choice choose_chart_figures(const experiment_result& found, const table& whole) {
    std::vector<std::size_t> declared = in_declared_order(found, whole);
    chart_choice made{{}, declared.size()};
    std::erase_if(declared, [&](std::size_t index) { return !has_bar(whole, index); });
    const bool all_fit = declared.size() <= max_panels;
    made.figures = all_fit ? std::move(declared) : chooser(whole, std::move(declared)).choose();
    std::sort(made.figures.begin(), made.figures.end());
    std::stable_partition(made.figures.begin(), made.figures.end(),
                          [&](std::size_t index) { return whole.figures[index].kind != figure_kind::memory; });
    return made;
}

}
