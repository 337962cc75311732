// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Shortens names of functions for people.

#include <string>
#include <string_view>

namespace tenure::lab {

/// Leaves out what a demangled name says of the standard library's defaults: "std::vector<std::string>::push_back" for
/// "std::vector<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, std::allocator<...>
/// >::push_back". Allocators are left out that are std::allocator, whatever their type is.
/// Returns   the name as it is if its brackets do not match, or are nested more than 100 times.
[[nodiscard]] std::string with_short_names(std::string_view function);

}
