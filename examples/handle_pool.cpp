// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Monsters that refer to each other by handles, and a list of events that never moves.

#include <cstdio>

#include <tenure/pool/handle_pool.hpp>
#include <tenure/pool/stable_vector.hpp>

namespace {

struct monster {
    explicit monster(int strength) : health(strength) {}
    int health;
    tenure::pool_handle<monster> target; // may outlive the target: then it is stale
};

struct event {
    int frame;
    const char* text;
};

/// Each monster hits its target. Returns the number of monsters whose target is gone.
int attack(tenure::handle_pool<monster>& monsters) {
    int stale = 0;
    for (auto at = monsters.begin(); at != monsters.end(); ++at) { // in the order of addresses
        if (!at->target) continue;
        monster* const target = monsters.get(at->target);
        if (target == nullptr) {
            ++stale;
            continue;
        }
        target->health -= 10;
        if (target->health <= 0) monsters.destroy(at->target);
    }
    return stale;
}

}

int main() {
    tenure::handle_pool<monster> monsters(100'000); // addresses for so many; memory as they come
    const tenure::pool_handle<monster> dragon = monsters.construct(30);
    for (int index = 0; index < 10; ++index) {
        const tenure::pool_handle<monster> made = monsters.construct(100);
        if (monster* const found = monsters.get(made); found != nullptr) found->target = dragon;
    }
    tenure::stable_vector<event> events(1'000'000);
    const event* const first = events.emplace_back(event{0, "attack"});
    const int without_target = attack(monsters);
    if (monsters.get(dragon) == nullptr && events.emplace_back(event{0, "the dragon falls"}) == nullptr) return 1;
    std::printf("%zu monsters, %d of them without a target\n", monsters.size(), without_target);
    return first == events.data() && monsters.size() == 10 && without_target == 7 ? 0 : 1;
}
