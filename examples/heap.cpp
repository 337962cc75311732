// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Memory that stays allocated until it is freed: single objects, growing arrays, and a separate heap for a subsystem.

#include <cstdio>
#include <span>
#include <string_view>
#include <vector>

#include <tenure/adapt/stl_allocator.hpp>
#include <tenure/adapt/unique.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/heap/make.hpp>

namespace {

struct settings {
    explicit settings(int wanted) : quality(wanted) {}
    int quality;
    float gamma = 2.2f;
};

}

int main() {
    // Objects and arrays on the process heap. Out of memory returns nullptr and throws nothing.
    const tenure::unique<settings> chosen{tenure::make<settings>(3)};
    // Zeroed; its pages are untouched until you write to them.
    const std::span<float> heights = tenure::make_array<float>(1'000'000);
    if (chosen == nullptr || heights.empty()) return 1;
    tenure::destroy_array(heights);

    // A separate heap for a level, with a limit. It can be measured, enumerated and cleared as a whole.
    tenure::heap level({.name = "level", .limit_bytes = std::size_t{512} << 20});
    {
        std::vector<int, tenure::stl_allocator<int, tenure::heap>> scores(
            tenure::stl_allocator<int, tenure::heap>{level});
        for (int score = 0; score < 100'000; ++score) scores.push_back(score);
        std::printf("blocks while the vector lives: %zu\n", level.stats().live_count);
    }
    void* text = level.allocate(100);
    text = level.reallocate(text, 5000); // keeps the contents; on failure returns nullptr and keeps the old block
    std::printf("owns its block: %s, a local: %s\n", level.owns(text) ? "yes" : "no",
                level.owns(&level) ? "yes" : "no");
    level.walk([](void*, std::size_t bytes) {
        std::printf("still in use: a block of %zu bytes or more\n", bytes / 4096 * 4096);
    });

    level.clear(); // frees all blocks and retains the memory for the next level
    level.trim();  // returns the memory to the system
    tenure::write_usage(
        level.usage(), tenure::usage_form::json,
        [](void*, std::string_view piece) { std::printf("%.*s", static_cast<int>(piece.size()), piece.data()); },
        nullptr);
    return level.stats().live_count == 0 ? 0 : 1;
}
