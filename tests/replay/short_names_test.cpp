// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/symbols/short_names.hpp"

#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace {

using tenure::lab::with_short_names;

TEST(short_names, leave_out_the_defaults_of_standard_types) {
    const std::string text = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >";
    const std::pair<std::string, std::string> all[] = {
        {text, "std::string"},
        {"std::vector<" + text + ", std::allocator<" + text + " > >::push_back(" + text + " const&)",
         "std::vector<std::string>::push_back(std::string const&)"},
        {"std::map<int, long, std::less<int>, std::allocator<std::pair<int const, long> > >::operator[](int&&)",
         "std::map<int, long>::operator[](int&&)"},
        {"std::unordered_map<int, int, std::hash<int>, std::equal_to<int>, std::allocator<std::pair<int const, int> > "
         ">::find(int const&)",
         "std::unordered_map<int, int>::find(int const&)"},
        {"std::unique_ptr<node, std::default_delete<node> >::~unique_ptr()", "std::unique_ptr<node>::~unique_ptr()"},
        {"std::basic_string_view<char, std::char_traits<char> >::size() const", "std::string_view::size() const"},
        {"std::__1::vector<int, std::__1::allocator<int>>::reserve(unsigned long)",
         "std::vector<int>::reserve(unsigned long)"},
        {"run(std::function<void (int, std::vector<int, std::allocator<int> >)>)",
         "run(std::function<void (int, std::vector<int>)>)"},
    };
    for (const auto& [name, expected] : all) EXPECT_EQ(with_short_names(name), expected);
}

TEST(short_names, keep_what_is_no_default) {
    for (const std::string name :
         {"std::vector<int, arena_allocator<int>>::reserve(unsigned long)", "std::set<int, std::greater<int>>::clear()",
          "std::map<int, long, std::less<void>>::clear()", "my::vector<int, std::allocator<int>>::clear()",
          "std::allocator<char>::allocate(unsigned long)", "std::basic_string<char16_t>::resize(unsigned long)",
          "main::{lambda(int, char)#1}::operator()(int, char) const"})
        EXPECT_EQ(with_short_names(name), name);
}

TEST(short_names, operators_are_no_brackets) {
    for (const std::string name :
         {"operator<(point, point)", "operator<<(std::ostream&, point)", "operator>>(int, int)", "list::operator->()",
          "operator<=>(a, b)", "my_operator<int>(int)"})
        EXPECT_EQ(with_short_names(name), name);
    EXPECT_EQ(with_short_names("operator<< <std::char_traits<char> >(std::vector<int, std::allocator<int> >&)"),
              "operator<< <std::char_traits<char>>(std::vector<int>&)");
}

TEST(short_names, names_that_do_not_match_stay) {
    const std::string nested = std::string(10'000, '<');
    for (const std::string& name :
         {std::string("a<b"), std::string("a)b>"), std::string("f("), std::string(), nested, "0x12 in ?? (" + nested})
        EXPECT_EQ(with_short_names(name), name);
}

}
