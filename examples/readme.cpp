// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Three questions choose a part: how long do you hold the memory, is it one type, and which thread frees it?

#include <cstdio>

#include <tenure/tenure.hpp>

struct monster {
    explicit monster(int start) : health(start) {}
    int health;
};

int main() {
    tenure::pool<monster> monsters; // one type; construct and destroy in any order
    monster* const orc = monsters.construct(250);
    {
        const tenure::temp_scope scope; // per-thread scratch memory, freed at the closing brace
        void* const path = tenure::allocate(4096, tenure::lifetime::temp);
        if (path == nullptr || orc == nullptr) return 1; // out of memory: nothing throws
    }
    void* const results = tenure::allocate(4096, tenure::lifetime::temp_job); // a few frames; any thread may free it
    tenure::deallocate(results, tenure::lifetime::temp_job);
    tenure::next_frame(); // once per frame: reports leaked TempJob blocks with their owners

    std::printf("%zu monster with health %d\n", monsters.size(), orc->health);
    monsters.destroy(orc);
    return monsters.empty() ? 0 : 1;
}
