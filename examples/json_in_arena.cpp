// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A JSON document over std::pmr whose values are all in one arena: nothing is freed one by one, and clearing the arena
// ends the document. Libraries with pmr support (Boost.JSON's storage, for example) take the resource in the same way.

#include <cstdio>
#include <memory_resource>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tenure/adapt/resource_adaptor.hpp>
#include <tenure/arena/arena.hpp>

namespace {

struct value {
    using list = std::pmr::vector<value>;
    std::variant<double, std::pmr::string, list> held;
};

/// Numbers, strings without escapes, and arrays: enough to show where the memory comes from.
class parser {
public:
    parser(std::string_view text, std::pmr::memory_resource& memory) : left_(text), memory_(memory) {}

    [[nodiscard]] value parse() {
        skip();
        if (take('[')) {
            value::list items(&memory_);
            while (!take(']') && !left_.empty()) {
                items.push_back(parse());
                skip();
                take(',');
                skip();
            }
            return {std::move(items)};
        }
        if (take('"')) {
            const std::size_t end = left_.find('"');
            std::pmr::string text(left_.substr(0, end), &memory_);
            left_.remove_prefix(end == left_.npos ? left_.size() : end + 1);
            return {std::move(text)};
        }
        std::size_t used = 0;
        while (used < left_.size() && left_[used] != ',' && left_[used] != ']' && left_[used] != ' ') ++used;
        const std::pmr::string digits(left_.substr(0, used), &memory_);
        left_.remove_prefix(used);
        return {std::strtod(digits.c_str(), nullptr)};
    }

private:
    void skip() {
        while (!left_.empty() && left_.front() == ' ') left_.remove_prefix(1);
    }
    bool take(char letter) {
        if (left_.empty() || left_.front() != letter) return false;
        left_.remove_prefix(1);
        return true;
    }

    std::string_view left_;
    std::pmr::memory_resource& memory_;
};

double sum(const value& of) {
    if (const double* const number = std::get_if<double>(&of.held)) return *number;
    double total = 0;
    if (const auto* const items = std::get_if<value::list>(&of.held))
        for (const value& each : *items) total += sum(each);
    return total;
}

}

int main() {
    tenure::arena memory;
    tenure::resource_adaptor resource(memory);
    double total = 0;
    for (int document = 0; document < 3; ++document) {
        {
            const value root =
                parser(R"([1, 2.5, "a text that is too long for a short string", [3, [4]]])", resource).parse();
            total += sum(root);
        }
        memory.clear(); // the next document reuses the same pages
    }
    std::printf("sum: %.1f, in %zu bytes\n", total, memory.stats().reserved_bytes);
    return total == 31.5 ? 0 : 1;
}
