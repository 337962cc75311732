// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Reads the fields of a foreign JSON object and says which field has the wrong type.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tenure::lab {

/// Reads the fields of one object. Records the first error anywhere with its place and skips the rest. A field that is
/// missing leaves its target as it is.
class fields {
public:
    using json = nlohmann::json;

    fields(const json& object, std::string path, std::string& error);

    /// Strings are made printable.
    void read(const char* key, std::string& into);
    void read(const char* key, bool& into);
    void read(const char* key, double& into);
    void read_strings(const char* key, std::vector<std::string>& into);
    void read_rows(const char* key, std::vector<std::vector<std::string>>& into);
    void read_samples(const char* key, std::vector<double>& into);
    void read_integers(const char* key, std::vector<std::int64_t>& into); ///< null is no_number

    template<class Unsigned>
    void read_count(const char* key, Unsigned& into) {
        const json* value = find(key);
        if (value != nullptr) count_of(*value, place(key), into);
    }

    template<class Enum>
    void read_word(const char* key, std::span<const std::string_view> words, Enum& into) {
        const json* value = find(key);
        if (value != nullptr) word_of(*value, place(key), words, into);
    }

    /// Calls `each` with every item of a list and its place in the file.
    template<class Each>
    void read_list(const char* key, Each each) {
        const json* value = find(key);
        if (value == nullptr) return;
        if (!value->is_array()) return note(place(key), "a list");
        for (std::size_t index = 0; index < value->size() && error_.empty(); ++index) {
            each((*value)[index], fmt::format("{}[{}]", place(key), index));
        }
    }

    template<class T, class Make>
    void read_objects(const char* key, std::vector<T>& into, Make make) {
        read_list(key, [&](const json& item, const std::string& where) {
            into.push_back(make(fields(item, where, error_)));
        });
    }

    /// For items of lists. Each notes an error when the value has another type, and leaves `into` as it is.
    void text_of(const json& value, const std::string& where, std::string& into);
    void number_of(const json& value, const std::string& where, double& into); ///< null is NaN
    void integer_of(const json& value, const std::string& where, std::int64_t& into);

    template<class Unsigned>
    void count_of(const json& value, const std::string& where, Unsigned& into) {
        if (!value.is_number_unsigned() || value.get<std::uint64_t>() > std::numeric_limits<Unsigned>::max()) {
            return note(where, "a whole number that is not negative");
        }
        into = static_cast<Unsigned>(value.get<std::uint64_t>());
    }

    template<class Enum>
    void word_of(const json& value, const std::string& where, std::span<const std::string_view> words, Enum& into) {
        std::string text;
        text_of(value, where, text);
        if (!error_.empty()) return;
        const auto found = std::find(words.begin(), words.end(), text);
        if (found == words.end()) return note(where, fmt::format("one of {}", fmt::join(words, ", ")));
        into = static_cast<Enum>(found - words.begin());
    }

    /// The field, or nullptr when it is missing or an error has been recorded.
    [[nodiscard]] const json* find(const char* key) const;
    [[nodiscard]] fields inner(const char* key);
    [[nodiscard]] fields at(const json& object, std::string where) { return {object, std::move(where), error_}; }
    [[nodiscard]] std::string place(std::string_view key) const;
    [[nodiscard]] bool ok() const { return error_.empty(); }

    /// Records "WHERE: expected EXPECTED", unless an earlier error is recorded.
    void note(std::string_view where, std::string_view expected);

private:
    const json& object_;
    std::string path_;
    std::string& error_;
};

}
