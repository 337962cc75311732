// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/chart/experiment_chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <sstream>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "report/analysis/judge.hpp"
#include "report/analysis/layout.hpp"
#include "report/chart/bar_parts.hpp"
#include "report/chart/chart_figures.hpp"
#include "report/chart/scale.hpp"
#include "report/chart/svg.hpp"
#include "report/letters.hpp"
#include "report/numbers.hpp"
#include "report/table/text_grid.hpp"

namespace tenure::lab {

namespace {

// Plain colours and no variables, because not every program that draws SVG knows them. The background is painted, so
// that the picture stays readable on a page of the other colour scheme.
constexpr std::string_view style = R"css(
text{font:11.5px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;fill:#1f2328}
.title{font-size:18px;font-weight:600}.metric{font-size:12.5px;font-weight:600}
.soft,.tick{fill:#59636e}.soft{font-size:11px}.tick{font-size:9.5px}.foot{font-size:10.5px;fill:#59636e}
.ours{font-weight:600;fill:#0b57b0}.value,.tick{font-variant-numeric:tabular-nums}.best{font-weight:700}
.mark{font-weight:600;fill:#a3271b}
.page{fill:#fff;stroke:#d1d9e0}.grid{stroke:#eaeef2}.zero{stroke:#8c959f}.rule{stroke:#d1d9e0}
rect.ours{fill:#0b63c5}rect.peer,rect.baseline{fill:#b3bcc6}
rect.reference{fill:#fff;stroke:#8c959f;stroke-dasharray:3 2}rect.checked{fill:#fff;stroke:#0b63c5;stroke-dasharray:3 2}
.stem{stroke:#8c959f;stroke-width:1.5}.cut{stroke:#fff;stroke-width:5}.break{stroke:#59636e}
.halo{fill:none;stroke:#fff;stroke-width:2.8}.whisker{fill:none;stroke:#1f2328}
@media(prefers-color-scheme:dark){
text{fill:#e6edf3}.soft,.tick,.foot{fill:#9198a1}.ours{fill:#79b8ff}.mark{fill:#ff9a8d}
.page{fill:#0d1117;stroke:#3d444d}.grid{stroke:#20262d}.zero{stroke:#656c76}.rule{stroke:#3d444d}
rect.ours{fill:#4493f8}rect.peer,rect.baseline{fill:#59626d}
rect.reference{fill:#0d1117;stroke:#8b949e}rect.checked{fill:#0d1117;stroke:#4493f8}
.stem{stroke:#656c76}.break{stroke:#9198a1}.cut,.halo{stroke:#0d1117}.whisker{stroke:#f0f6fc}
}
)css";

constexpr double width = 760;
constexpr double margin = 24;
constexpr double gap = 32; ///< between the two columns of panels
constexpr double panel_width = (width - 2 * margin - gap) / 2;
constexpr double head_height = 40; ///< of a panel: its two lines
constexpr double row_height = 16;
constexpr double bar_height = 10;
constexpr double apart_gap = 7; ///< above the rows that are not choices
constexpr double axis_height = 18;
constexpr double panel_gap = 18;
constexpr double digit_width = 6.7;
constexpr double letter_width = 6.3; ///< of a label in a wide font
constexpr double bold_width = 6.7;
constexpr double value_gap = 9; ///< between a value and its bar
constexpr std::size_t max_label = 28;
// Rows that are not choices may be this much longer than the longest choice before their bars are cut.
constexpr double cut_factor = 1.5;

/// Whether a row is drawn below the others: a reference or a checked form.
bool is_apart(const table_row& row) { return !is_choice(row.part); }

struct panel {
    std::size_t figure;
    std::vector<std::size_t> rows; ///< choices, then the others; both best first
    std::size_t choices;           ///< how many of them are choices
};

panel panel_of(const table& from, std::size_t figure_index) {
    panel made{figure_index, best_first(from, figure_index), 0};
    const auto apart = std::stable_partition(made.rows.begin(), made.rows.end(),
                                             [&](std::size_t row) { return !is_apart(from.rows[row]); });
    made.choices = static_cast<std::size_t>(apart - made.rows.begin());
    return made;
}

bool has_apart_gap(const panel& drawn) { return drawn.choices != 0 && drawn.choices != drawn.rows.size(); }

double height_of(const panel& drawn) {
    return head_height + row_height * static_cast<double>(drawn.rows.size()) + (has_apart_gap(drawn) ? apart_gap : 0) +
           axis_height;
}

/// The axis covers the choices. With two or more of them, the bars of other rows that are much longer are cut.
scale scale_of(const table& from, const panel& drawn, double pixels) {
    const auto value_of = [&](std::size_t place) { return from.rows[drawn.rows[place]].cells[drawn.figure].value; };
    double longest = 0;
    for (std::size_t place = 0; place < drawn.choices; ++place) longest = std::max(longest, value_of(place).high);
    std::vector<double> values;
    for (std::size_t place = 0; place < drawn.rows.size(); ++place) {
        const summary value = value_of(place);
        if (place >= drawn.choices && drawn.choices > 1 && value.median > cut_factor * longest) continue;
        values.push_back(value.median);
        values.push_back(place < drawn.choices ? value.high : value.median);
        if (value.low < 0.0) values.push_back(value.low);
    }
    const bool memory = from.figures[drawn.figure].kind == figure_kind::memory;
    return memory ? scale::for_parts(values, pixels) : scale::for_lengths(values, pixels);
}

std::string_view direction_of(const figure& column) {
    return column.sense == better::larger ? "larger is better" : "smaller is better";
}

std::string unit_and_direction(const figure& column) {
    return column.unit.empty() ? std::string(direction_of(column))
                               : fmt::format("{}, {}", column.unit, direction_of(column));
}

/// For widths.
double letters_of(std::string_view text) { return static_cast<double>(columns_of(text)); }

/// How many letters of a size fit.
std::size_t letters_in(double pixels, double font_size) {
    return static_cast<std::size_t>(std::max(0.0, pixels) / (0.56 * font_size));
}

constexpr std::size_t footer_letters = 112;

class drawing {
public:
    drawing(const result& found, const experiment_result& shown, const table& whole, const chart_choice& choice)
        : found_(found), shown_(shown), whole_(whole), choice_(choice) {
        for (const std::size_t index : choice.figures) {
            panels_.push_back(panel_of(whole, index));
            for (const std::size_t row : panels_.back().rows) {
                const double letters = letters_of(elided(whole.rows[row].who->name, max_label));
                const bool bold = whole.rows[row].part == role::ours;
                label_width_ = std::max(label_width_, letters * (bold ? bold_width : letter_width) + 6);
                const double digits = letters_of(value_text(whole.rows[row].cells[index].value.median));
                value_width_ = std::max(value_width_, digits * digit_width + value_gap);
            }
        }
        question_ = lines_of(shown.question, letters_in(width - 2 * margin, 11.5));
        footer_ = lines_of(how_measured(), footer_letters);
        for (std::string& line : lines_of(machine(), footer_letters)) footer_.push_back(std::move(line));
    }

    [[nodiscard]] std::string str() {
        svg picture = svg::alone(width, whole_height(), title(), description(), style);
        picture.rect(0.5, 0.5, width - 1, whole_height() - 1, "page");
        double y = draw_head(picture);
        for (std::size_t place = 0; place < panels_.size(); place += 2) {
            draw_panel(picture, panels_[place], margin, y);
            if (place + 1 < panels_.size()) draw_panel(picture, panels_[place + 1], margin + panel_width + gap, y);
            y += line_height(place) + panel_gap;
        }
        draw_footer(picture, y);
        return picture.str() + "\n";
    }

private:
    static std::vector<std::string> lines_of(std::string_view text, std::size_t letters) {
        std::vector<std::string> lines;
        std::istringstream stream(wrapped(text, letters));
        for (std::string line; std::getline(stream, line);) lines.push_back(line);
        return lines;
    }

    [[nodiscard]] std::string title() const { return fmt::format("tenure bench {}", shown_.name); }

    [[nodiscard]] std::string description() const {
        std::string words;
        for (const panel& each : panels_) {
            const figure& column = whole_.figures[each.figure];
            words += fmt::format("{} ({}):", figure_name(column), unit_and_direction(column));
            for (const std::size_t row : each.rows) {
                words += fmt::format(" {} {};", whole_.rows[row].who->name,
                                     value_text(whole_.rows[row].cells[each.figure].value.median));
            }
            words.back() = '.';
            words += ' ';
        }
        return words;
    }

    [[nodiscard]] std::string how_measured() const {
        std::string words =
            fmt::format("Medians of {}; whiskers: middle half; bold: best choice, or level with it", rounds());
        if (choice_.primary > choice_.figures.size()) {
            words += fmt::format("; {} of {} primary figures", choice_.figures.size(), choice_.primary);
        }
        return words + ".";
    }

    /// The rounds of the figures that are shown, the most of any contestant: "7 rounds", "3 to 7 rounds".
    [[nodiscard]] std::string rounds() const {
        std::size_t fewest = std::numeric_limits<std::size_t>::max(), most = 0;
        for (const panel& each : panels_) {
            std::size_t held = 0;
            for (const std::size_t row : each.rows)
                held = std::max(held, whole_.rows[row].cells[each.figure].value.count);
            fewest = std::min(fewest, held);
            most = std::max(most, held);
        }
        const std::string words = count_text(most, "round");
        return fewest == most ? words : fmt::format("{} to {}", fewest, words);
    }

    [[nodiscard]] std::string machine() const {
        const machine_info& on = found_.machine;
        std::string words;
        const auto add = [&words](std::string_view fact) {
            if (!fact.empty()) words += fmt::format("{}{}", words.empty() ? "" : ", ", fact);
        };
        add(on.cpu);
        add(on.cores == 0 ? std::string() : count_text(on.cores, "core"));
        add(on.system);
        add(fmt::format("{}{}{}", on.compiler, on.flags.empty() ? "" : " ", on.flags));
        add(on.commit.empty() ? std::string() : "commit " + on.commit);
        add(std::string_view(found_.started_at).substr(0, 10));
        return words + ".";
    }

    [[nodiscard]] double line_height(std::size_t place) const {
        const double left = height_of(panels_[place]);
        return place + 1 < panels_.size() ? std::max(left, height_of(panels_[place + 1])) : left;
    }

    [[nodiscard]] double head_bottom() const { return 52 + 16 * static_cast<double>(question_.size()) + 40; }

    [[nodiscard]] double whole_height() const {
        double height = head_bottom();
        for (std::size_t place = 0; place < panels_.size(); place += 2) height += line_height(place) + panel_gap;
        return std::ceil(height + 14 * static_cast<double>(footer_.size()) + 14);
    }

    /// Returns   where the panels begin.
    double draw_head(svg& picture) const {
        picture.text(margin, 40, title(), "title");
        if (const std::string mark = warning(); !mark.empty())
            picture.text(width - margin, 40, mark, "mark", anchor::end);
        double y = 60;
        for (const std::string& line : question_) {
            picture.text(margin, y, line, "soft");
            y += 16;
        }
        draw_legend(picture, y + 9);
        return head_bottom();
    }

    /// What makes the figures doubtful; empty when nothing does.
    [[nodiscard]] std::string warning() const {
        std::string words = build_mark(found_.machine);
        if (!found_.complete) words += words.empty() ? "interrupted" : ", interrupted";
        return words;
    }

    void draw_legend(svg& picture, double y) const {
        double x = margin;
        const auto swatch = [&](role part, std::string_view text) {
            if (!has(part)) return;
            picture.rect(x + 0.5, y - 8.5, 14, 9, css_of(part));
            picture.text(x + 21, y, text, part == role::ours ? "soft ours" : "soft");
            x += 21 + 6 * letters_of(text) + 16;
        };
        swatch(role::ours, "Tenure");
        if (has(role::ours)) swatch(has(role::peer) ? role::peer : role::baseline, "others");
        swatch(role::checked, "Tenure with checks, not a choice");
        swatch(role::reference, "reference, not a choice");
    }

    [[nodiscard]] bool has(role part) const {
        return std::any_of(panels_.begin(), panels_.end(), [&](const panel& each) {
            return std::any_of(each.rows.begin(), each.rows.end(),
                               [&](std::size_t row) { return whole_.rows[row].part == part; });
        });
    }

    void draw_panel(svg& picture, const panel& drawn, double x, double y) const {
        const double left = x + label_width_ + value_width_;
        const double pixels = x + panel_width - left - 6;
        const bar_area area{left, bar_height, left - value_width_, x + panel_width + 10};
        const scale axis = scale_of(whole_, drawn, pixels);
        draw_panel_head(picture, whole_.figures[drawn.figure], axis, x, y + 14);
        const double top = y + head_height;
        const double bottom = y + height_of(drawn) - axis_height;
        draw_ticks(picture, axis, area, top - 4, bottom - 2);
        const double zero = left + axis.place(0.0);
        double at = top;
        std::string whiskers;
        const std::vector<std::size_t> best = best_choices(whole_, drawn.figure);
        for (std::size_t place = 0; place < drawn.rows.size(); ++place) {
            if (place == drawn.choices && has_apart_gap(drawn)) {
                picture.line(x, at + 1.5, x + panel_width, at + 1.5, "rule");
                at += apart_gap;
            }
            const table_row& row = whole_.rows[drawn.rows[place]];
            const summary& value = row.cells[drawn.figure].value;
            const std::string_view name_css = row.part == role::ours ? "ours" : is_apart(row) ? "soft" : "name";
            picture.text(x, at + 10, elided(row.who->name, max_label), name_css);
            picture.text(left - value_gap, at + 10, value_text(value.median),
                         holds_row(best, drawn.rows[place]) ? "value best" : "value", anchor::end);
            draw_bar(picture, axis, area, at, value.median, css_of(row.part));
            if (axis.beyond(value.median)) {
                draw_cut(picture, left + pixels - 16, at);
            } else if (shows_spread(axis, value)) {
                whiskers += whisker_of(axis, area, at, value);
            }
            at += row_height;
        }
        picture.line(zero, top - 4, zero, bottom - 2, "zero");
        picture.path(whiskers, "halo");
        picture.path(whiskers, "whisker");
    }

    /// Whether a whisker would be visible: longer than its strokes, and on a logarithmic axis longer than the mark.
    static bool shows_spread(const scale& axis, const summary& value) {
        const double length = axis.place(value.high) - axis.place(value.low);
        return value.count >= min_spread_rounds &&
               length >= (axis.kind() == scale_kind::logarithmic ? bar_height : 1.5);
    }

    /// Two lines: the metric with unit and direction, then the variant. A long metric has the first line to itself.
    static void draw_panel_head(svg& picture, const figure& column, const scale& axis, double x, double y) {
        const auto line = [&](double at, std::string_view words, std::string_view css, double font,
                              std::string_view end) {
            const double room = panel_width - (end.empty() ? 0 : 6 * letters_of(end) + 10);
            picture.text(x, at, clipped(words, letters_in(room, font)), css);
            if (!end.empty()) picture.text(x + panel_width, at, end, "soft", anchor::end);
        };
        const std::string unit = unit_and_direction(column);
        const bool logarithmic = axis.kind() == scale_kind::logarithmic;
        if (columns_of(column.metric) <= letters_in(panel_width - 6 * letters_of(unit) - 10, 13)) {
            line(y, column.metric, "metric", 13, unit);
            line(y + 15, column.variant, "soft", 11, logarithmic ? "logarithmic scale" : "");
        } else {
            line(y, column.metric, "metric", 13, "");
            line(y + 15, column.variant, "soft", 11, unit + (logarithmic ? ", log scale" : ""));
        }
    }

    /// A gap between two strokes, through a bar that is longer than the axis.
    static void draw_cut(svg& picture, double x, double y) {
        const auto stroke = [&](double at, std::string_view css) {
            picture.line(at, y + bar_height + 2, at + 5, y - 2, css);
        };
        stroke(x + 2.5, "cut");
        stroke(x, "break");
        stroke(x + 5, "break");
    }

    void draw_footer(svg& picture, double y) const {
        for (std::size_t line = 0; line < footer_.size(); ++line) {
            picture.text(margin, y + 2 + 14 * static_cast<double>(line), footer_[line], "foot");
        }
    }

    const result& found_;
    const experiment_result& shown_;
    const table& whole_;
    const chart_choice& choice_;
    std::vector<panel> panels_;
    std::vector<std::string> question_, footer_;
    double label_width_ = 0, value_width_ = 0;
};

}

std::string experiment_chart(const result& found, const experiment_result& shown) {
    const layout laid = lay_out(shown);
    const chart_choice choice = choose_chart_figures(shown, laid.whole);
    return choice.figures.empty() ? std::string() : drawing(found, shown, laid.whole, choice).str();
}

}
