// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The name of a type as the compiler writes it; the proof shows it for an inlined contestant.

#include <string_view>

namespace tenure::lab {

template<class T>
constexpr std::string_view type_name() {
    constexpr std::string_view whole = __PRETTY_FUNCTION__; // "… type_name() [with T = NAME; …" or "… [T = NAME]"
    constexpr std::string_view mark = "T = ";
    constexpr std::size_t begin = whole.find(mark) + mark.size();
    constexpr std::size_t semicolon = whole.find(';', begin);
    constexpr std::size_t end = semicolon == std::string_view::npos ? whole.rfind(']') : semicolon;
    return whole.substr(begin, end - begin);
}

static_assert(type_name<int>() == "int");

}
