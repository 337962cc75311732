// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/table/text_grid.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "report/letters.hpp"

namespace tenure::lab {

namespace {

constexpr std::size_t gap = 2;

std::string padded(std::string_view text, std::size_t width, bool left) {
    const std::size_t used = columns_of(text);
    const std::string blanks(width > used ? width - used : 0, ' ');
    return left ? std::string(text) + blanks : blanks + std::string(text);
}

void end_line(std::string& text) {
    while (!text.empty() && text.back() == ' ') text.pop_back();
    text += '\n';
}

}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
    std::string lines;
    std::size_t used = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        const std::string_view word = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (word.empty()) continue;
        const std::size_t length = columns_of(word);
        if (used != 0 && used + 1 + length > width) {
            lines += '\n' + std::string(indent, ' ');
            used = indent;
        } else if (!lines.empty()) {
            lines += ' ';
            ++used;
        }
        lines += word;
        used += length;
    }
    return lines;
}

std::string painted(std::string_view text, tint shade, colour colours) {
    static constexpr std::array<std::string_view, 6> codes{"", "1", "2", "32", "31", "33"};
    // Spaces at either end stay outside, so that lines can be trimmed.
    const std::size_t first = text.find_first_not_of(' ');
    if (colours == colour::plain || shade == tint::none || first == std::string_view::npos) return std::string(text);
    const std::size_t end = text.find_last_not_of(' ') + 1;
    std::string out(text.substr(0, first));
    out += "\x1b[";
    out += codes[static_cast<std::size_t>(shade)];
    out += 'm';
    out += text.substr(first, end - first);
    out += "\x1b[0m";
    return out += text.substr(end);
}

void text_grid::group(std::string title, std::size_t span) { groups_.push_back({std::move(title), span}); }

std::vector<std::size_t> text_grid::widths() const {
    std::vector<std::size_t> widths;
    const auto widen = [&](std::size_t index, std::string_view text) {
        if (index >= widths.size()) widths.resize(index + 1, 0);
        widths[index] = std::max(widths[index], columns_of(text));
    };
    for (std::size_t index = 0; index < titles_.size(); ++index) widen(index, titles_[index]);
    for (const auto& row : rows_) {
        for (std::size_t index = 0; index < row.size(); ++index) widen(index, row[index].text);
    }
    std::size_t first = 0;
    for (const heading& one : groups_) {
        widths.resize(std::max(widths.size(), first + one.span), 0);
        const auto begin = widths.begin() + static_cast<std::ptrdiff_t>(first);
        const std::size_t inside =
            std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(one.span), gap * (one.span - 1));
        const std::size_t wanted = columns_of(one.title);
        if (wanted > inside) widths[first] += wanted - inside;
        first += one.span;
    }
    return widths;
}

std::size_t text_grid::width() const {
    const std::vector<std::size_t> all = widths();
    return std::accumulate(all.begin(), all.end(), all.empty() ? std::size_t{0} : gap * (all.size() - 1));
}

std::string text_grid::str(colour colours) const {
    const std::vector<std::size_t> all = widths();
    std::string text;
    std::size_t first = 0;
    for (const heading& one : groups_) {
        std::size_t inside = gap * (one.span - 1);
        for (std::size_t index = first; index < first + one.span; ++index) inside += all[index];
        if (first != 0) text += std::string(gap, ' ');
        text += painted(padded(one.title, inside, first == 0), tint::strong, colours);
        first += one.span;
    }
    if (!groups_.empty()) end_line(text);
    const auto line = [&](std::size_t index, std::string_view word, tint shade) {
        if (index != 0) text += std::string(gap, ' ');
        text += painted(padded(word, all[index], index == 0), shade, colours);
    };
    for (std::size_t index = 0; index < titles_.size(); ++index) line(index, titles_[index], tint::faint);
    if (!titles_.empty()) end_line(text);
    for (const auto& row : rows_) {
        for (std::size_t index = 0; index < row.size(); ++index) line(index, row[index].text, row[index].shade);
        end_line(text);
    }
    return text;
}

}
