// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Memory that stays until somebody frees it: single objects, arrays that grow, and a heap of a subsystem's own.

#include <cstdio>
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
    // Objects and arrays on the process heap: null, and no exception, when memory is refused.
    tenure::unique<settings> const chosen{tenure::make<settings>(3)};
    auto* const heights = tenure::make_array<float>(1'000'000); // zero, and not touched before you write
    if (chosen == nullptr || heights == nullptr) return 1;
    tenure::destroy_array(heights, 1'000'000);

    // A heap of a level's own, with a limit: measured, walked, and dropped as a whole.
    tenure::heap level({.name = "level", .limit_bytes = std::size_t{512} << 20});
    {
        std::vector<int, tenure::stl_allocator<int, tenure::heap>> scores(
            tenure::stl_allocator<int, tenure::heap>{level});
        for (int score = 0; score < 100'000; ++score) scores.push_back(score);
        std::printf("blocks while the vector lives: %zu\n", level.stats().live_count);
    }
    void* text = level.allocate(100);
    text = level.reallocate(text, 5000); // keeps the contents; null, and the old block as it was, when refused
    std::printf("owns its block: %s, a local: %s\n", level.owns(text) ? "yes" : "no",
                level.owns(&level) ? "yes" : "no");
    level.walk([](void*, std::size_t bytes) {
        std::printf("still in use: a block of %zu bytes or more\n", bytes / 4096 * 4096);
    });

    level.clear(); // everything is free; memory is kept for the next level
    level.trim();  // and now it is the system's again
    tenure::write_usage(
        level.usage(), tenure::usage_form::json,
        [](void*, std::string_view piece) { std::printf("%.*s", static_cast<int>(piece.size()), piece.data()); },
        nullptr);
    return level.stats().live_count == 0 ? 0 : 1;
}
