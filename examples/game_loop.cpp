// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A game loop over most parts: levels that own their memory, scratch memory of a frame, results of jobs.

#include <cstdio>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tenure/adapt/unique.hpp>
#include <tenure/arena/arena.hpp>
#include <tenure/lifetime/lifetime.hpp>
#include <tenure/pool/pool.hpp>

namespace {

struct vertex {
    float x, y, z;
};
struct monster {
    int health;
    std::string name;
};

/// Owners move, so a level can live in a vector. Objects stay where they are.
struct level {
    tenure::pool<monster> monsters;
    tenure::arena geometry;
    std::span<vertex> vertices;
};

level load_level(int monsters) {
    level loaded;
    loaded.vertices = loaded.geometry.allocate<vertex>(1000); // not initialised; freed with the arena
    for (int index = 0; index < monsters; ++index)
        if (loaded.monsters.construct(3 * index, "orc") == nullptr) break;
    return loaded;
}

/// One frame. Memory of Temp ends with the scope; memory of TempJob lives for a few frames and may change threads.
std::size_t run_frame(level& in) {
    const tenure::temp_scope scope;
    const std::span<float> distances = scope.allocate<float>(in.vertices.size());    // uninitialised
    const std::span<int> hits = tenure::make_array<int>(64, tenure::lifetime::temp); // zeros
    if (distances.empty() || hits.empty()) return 0;                                 // out of memory

    auto* const found = tenure::make<monster>(tenure::lifetime::temp_job, 1, "found by a job");
    const auto noise = tenure::make_unique_in<float[]>(tenure::temp_job{}, 256); // frees itself
    if (found == nullptr || noise == nullptr) return 0;
    tenure::destroy(found, tenure::lifetime::temp_job);

    std::size_t alive = 0;
    for (monster& each : in.monsters) {
        if (--each.health <= 0) {
            in.monsters.destroy(&each); // a loop may destroy the object that it is at
        } else {
            ++alive;
        }
    }
    return alive;
}

}

int main() {
    std::vector<level> levels;
    levels.push_back(load_level(10));
    levels.push_back(load_level(100));
    std::size_t alive = 0;
    for (int frame = 0; frame < 5; ++frame) {
        alive = 0;
        for (level& each : levels) alive += run_frame(each);
        tenure::next_frame(); // once per frame, on one thread
    }
    std::printf("alive: %zu\n", alive);
    return alive == 106 ? 0 : 1;
}
