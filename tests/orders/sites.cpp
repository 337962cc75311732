// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "orders/sites.hpp"

#include <map>
#include <string_view>
#include <tuple>

namespace orders {

namespace {

using site_key = std::tuple<std::string_view, unsigned, unsigned, std::string_view, std::memory_order>;
std::map<site_key, site_entry> entries;
std::map<std::string, std::memory_order> weakened_now;

/// "handle_table::pop" of "unsigned tenure::handle_table::pop(entry_stack&)".
[[nodiscard]] std::string short_name(std::string_view whole) {
    whole = whole.substr(0, whole.find('('));
    if (const auto begin = whole.find_last_of(' '); begin != std::string_view::npos) whole.remove_prefix(begin + 1);
    const auto last = whole.rfind("::");
    const auto before = last == std::string_view::npos || last == 0 ? last : whole.rfind("::", last - 1);
    if (before != std::string_view::npos) whole.remove_prefix(before + 2);
    return std::string{whole};
}

void apply(site_entry& to) {
    const auto found = weakened_now.find(to.where);
    to.order = found != weakened_now.end() ? found->second : to.written;
}

[[nodiscard]] std::vector<std::memory_order> weaker(std::memory_order than, bool loads, bool stores) {
    switch (than) {
    case std::memory_order_seq_cst:
        if (loads && stores) return {std::memory_order_acq_rel};
        return {loads ? std::memory_order_acquire : std::memory_order_release};
    case std::memory_order_acq_rel: return {std::memory_order_acquire, std::memory_order_release};
    case std::memory_order_acquire:
    case std::memory_order_release: return {std::memory_order_relaxed};
    default: return {};
    }
}

}

const char* name_of(std::memory_order order) {
    switch (order) {
    case std::memory_order_acquire: return "acquire";
    case std::memory_order_release: return "release";
    case std::memory_order_acq_rel: return "acq_rel";
    case std::memory_order_seq_cst: return "seq_cst";
    default: return "relaxed";
    }
}

const site_entry& site_of(const std::source_location& from, const char* kind, std::memory_order order) {
    const site_key key{from.function_name(), from.line(), from.column(), kind, order};
    auto [found, is_new] = entries.try_emplace(key);
    site_entry& entry = found->second;
    if (is_new) {
        entry.name = short_name(from.function_name()) + ' ' + kind;
        // Padded, so that they sort by line.
        char at[64];
        std::snprintf(at, sizeof at, " %06u:%03u", static_cast<unsigned>(from.line()),
                      static_cast<unsigned>(from.column()));
        entry.where = entry.name + at;
        entry.written = order;
        apply(entry);
    }
    entry.is_used = true;
    return entry;
}

void weaken_sites(const std::vector<weakening>& all) {
    weakened_now.clear();
    for (const weakening& each : all) weakened_now[each.where] = each.to;
    for (auto& [key, entry] : entries) {
        entry.is_used = false;
        apply(entry);
    }
}

std::set<site> used_sites() {
    std::set<site> used;
    for (const auto& [key, entry] : entries) {
        if (entry.is_used) used.insert({entry.where, entry.written});
    }
    return used;
}

needs find_needs(const programs& all, const options& how) {
    needs answer;
    std::map<site, std::vector<void (*)(run&)>> users; // of a site
    for (void (*const program)(run&) : all) {
        const result strong = explore(program, how);
        answer.seconds += strong.seconds;
        for (const site& each : strong.sites) users[each].push_back(program);
        if (!strong.passed()) answer.needed.insert("a program fails in any case: " + strong.failure);
    }
    std::map<std::string, int> counts; // of a name, over its places
    for (const auto& [each, used_by] : users) {
        const std::string name = each.where.substr(0, each.where.find_last_of(' '));
        const int number = ++counts[name];
        const bool loads = !name.ends_with(" store");
        const bool stores = !name.ends_with(" load") && name.find(" failed ") == std::string::npos;
        for (const std::memory_order to : weaker(each.order, loads, stores)) {
            options weak = how;
            weak.weakened = {{each.where, to}};
            const std::string text = name + (number > 1 ? " " + std::to_string(number) : "") + ": " +
                                     name_of(each.order) + " -> " + name_of(to);
            bool is_needed = false;
            for (std::size_t index = 0; index < used_by.size() && !is_needed; ++index) {
                const result found = explore(used_by[index], weak);
                answer.executions += found.executions;
                answer.seconds += found.seconds;
                is_needed = !found.failure.empty();
                if (!is_needed && !found.is_exhaustive) answer.needed.insert(text + ": the search did not end");
            }
            (is_needed ? answer.needed : answer.unneeded).insert(text);
        }
    }
    return answer;
}

}
