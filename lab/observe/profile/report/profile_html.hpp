// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A heap profile as one page without scripts or network access: flame graphs of what is live, was live at the peak and
/// was allocated, and the tables.

#include <string>
#include <string_view>

#include "observe/profile/named_profile.hpp"

namespace tenure::lab {

[[nodiscard]] std::string to_html(const named_profile& profile);

/// The begin of a page, up to the opened body; `rules` are added to the style sheet of all pages.
[[nodiscard]] std::string html_head(const std::string& title, std::string_view rules);
/// The functions of a stack, the innermost first, each in an element of its own.
[[nodiscard]] std::string where_html(const profile_stack& stack);

/// The picture alone: the outermost function is on top, and the width of each is its share of the bytes. Parts of less
/// than 0.1 % are left out.
[[nodiscard]] std::string flame_svg(const named_profile& profile, profile_value value, const std::string& id);

}
