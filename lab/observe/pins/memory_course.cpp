// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/pins/memory_course.hpp"

#include <algorithm>
#include <utility>

namespace tenure::lab {

memory_moment moment_of(const saved_profile& saved, const std::string& file) {
    return {file,
            saved.header.saved_ms,
            saved.header.started_ms,
            saved.header.written_at,
            parts_of(saved),
            saved.malloc_file,
            {}};
}

std::uint64_t memory_course::age_ms(const memory_moment& of) const {
    return of.saved_ms - std::min(of.saved_ms, moments.front().started_ms);
}

void add(memory_course& to, memory_moment moment) {
    const auto place = std::upper_bound(to.moments.begin(), to.moments.end(), moment.saved_ms,
                                        [](std::uint64_t at, const memory_moment& each) { return at < each.saved_ms; });
    to.moments.insert(place, std::move(moment));
}

bool has_map(std::size_t index, std::size_t count, std::size_t most) {
    if (count <= most) return true;
    // The places 0, 1, …, most - 1 are spread over 0, …, count - 1.
    const std::size_t place = (index * (most - 1) + (count - 1) / 2) / (count - 1);
    return (place * (count - 1) + (most - 1) / 2) / (most - 1) == index;
}

}
