// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Aligned columns of words for a terminal: widths, wrapping, colour.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/letters.hpp"
#include "report/table/text.hpp"

namespace tenure::lab {

/// Columns. A narrower terminal gets lines of this width.
inline constexpr std::size_t min_text_width = 40;

/// The meaning of a word; shown as colour where allowed, and never by colour alone.
enum class tint : std::uint8_t { none, strong, faint, good, bad, warning };

/// `text` broken at spaces so that no line exceeds `width`; later lines are indented by `indent` spaces.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t width, std::size_t indent = 0);

[[nodiscard]] std::string painted(std::string_view text, tint shade, colour colours);

struct grid_cell {
    std::string text;
    tint shade = tint::none;
};

/// The first column is left-aligned, all others right-aligned.
class text_grid {
public:
    /// A heading over `span` columns; call it until the columns are covered. Widens the columns when it is longer.
    void group(std::string title, std::size_t span);
    void head(std::vector<std::string> titles) { titles_ = std::move(titles); }
    void add(std::vector<grid_cell> cells) { rows_.push_back(std::move(cells)); }

    [[nodiscard]] std::string str(colour colours) const;
    [[nodiscard]] std::size_t width() const;

private:
    struct heading {
        std::string title;
        std::size_t span;
    };

    [[nodiscard]] std::vector<std::size_t> widths() const;

    std::vector<heading> groups_;
    std::vector<std::string> titles_;
    std::vector<std::vector<grid_cell>> rows_;
};

}
