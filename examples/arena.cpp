// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Objects that are freed together: copies of lines are freed line by line, the result stays until the arena is cleared.

#include <cstdio>
#include <cstring>
#include <iterator>
#include <string_view>

#include <tenure/arena/arena.hpp>

namespace {

/// Returns a copy that is valid as long as the arena's contents; empty when out of memory.
std::string_view copy_into(tenure::arena& memory, std::string_view text) {
    auto* const copy = static_cast<char*>(memory.allocate(text.size(), 1)); // alignment 1: no padding between copies
    if (copy == nullptr) return {};
    std::memcpy(copy, text.data(), text.size());
    return {copy, text.size()};
}

/// Returns a copy of the longest line in `memory`. Frees the search's scratch memory before it returns.
std::string_view longest_of(tenure::arena& memory, const std::string_view* lines, std::size_t count) {
    std::string_view longest;
    for (std::size_t index = 0; index < count; ++index) {
        const tenure::arena::marker start = memory.mark();
        const std::string_view line = copy_into(memory, lines[index]);
        if (line.size() > longest.size()) longest = lines[index];
        memory.rewind(start); // frees everything allocated since mark()
    }
    return copy_into(memory, longest);
}

}

int main() {
    constexpr std::string_view lines[] = {"one", "two words", "three"};

    tenure::arena level; // acquires no memory until the first allocation
    const std::string_view longest = longest_of(level, lines, std::size(lines));
    std::printf("longest: %.*s, %zu bytes in use\n", static_cast<int>(longest.size()), longest.data(),
                level.stats().live_bytes);

    for (int round = 0; round < 3; ++round) {
        for (int node = 0; node < 100'000; ++node) {
            if (level.allocate(32) == nullptr) return 1;
        }
        level.clear(); // frees all blocks, keeps the chunks for the next round
    }
    const std::size_t kept = level.stats().reserved_bytes;
    const std::size_t given_back = level.trim(); // returns the chunks to the source
    std::printf("clear kept the chunks, trim returned all: %s\n", kept != 0 && kept == given_back ? "yes" : "no");
    return kept == given_back ? 0 : 1;
}
