// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/page_check.hpp"

#include <algorithm>
#include <set>
#include <sstream>

namespace tenure::lab {

namespace {

/// Values of an attribute, wherever it stands.
std::vector<std::string> values_of(std::string_view page, std::string_view attribute) {
    std::vector<std::string> values;
    const std::string opening = " " + std::string(attribute) + "=\"";
    for (std::size_t at = page.find(opening); at != std::string_view::npos; at = page.find(opening, at + 1)) {
        const std::size_t begin = at + opening.size();
        values.emplace_back(page.substr(begin, page.find('"', begin) - begin));
    }
    return values;
}

void check_tags(std::string_view page, std::vector<std::string>& faults) {
    static const std::set<std::string, std::less<>> empty_elements{"meta", "br", "link", "!DOCTYPE"};
    std::vector<std::string> open;
    for (std::size_t at = page.find('<'); at != std::string_view::npos; at = page.find('<', at + 1)) {
        const std::size_t end = page.find('>', at);
        if (end == std::string_view::npos) return faults.push_back("a tag without an end");
        std::string_view tag = page.substr(at + 1, end - at - 1);
        const bool alone = tag.ends_with('/');
        const bool closing = tag.starts_with('/');
        if (closing) tag.remove_prefix(1);
        const std::string name(tag.substr(0, tag.find_first_of(" /\n")));
        if (std::count(tag.begin(), tag.end(), '"') % 2 != 0) faults.push_back("quotes in <" + std::string(tag) + ">");
        if (closing) {
            if (open.empty() || open.back() != name) {
                return faults.push_back("</" + name + "> closes <" + (open.empty() ? "" : open.back()) + ">");
            }
            open.pop_back();
        } else if (!alone && !empty_elements.contains(name)) {
            open.push_back(name);
        }
        at = end;
    }
    for (const std::string& name : open) faults.push_back("<" + name + "> is never closed");
}

}

std::vector<std::string> faults_of(std::string_view page) {
    std::vector<std::string> faults;
    check_tags(page, faults);
    std::set<std::string> names;
    for (const std::string& name : values_of(page, "id")) {
        if (!names.insert(name).second) faults.push_back("two elements are called " + name);
    }
    for (const std::string& target : values_of(page, "href")) {
        if (!target.starts_with('#') || !names.contains(target.substr(1))) faults.push_back("a link to " + target);
    }
    for (const std::string& list : values_of(page, "aria-labelledby")) {
        std::istringstream words(list);
        for (std::string name; words >> name;) {
            if (!names.contains(name)) faults.push_back("a label by " + name);
        }
    }
    return faults;
}

std::size_t count_of(std::string_view text, std::string_view words) {
    std::size_t count = 0;
    for (std::size_t at = text.find(words); at != std::string_view::npos; at = text.find(words, at + 1)) ++count;
    return count;
}

}
