// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Option values by name, and the contestants of an experiment in one list.

#include "bench/harness/experiment.hpp"

#include <cstdio>
#include <cstdlib>

namespace tenure::lab {

namespace {

[[noreturn]] void unknown_option(std::string_view name) {
    std::fprintf(stderr, "tenure: an experiment used the option '%.*s', which it does not declare\n",
                 static_cast<int>(name.size()), name.data());
    std::abort();
}

}

parameters::parameters(std::span<const option_spec> options, bool full) {
    if (options.size() > entries_.size()) unknown_option(options[entries_.size()].name);
    for (const option_spec& option : options) {
        entries_[count_++] = {option.name, full ? option.full_value : option.value};
    }
}

std::size_t parameters::find(std::string_view name) const {
    for (std::size_t i = 0; i < count_; ++i) {
        if (entries_[i].name == name) return i;
    }
    unknown_option(name);
}

void parameters::set(std::string_view name, std::int64_t value) { entries_[find(name)].value = value; }

std::int64_t parameters::operator[](std::string_view name) const { return entries_[find(name)].value; }

std::uint64_t experiment::default_parts(const parameters& given) const {
    const std::uint64_t all = (std::uint64_t{1} << parts.size()) - 1;
    if (input == nullptr) return all;
    return given.has_input() ? input->parts : all & ~input->parts;
}

std::vector<contestant> experiment::contestants() const {
    std::vector<contestant> all;
    for (contestant_source source : sources) {
        const std::span<const contestant> some = source();
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

}
