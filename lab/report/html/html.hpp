// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The report: one page that works without a network and without JavaScript, light, dark and printed.

#include <string>

#include "report/result/result.hpp"

namespace tenure::lab {

/// The words of a page that depend on the command that writes it.
struct page_words {
    std::string title = "Tenure bench";
    /// HTML: where the data of the page is.
    std::string data = "The same data is in <code>results.csv</code> and <code>results.json</code> beside this page.";
    std::string contents = {}; ///< HTML: items of the list of contents, before the experiments
    std::string sections = {}; ///< HTML: sections before the experiments
    std::string style = {};    ///< CSS
};

[[nodiscard]] std::string to_html(const result& found, const page_words& words = {});

}
