// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What text and JSON say in the same words about call sites with pages of their own, and the names of their classes.

#include <string>
#include <string_view>
#include <vector>

#include "observe/replay/report/advice_words.hpp"
#include "observe/replay/separation/separation_search.hpp"

namespace tenure::lab {

/// Names each class for the function of its largest site. No two have the same name, because a name is an owner tag.
void name_classes(separation_report& of, const place_names& names);

/// The frames of a site that decide, innermost first. Frames without a name are left out, unless none has one.
[[nodiscard]] std::vector<std::string> frames_in_words(const separated_site& site, const place_names& names);

/// "+0.4 %"
[[nodiscard]] std::string change_in_words(double before, double after);

/// What was measured, and what a replay cannot know, in sentences.
[[nodiscard]] std::vector<std::string> notes_in_words(const separation_report& of);

/// The comment at the head of the advice file.
[[nodiscard]] std::string remark_for(const separation_report& of, std::string_view program);

}
