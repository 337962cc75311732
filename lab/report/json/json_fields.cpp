// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/json/json_fields.hpp"

#include "report/letters.hpp"
#include "report/result/result.hpp"

namespace tenure::lab {

fields::fields(const json& object, std::string path, std::string& error)
    : object_(object), path_(std::move(path)), error_(error) {
    if (!object_.is_object()) note(path_, "an object");
}

void fields::read(const char* key, std::string& into) {
    const json* value = find(key);
    if (value != nullptr) text_of(*value, place(key), into);
}

void fields::read(const char* key, bool& into) {
    const json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_boolean()) return note(place(key), "true or false");
    into = value->get<bool>();
}

void fields::read_strings(const char* key, std::vector<std::string>& into) {
    read_list(key, [&](const json& item, const std::string& where) { text_of(item, where, into.emplace_back()); });
}

void fields::read_rows(const char* key, std::vector<std::vector<std::string>>& into) {
    read_list(key, [&](const json& row, const std::string& where) {
        if (!row.is_array()) return note(where, "a list of strings");
        into.emplace_back();
        for (const json& item : row) text_of(item, where, into.back().emplace_back());
    });
}

void fields::read(const char* key, double& into) {
    const json* value = find(key);
    if (value != nullptr) number_of(*value, place(key), into);
}

void fields::read_samples(const char* key, std::vector<double>& into) {
    read_list(key, [&](const json& item, const std::string& where) { number_of(item, where, into.emplace_back()); });
}

void fields::read_integers(const char* key, std::vector<std::int64_t>& into) {
    read_list(key, [&](const json& item, const std::string& where) {
        into.push_back(no_number);
        if (!item.is_null()) integer_of(item, where, into.back());
    });
}

void fields::text_of(const json& value, const std::string& where, std::string& into) {
    if (!value.is_string()) return note(where, "a string");
    into = printable(value.get_ref<const std::string&>());
}

void fields::number_of(const json& value, const std::string& where, double& into) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (value.is_number()) {
        into = value.get<double>();
    } else if (value.is_null()) {
        into = std::numeric_limits<double>::quiet_NaN();
    } else if (value == "inf" || value == "-inf") {
        into = value == "inf" ? infinity : -infinity;
    } else {
        note(where, "a number or null");
    }
}

void fields::integer_of(const json& value, const std::string& where, std::int64_t& into) {
    constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const bool fits = value.is_number_unsigned() ? value.get<std::uint64_t>() <= largest : value.is_number_integer();
    if (!fits) return note(where, "a whole number of at most 63 bits");
    into = value.get<std::int64_t>();
}

const fields::json* fields::find(const char* key) const {
    if (!error_.empty()) return nullptr;
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
}

fields fields::inner(const char* key) {
    static const json empty = json::object();
    const json* value = find(key);
    return {value == nullptr ? empty : *value, place(key), error_};
}

std::string fields::place(std::string_view key) const {
    if (key.empty()) return path_;
    return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

void fields::note(std::string_view where, std::string_view expected) {
    if (!error_.empty()) return;
    error_ = fmt::format("{}: expected {}", where.empty() ? "the whole file" : where, expected);
}

}
