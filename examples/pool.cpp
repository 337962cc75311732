// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Objects of one type: construct and destroy in any order, enumerate, clear, and return memory to the system.

#include <cstdio>
#include <vector>

#include <tenure/pool/pool.hpp>

namespace {

struct monster {
    explicit monster(int start) : health(start) {}
    int health;
    float position[3]{};
};

}

int main() {
    tenure::pool<monster> monsters;
    std::vector<monster*> met;
    for (int index = 0; index < 100'000; ++index) {
        monster* const made = monsters.construct(index % 100);
        if (made == nullptr) return 1; // out of memory; the pool is unchanged
        met.push_back(made);
    }
    for (std::size_t index = 0; index < met.size(); index += 2) monsters.destroy(met[index]); // any order

    // Visits live objects in address order. A visit may destroy its object.
    monsters.for_each([&](monster& each) {
        if (each.health < 50) monsters.destroy(&each);
    });
    std::printf("alive: %zu, owns a local: %s\n", monsters.size(), monsters.owns(&met) ? "yes" : "no");

    monsters.clear(); // destroys all objects and keeps the pages
    const std::size_t given_back = monsters.trim();
    std::printf("alive: %zu, returned pages: %s\n", monsters.size(), given_back != 0 ? "yes" : "no");
    return monsters.empty() ? 0 : 1;
}
