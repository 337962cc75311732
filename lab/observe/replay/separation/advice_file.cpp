// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/replay/separation/advice_file.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "report/letters.hpp"
#include "report/read_file.hpp"

namespace tenure::lab {

namespace {

constexpr std::string_view first_line = "tenure-advice 1";
constexpr std::size_t max_quoted = 60;

bool is_hex(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_name(std::string_view text) {
    const auto fits = [](char each) {
        return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || (each >= '0' && each <= '9') ||
               each == '-' || each == ' ';
    };
    return !text.empty() && text.size() <= max_class_name && std::all_of(text.begin(), text.end(), fits);
}

template<class Number>
std::optional<Number> number_in(std::string_view text, int base = 10) {
    Number found = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), found, base);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return found;
}

/// A word of a line as an error message shows it.
std::string quoted(std::string_view word) {
    return word.size() > max_quoted ? printable(word.substr(0, max_quoted)) + "…" : printable(word);
}

class advice_reader {
public:
    read_advice read(std::string_view text) {
        if (text.size() > max_advice_bytes) {
            made_.error = fmt::format("it has {} bytes; at most {} are read", text.size(), max_advice_bytes);
            return std::move(made_);
        }
        for (std::size_t number = 1; !text.empty() && made_.ok(); ++number) {
            const std::size_t end = std::min(text.find('\n'), text.size());
            std::string wrong = why_no_line(text, end);
            if (wrong.empty()) wrong = read_line(text.substr(0, end));
            if (!wrong.empty()) made_.error = fmt::format("line {}: {}", number, wrong);
            text.remove_prefix(std::min(end + 1, text.size()));
        }
        if (made_.ok() && !has_first_) made_.error = "it is empty";
        return std::move(made_);
    }

private:
    static std::string why_no_line(std::string_view text, std::size_t end) {
        if (text.substr(0, end).ends_with('\r')) return "lines end with CR LF: save the file with line feeds alone";
        if (end > max_advice_line) return fmt::format("it has {} bytes; at most {} are read", end, max_advice_line);
        if (end == text.size()) return "it is cut off: the last line ends without a line feed";
        return {};
    }

    std::string read_line(std::string_view line) {
        if (!has_first_) {
            if (line == first_line) {
                has_first_ = true;
                return {};
            }
            if (line.starts_with("tenure-advice "))
                return fmt::format("version {} of the format is not known; this one reads version 1",
                                   quoted(line.substr(line.find(' ') + 1)));
            return fmt::format("an advice file begins with \"{}\"", first_line);
        }
        if (line.empty() || line.starts_with('#')) return {};
        const std::string_view kind = word_of(line);
        if (kind == "object") return read_object(line);
        if (kind == "class") return read_class(line);
        if (kind == "site") return read_site(line);
        return fmt::format("\"{}\" is not a record: expected object, class, site or a comment", quoted(kind));
    }

    /// Takes the first word, and the space behind it, from the line.
    static std::string_view word_of(std::string_view& line) {
        const std::size_t end = std::min(line.find(' '), line.size());
        const std::string_view word = line.substr(0, end);
        line.remove_prefix(std::min(end + 1, line.size()));
        return word;
    }

    std::string read_object(std::string_view line) {
        const std::string_view index = word_of(line), build_id = word_of(line);
        std::vector<advice_object>& objects = made_.advised.objects;
        if (number_in<std::size_t>(index) != objects.size())
            return fmt::format("object {} is out of order: objects are numbered from 0, and the next is {}",
                               quoted(index), objects.size());
        if (objects.size() == max_advice_objects) return fmt::format("more than {} objects", max_advice_objects);
        if (build_id != "-" && (!is_hex(build_id) || build_id.size() % 2 != 0))
            return fmt::format("\"{}\" is not a build ID: bytes in lowercase hex digits, or - if it is not known",
                               quoted(build_id));
        if (build_id.size() > max_build_id_digits)
            return fmt::format("a build ID has at most {} digits", max_build_id_digits);
        if (line.empty()) return fmt::format("object {} has no path", quoted(index));
        if (line.size() > max_object_path)
            return fmt::format("the path has {} bytes; at most {} are read", line.size(), max_object_path);
        objects.push_back({build_id == "-" ? std::string{} : std::string(build_id), std::string(line)});
        return {};
    }

    std::string read_class(std::string_view line) {
        const std::string_view number = word_of(line);
        const std::optional<unsigned> value = number_in<unsigned>(number);
        if (!value || *value < 1 || *value > max_separated_classes)
            return fmt::format("class {} is out of range: classes have the numbers 1 to {}", quoted(number),
                               max_separated_classes);
        if (has_class(*value)) return fmt::format("class {} is defined twice", *value);
        if (!is_name(line))
            return fmt::format("\"{}\" is not a class name: letters, digits, - and spaces, at most {}", quoted(line),
                               max_class_name);
        made_.advised.classes.push_back({static_cast<std::uint8_t>(*value), std::string(line)});
        return {};
    }

    [[nodiscard]] bool has_class(unsigned number) const {
        return std::any_of(made_.advised.classes.begin(), made_.advised.classes.end(),
                           [&](const advice_class& each) { return each.number == number; });
    }

    std::string read_site(std::string_view line) {
        const std::string_view number = word_of(line);
        const std::optional<unsigned> value = number_in<unsigned>(number);
        if (!value || (*value != ordinary_class && !has_class(*value)))
            return fmt::format("class {} was not defined before this site", quoted(number));
        if (made_.advised.sites.size() == max_advice_sites) return fmt::format("more than {} sites", max_advice_sites);
        advice_site made;
        made.number = static_cast<std::uint8_t>(*value);
        while (!line.empty()) {
            const std::string_view word = word_of(line);
            const std::size_t plus = word.find('+');
            const std::string_view object = word.substr(0, plus);
            const std::string_view offset = plus == std::string_view::npos ? "" : word.substr(plus + 1);
            const auto index = number_in<std::uint32_t>(object);
            const auto place = number_in<std::uint64_t>(offset, 16);
            if (!index || !place || !is_hex(offset))
                return fmt::format("\"{}\" is not a frame: OBJECT+OFFSET, with the offset in lowercase hex digits",
                                   quoted(word));
            if (*index >= made_.advised.objects.size())
                return fmt::format("object {} was not defined before this site", *index);
            if (made.frames.size() == max_site_frames)
                return fmt::format("a site has at most {} frames", max_site_frames);
            made.frames.push_back({*index, *place});
        }
        if (made.frames.empty()) return "a site has at least one frame";
        std::vector<std::pair<std::uint32_t, std::uint64_t>> frames;
        for (const advice_frame& each : made.frames) frames.emplace_back(each.object, each.offset);
        if (!known_.insert(std::move(frames)).second) return "a site with the same frames is defined twice";
        made_.advised.sites.push_back(std::move(made));
        return {};
    }

    read_advice made_;
    std::set<std::vector<std::pair<std::uint32_t, std::uint64_t>>> known_; // frames of the sites
    bool has_first_ = false;
};

}

std::string to_advice_text(const separation& advised, std::string_view remark) {
    std::string text = fmt::format("{}\n", first_line);
    while (!remark.empty()) {
        const std::size_t end = std::min(remark.find('\n'), remark.size());
        text += fmt::format("# {}\n", remark.substr(0, std::min(end, max_advice_line - 2)));
        remark.remove_prefix(std::min(end + 1, remark.size()));
    }
    for (std::size_t i = 0; i < advised.objects.size(); ++i) {
        const advice_object& each = advised.objects[i];
        text += fmt::format("object {} {} {}\n", i, each.build_id.empty() ? "-" : each.build_id, each.path);
    }
    for (const advice_class& each : advised.classes) text += fmt::format("class {} {}\n", each.number, each.name);
    for (const advice_site& each : advised.sites) {
        text += fmt::format("site {}", each.number);
        for (const advice_frame& frame : each.frames) text += fmt::format(" {}+{:x}", frame.object, frame.offset);
        text += '\n';
    }
    return text;
}

read_advice parse_advice(std::string_view text) { return advice_reader().read(text); }

read_advice load_advice(const std::string& path) {
    const file_text file = read_file(path, max_advice_bytes);
    read_advice found;
    if (!file.ok()) {
        found.error = path + " " + file.error;
        return found;
    }
    found = parse_advice(file.text);
    if (!found.ok()) found.error = fmt::format("{} is not a valid advice file: {}", path, found.error);
    return found;
}

}
