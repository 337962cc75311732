// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/symbols/short_names.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

namespace tenure::lab {

namespace {

bool is_part_of_name(char each) {
    return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || (each >= '0' && each <= '9') ||
           each == '_' || each == ':';
}

/// Whether a standard template's last argument is its default. `first`: the first argument.
bool is_default(std::string_view argument, std::string_view first) {
    if (argument.starts_with("std::allocator<")) return true;
    constexpr std::array<std::string_view, 5> of_first{"std::char_traits", "std::less", "std::equal_to", "std::hash",
                                                       "std::default_delete"};
    return std::any_of(of_first.begin(), of_first.end(),
                       [&](std::string_view each) { return argument == fmt::format("{}<{}>", each, first); });
}

/// Reads a name once, from its begin to its end.
class name_shortener {
public:
    explicit name_shortener(std::string_view name) : rest_(name) {}

    /// Returns   an empty text if the name is not valid.
    [[nodiscard]] std::string read_all() {
        std::string made = read({});
        return is_valid_ && rest_.empty() ? made : std::string();
    }

private:
    /// Reads up to one of `stops` outside of brackets, or the end.
    std::string read(std::string_view stops) {
        constexpr std::size_t most_nested = 100;
        if (++depth_ > most_nested) is_valid_ = false;
        std::string made;
        while (is_valid_ && !rest_.empty() && stops.find(rest_.front()) == std::string_view::npos) {
            if (is_operator(made)) {
                take_operator(made);
            } else if (rest_.front() == '<') {
                add_arguments(made);
            } else if (rest_.front() == '(' || rest_.front() == '{' || rest_.front() == '[') {
                const char end = rest_.front() == '(' ? ')' : rest_.front() == '{' ? '}' : ']';
                made += take();
                made += read({&end, 1});
                if (rest_.empty()) is_valid_ = false;
                if (is_valid_) made += take();
            } else {
                made += take();
            }
        }
        --depth_;
        return made;
    }

    char take() {
        const char first = rest_.front();
        rest_.remove_prefix(1);
        return first;
    }

    [[nodiscard]] bool is_operator(std::string_view before) const {
        constexpr std::string_view word = "operator";
        return rest_.starts_with(word) && (before.empty() || !is_part_of_name(before.back()) || before.back() == ':') &&
               rest_.size() > word.size() && std::string_view("<>-").find(rest_[word.size()]) != std::string_view::npos;
    }
    /// operator<, operator<<=, operator->: its angle brackets are none.
    void take_operator(std::string& made) {
        for (std::size_t letter = 0; letter < std::string_view("operator").size(); ++letter) made += take();
        while (!rest_.empty() && std::string_view("<>-=*").find(rest_.front()) != std::string_view::npos)
            made += take();
    }

    /// Reads a template's arguments, whose name is at the end of `made`.
    void add_arguments(std::string& made) {
        std::vector<std::string> arguments;
        do {
            rest_.remove_prefix(1); // '<' or ','
            std::string each = read(",>");
            each.erase(0, std::min(each.find_first_not_of(' '), each.size()));
            each.erase(each.find_last_not_of(' ') + 1);
            arguments.push_back(std::move(each));
        } while (is_valid_ && !rest_.empty() && rest_.front() == ',');
        if (rest_.empty()) is_valid_ = false;
        if (!is_valid_) return;
        rest_.remove_prefix(1);
        std::size_t begin = made.size();
        while (begin > 0 && is_part_of_name(made[begin - 1])) --begin;
        const std::string name = made.substr(begin);
        constexpr std::string_view basic = "std::basic_";
        if (name.starts_with("std::"))
            while (arguments.size() > 1 && is_default(arguments.back(), arguments.front())) arguments.pop_back();
        if (name.starts_with(basic) && arguments.size() == 1 && arguments.front() == "char") {
            made.replace(begin, basic.size(), "std::");
            return;
        }
        made += fmt::format("<{}>", fmt::join(arguments, ", "));
    }

    std::string_view rest_;
    std::size_t depth_ = 0;
    bool is_valid_ = true;
};

}

std::string with_short_names(std::string_view function) {
    std::string plain(function);
    for (const std::string_view each : {"__cxx11::", "__1::"}) { // versions in namespaces of the C++ libraries
        const std::string versioned = fmt::format("std::{}", each);
        for (std::size_t at = 0; (at = plain.find(versioned, at)) != std::string::npos;)
            plain.erase(at + std::string_view("std::").size(), each.size());
    }
    std::string made = name_shortener(plain).read_all();
    return made.empty() ? std::string(function) : made;
}

}
