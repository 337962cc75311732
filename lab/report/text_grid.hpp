// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Aligned columns of words for a terminal, and what they need: widths, wrapping, colour.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/letters.hpp"
#include "report/text.hpp"

namespace tenure::lab {

/// What a word means; drawn as colour where that is allowed, and never the only sign of it.
enum class tint : std::uint8_t { none, strong, faint, good, bad, warning };

/// `text` broken at blanks so that no line passes `width`; later lines begin with `indent` blanks.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t width, std::size_t indent = 0);

[[nodiscard]] std::string painted(std::string_view text, tint shade, colour colours);

struct grid_cell {
    std::string text;
    tint shade = tint::none;
};

/// The first column is aligned left, all others right.
class text_grid {
public:
    /// A heading over `span` columns; call until the columns are covered. Widens them where it is longer.
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
