// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A chart, written as plain SVG.
///
/// The report's charts are bars, points and a few lines, so this code is smaller than the glue to a chart library would
/// be. The page stays one file, prints sharply, and uses the colours of its light and dark styles.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace tenure::lab {

/// Which end of a text is at its position.
enum class anchor : std::uint8_t { start, middle, end };

/// Coordinates are CSS pixels of a chart at its own width; it scales with its column. Styles come from classes.
class svg {
public:
    /// `id` is unique in the page. Screen readers read the title and the description.
    svg(double width, double height, std::string_view id, std::string_view title, std::string_view description);

    /// A picture that is a file of its own, with its own style sheet.
    [[nodiscard]] static svg alone(double width, double height, std::string_view title, std::string_view description,
                                   std::string_view style);

    void rect(double x, double y, double width, double height, std::string_view css);
    void line(double x1, double y1, double x2, double y2, std::string_view css);
    void circle(double x, double y, double radius, std::string_view css);
    void path(std::string_view commands, std::string_view css);
    void text(double x, double y, std::string_view words, std::string_view css, anchor at = anchor::start);

    /// Shapes drawn until close() have `tip` as their tooltip.
    void open(std::string_view tip);
    void close();

    [[nodiscard]] std::string str() const { return body_ + "</svg>"; }

private:
    explicit svg(std::string head) : body_(std::move(head)) {}

    std::string body_;
};

/// A coordinate with at most one decimal: pixels need no more, and a page with thousands of them stays small.
[[nodiscard]] std::string coordinate(double value);

}
